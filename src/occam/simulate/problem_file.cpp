// Reading keeps the position of every key and value, so that each message opens with path:line:column.
#include "occam/simulate/problem_file.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/file.hpp"
#include "occam/io/shown.hpp"
#include "occam/io/toml_file.hpp"
#include "occam/io/toml_library.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/own/own_family.hpp"

namespace occam {
namespace {

using nlohmann::json;

const std::vector<std::string> kProblemKeys = {
    "name",           "description", "n",         "one_n_per_batch",
    "family",         "parameters",  "settings",  "model",
    "columns",        "ordered",     "simulator", "simulator_timeout_s",
    "simulator_sets", "network",     "train",     "abc",
    "design"};
const std::vector<std::string> kModelKeys = {"family",    "prior_probability",   "settings",
                                             "simulator", "simulator_timeout_s", "simulator_sets"};
// Names that a simulator gets beside its parameters, and columns of files beside the data.
const std::vector<std::string> kTakenParameters = {"n", "rng", "model", "dataset"};
const std::vector<std::string> kTakenColumns = {"dataset", "model"};

bool is_one_of(std::string_view name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Parameters of the user's own become arguments of functions in other languages.
bool is_identifier(std::string_view name) {
  return !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_') &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_'); });
}

// Names of columns become such arguments, too; in R they may hold dots.
bool is_argument(std::string_view name) {
  std::string plain(name);
  std::replace(plain.begin() + (plain.empty() ? 0 : 1), plain.end(), '.', '_');
  return is_identifier(plain);
}

class ProblemReader {
 public:
  ProblemReader(toml::table root, std::string path, std::string folder, OwnFamilyMaker make = {})
      : root_(std::move(root)), path_(std::move(path)), folder_(std::move(folder)), make_(std::move(make)) {}

  Problem read() {
    check_keys(root_, kProblemKeys, "");
    ProblemSpec spec;
    spec.name = required_text("name");
    if (spec.name.empty()) fail(*root_.get("name"), "name is empty");
    if (const toml::node* node = root_.get("description")) spec.description = text_of(*node, "description");
    read_layout();
    if (const toml::node* node = root_.get("one_n_per_batch")) {
      if (!node->is_boolean()) fail(*node, "one_n_per_batch: expected true or false");
      spec.one_n_per_batch = node->as_boolean()->get();
    }
    spec.network = option_table("network");
    spec.train = option_table("train");
    spec.abc = option_table("abc");
    read_models(spec);
    read_missing(spec);
    read_design(spec);
    if (const std::optional<SizeDistribution> given = size(spec)) spec.size = *given;
    return Problem(std::move(spec));
  }

 private:
  using Entry = std::pair<const toml::key*, const toml::node*>;

  std::string position(const toml::source_region& source) const {
    return fmt::format("{}:{}:{}", path_, source.begin.line, source.begin.column);
  }
  [[noreturn]] void fail_at(const toml::source_region& source, std::string_view message) const {
    throw Error(ErrorKind::bad_config, "{}: {}", position(source), message);
  }
  template <class Node>
  [[noreturn]] void fail(const Node& node, std::string_view message) const {
    fail_at(node.source(), message);
  }
  // Runs `work`, whose errors know nothing of the file, and puts the position in front of them.
  template <class Work>
  auto at(const toml::source_region& source, std::string_view prefix, Work&& work) const {
    try {
      return work();
    } catch (const Error& error) {
      const bool missing = error.kind() == ErrorKind::no_input;
      throw Error(missing ? ErrorKind::no_input : ErrorKind::bad_config, "{}: {}{}", position(source), prefix,
                  error.what());
    }
  }

  void check_keys(const toml::table& table, const std::vector<std::string>& known,
                  std::string_view where) const {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        fail(key, fmt::format("unknown key '{}'{}{}", key.str(), where, did_you_mean(key.str(), known)));
      }
    }
  }

  // Keys of the whole file stand above all tables; below the header of one they are the table's.
  static std::string belongs_above(std::string_view header) {
    return fmt::format("to say so of the whole file, it belongs above {}, before the first line in brackets",
                       header);
  }

  std::string text_of(const toml::node& node, std::string_view key) const {
    if (!node.is_string()) fail(node, fmt::format("{}: expected text in quotes", key));
    return node.as_string()->get();
  }

  const toml::node& required(const toml::table& table, std::string_view key, std::string_view hint) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) fail(table, fmt::format("missing key '{}': expected {}", key, hint));
    return *node;
  }

  std::string required_text(std::string_view key) const {
    return text_of(required(root_, key, fmt::format("{} = \"...\"", key)), key);
  }

  const toml::table& table_of(const toml::node& node, std::string_view key) const {
    if (!node.is_table()) fail(node, fmt::format("{}: expected a table", key));
    return *node.as_table();
  }

  void read_design(ProblemSpec& spec) const {
    const toml::node* node = root_.get("design");
    if (node == nullptr) return;
    const json table = to_json(table_of(*node, "design"));
    spec.design = at(node->source(), "", [&] {
      std::vector<std::string> patterns;
      for (const MissingColumn& one : spec.missing) {
        if (one.patterns) patterns.push_back(one.name);
      }
      return make_design(table, spec.models.front().family().columns(), folder_, patterns);
    });
  }

  // Whose columns they are is known with the models.
  void read_missing(ProblemSpec& spec) const {
    for (const auto& [one, source] : missing_) {
      spec.missing.push_back(one);
      at(source, "", [&] { place_missing(spec.missing, spec.models.front().family().columns()); });
    }
  }

  // Nothing where no model simulates: then sizes are those of the table.
  std::optional<SizeDistribution> size(const ProblemSpec& spec) const {
    const bool simulates = std::any_of(spec.models.begin(), spec.models.end(),
                                       [](const Model& model) { return model.family().simulates(); });
    if (!simulates) {
      if (const toml::node* given = root_.get("n")) {
        fail(*given,
             "n has no meaning here: no model has a family or a simulator, so the sizes are those of the "
             "table");
      }
      return std::nullopt;
    }
    if (spec.design != nullptr && !spec.design->needs_n()) {
      if (const toml::node* given = root_.get("n")) {
        fail(*given, "n: the sizes are those of the designs in the file that [design] names");
      }
      return std::nullopt;
    }
    const toml::node& node =
        required(root_, "n", "the number of observations, such as n = \"uniform(1, 100)\"");
    if (node.is_integer()) {
      return at(node.source(), "", [&] { return SizeDistribution::fixed(node.as_integer()->get()); });
    }
    if (!node.is_string()) fail(node, "n: expected an integer or text such as \"uniform(1, 100)\"");
    return at(node.source(), "", [&] { return SizeDistribution::parse(node.as_string()->get()); });
  }

  // Columns and order of models of the user's own; of built-in families which columns have missing values.
  void read_layout() {
    if (const toml::node* node = root_.get("columns")) {
      if (const toml::array* names = node->as_array()) {
        for (const toml::node& name : *names) add_column(name, {text_of(name, "columns"), ""});
      } else if (const toml::table* table = node->as_table()) {
        for (const auto& [key, value] : in_file_order(*table)) {
          if (!table->is_inline()) refuse_key_of_file(*key, *value);
          add_column(*key, std::string(key->str()), *value);
        }
      } else {
        fail(*node,
             "columns: expected a list of names, such as [\"choice\", \"rt\"], or a table of name = "
             "\"description\" or name = { role = \"design\", description = \"...\" }");
      }
      if (columns_.empty()) fail(*node, "columns: at least one is needed");
      for (const Column& column : columns_) check_same_as(column, *node);
    }
    if (const toml::node* node = root_.get("ordered")) {
      if (!node->is_boolean())
        fail(*node, "ordered: expected true (a series) or false (observations in any order)");
      ordered_ = node->as_boolean()->get();
    }
  }

  // Under [columns] it would be taken for a column.
  void refuse_key_of_file(const toml::key& key, const toml::node& value) const {
    static const std::vector<std::string> keys = {
        "simulator", "simulator_timeout_s", "simulator_sets", "family", "ordered", "one_n_per_batch"};
    if (value.is_table() || !is_one_of(key.str(), keys) || root_.contains(key.str())) return;
    fail(key,
         fmt::format("'{0}' stands below [columns], where it is the name of a column (which may be written "
                     "{0} = {{ description = \"...\" }}); {1}",
                     key.str(), belongs_above("[columns]")));
  }

  // Without quotes, the part of a name behind a dot is a key of its own.
  void check_keys_of_column(const toml::table& table, const std::string& name) const {
    const std::vector<std::string> known = {"role", "description", "unit", "missing", "same_as"};
    for (const auto& [key, node] : table) {
      if (is_one_of(key.str(), known)) continue;
      fail(key,
           fmt::format("unknown key '{0}' of column '{1}'{2}; if the column is called '{1}.{0}', quote the "
                       "name: \"{1}.{0}\" = ...",
                       key.str(), name, did_you_mean(key.str(), known)));
    }
  }

  // What stands behind the name of a column: a description, or a table.
  void add_column(const toml::key& key, const std::string& name, const toml::node& value) {
    const toml::table* table = value.as_table();
    if (table == nullptr) return add_column(key, {name, text_of(value, fmt::format("columns.{}", name))});
    check_keys_of_column(*table, name);
    Column column{name, ""};
    if (const toml::node* node = table->get("description"))
      column.description = text_of(*node, "description");
    if (const toml::node* node = table->get("unit")) {
      column.description +=
          fmt::format("{}[{}]", column.description.empty() ? name + " " : " ", text_of(*node, "unit"));
    }
    if (const toml::node* node = table->get("role")) {
      const std::string role = text_of(*node, "role");
      if (role != "observed" && role != "design" && role != "label") {
        fail(*node, fmt::format("role: '{}' is none of observed, design and label", role));
      }
      column.role = role == "design" ? Role::design : role == "label" ? Role::label : Role::observed;
    }
    if (const toml::node* node = table->get("same_as")) column.same_as = text_of(*node, "same_as");
    if (const toml::node* node = table->get("missing")) add_missing(name, *node);
    add_column(key, std::move(column));
  }

  // Both are labels, and the other one is not said to be the same as a third.
  void check_same_as(const Column& column, const toml::node& node) const {
    if (column.same_as.empty()) return;
    const auto other = std::find_if(columns_.begin(), columns_.end(),
                                    [&](const Column& one) { return one.name == column.same_as; });
    if (column.role != Role::label || other == columns_.end() || other->role != Role::label ||
        other->name == column.name || !other->same_as.empty()) {
      fail(node, fmt::format("columns: same_as of '{}': '{}' has to be another column with role = \"label\", "
                             "without a same_as of its own, and '{}' such a column, too",
                             column.name, column.same_as, column.name));
    }
  }

  // How often values are missing: true, a rate, the prior of the rate, or "from".
  void add_missing(const std::string& name, const toml::node& node) {
    if (const auto* boolean = node.as_boolean(); boolean != nullptr && !boolean->get()) return;
    MissingColumn one{name, Prior::uniform(0.0, 0.5)};
    one.patterns = node.is_string() && node.as_string()->get() == "from";
    if (!node.is_boolean() && !one.patterns) one.rate = prior_of(node, "missing");
    missing_.emplace_back(std::move(one), node.source());
  }

  template <class Node>
  void add_column(const Node& node, Column column) {
    const std::string& name = column.name;
    if (name.empty() || !is_plain(name)) fail(node, "columns: a name is empty or holds control characters");
    if (is_one_of(name, kTakenColumns)) {
      fail(node,
           fmt::format(
               "columns: '{}' is taken: files of simulations have a column of that name beside the data",
               name));
    }
    for (const Column& known : columns_) {
      if (known.name == name) fail(node, fmt::format("columns: '{}' is named twice", name));
    }
    if (column.description.empty()) column.description = name;
    columns_.push_back(std::move(column));
  }

  json to_json(const toml::node& node) const {
    if (const auto* table = node.as_table()) {
      json object = json::object();
      for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json(value);
      return object;
    }
    if (const auto* array = node.as_array()) {
      json list = json::array();
      for (const auto& value : *array) list.push_back(to_json(value));
      return list;
    }
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* number = node.as_floating_point()) return number->get();
    if (const auto* boolean = node.as_boolean()) return boolean->get();
    fail(node,
         "dates and times have no meaning here: expected a number, text, true, false, a list or a table");
  }

  std::shared_ptr<const json> option_table(std::string_view key) const {
    const toml::node* node = root_.get(key);
    return node == nullptr ? nullptr : std::make_shared<const json>(to_json(table_of(*node, key)));
  }

  // Entries in the order of the file; toml++ itself sorts them by name.
  static std::vector<Entry> in_file_order(const toml::table& table) {
    std::vector<Entry> entries;
    for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      const auto& p = a.first->source().begin;
      const auto& q = b.first->source().begin;
      return std::pair(p.line, p.column) < std::pair(q.line, q.column);
    });
    return entries;
  }

  Prior prior_of(const toml::node& node, std::string_view name) const {
    const std::string prefix = fmt::format("{} = ", name);
    const auto fixed = [&](double value) {
      return at(node.source(), prefix, [&] { return Prior::fixed(value); });
    };
    if (node.is_integer()) return fixed(static_cast<double>(node.as_integer()->get()));
    if (node.is_floating_point()) return fixed(node.as_floating_point()->get());
    if (!node.is_string()) {
      fail(node, fmt::format("{}: expected a number or a prior in quotes, such as \"uniform(0, 1)\"", name));
    }
    return at(node.source(), prefix, [&] { return Prior::parse(node.as_string()->get()); });
  }

  const toml::table* optional_table(const toml::table& parent, std::string_view key) const {
    const toml::node* node = parent.get(key);
    return node == nullptr ? nullptr : &table_of(*node, key);
  }

  void read_models(ProblemSpec& spec) {
    const toml::table* models = optional_table(root_, "model");
    if (models == nullptr || models->empty()) {
      fail(models == nullptr ? root_ : *models,
           "no models: expected a table [model.NAME] for each of two or more");
    }
    shared_parameters_ = optional_table(root_, "parameters");
    shared_settings_ = optional_table(root_, "settings");
    const std::vector<Entry> entries = in_file_order(*models);
    spec.where = position(entries.front().first->source());
    for (const auto& [key, node] : entries) {
      spec.models.push_back(model(*key, table_of(*node, fmt::format("model.{}", key->str())), spec));
    }
    if (!spec.model_prior.empty() && spec.model_prior.size() != spec.models.size()) {
      fail(*without_probability_,
           fmt::format("model '{}' has no prior_probability although others have: give one "
                       "to every model or to none",
                       without_probability_->str()));
    }
    check_shared(shared_parameters_, used_parameters_, "parameter");
    check_shared(shared_settings_, used_settings_, "setting");
  }

  // A shared key that no family knows is a mistyped one.
  void check_shared(const toml::table* table, const std::vector<std::string>& known,
                    std::string_view what) const {
    if (table == nullptr) return;
    for (const auto& [key, node] : *table) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        fail(key, fmt::format("unknown {} '{}' of every family{}", what, key.str(),
                              did_you_mean(key.str(), known)));
      }
    }
  }

  Model model(const toml::key& key, const toml::table& table, ProblemSpec& spec) {
    const std::string name(key.str());
    const std::string where = position(key.source());
    const bool own = is_own(table, key);
    const std::shared_ptr<const Family> chosen = own ? own_family(table, key) : family(table, key);
    const std::vector<Parameter> parameters = chosen->parameters();
    std::vector<std::string> known = kModelKeys;
    for (const Parameter& parameter : parameters) {
      known.push_back(parameter.name);
      used_parameters_.push_back(parameter.name);
    }
    if (!own) check_keys(table, known, fmt::format(" in model '{}' (family '{}')", name, chosen->name()));

    Model::NamedPriors priors;
    for (const Parameter& parameter : parameters) {
      if (own) break;  // its parameters are what the file says, priors included
      const toml::node* node = table.get(parameter.name);
      if (node == nullptr && shared_parameters_ != nullptr) node = shared_parameters_->get(parameter.name);
      if (node == nullptr) continue;
      const Prior prior = prior_of(*node, parameter.name);
      at(node->source(), "", [&] { parameter.check(prior); });
      priors.emplace_back(parameter.name, prior);
    }
    if (const toml::node* node = table.get("prior_probability")) {
      if (!node->is_number()) fail(*node, "prior_probability: expected a number above 0 and at most 1");
      const double p = node->value<double>().value_or(0.0);
      if (!(p > 0.0 && p <= 1.0))
        fail(*node, fmt::format("prior_probability: {} is not above 0 and at most 1", p));
      spec.model_prior.push_back(p);
    } else if (without_probability_ == nullptr) {
      without_probability_ = &key;
    }
    return {name, chosen, priors, where};
  }

  // Whether a model is of the user's own: it says so itself, or the top of the file says so for all.
  bool is_own(const toml::table& table, const toml::key& key) const {
    if (table.contains("simulator") && table.contains("family")) {
      fail(*table.get("simulator"),
           fmt::format("model '{}' has both a family and a simulator: expected one of them", key.str()));
    }
    if (table.contains("simulator")) return true;
    if (table.contains("family")) return false;
    if (root_.contains("simulator") && root_.contains("family")) {
      fail(key,
           fmt::format("model '{}' names neither, and the top of the file has both a family and a simulator",
                       key.str()));
    }
    return !root_.contains("family") && (root_.contains("simulator") || root_.contains("columns"));
  }

  std::shared_ptr<const Family> own_family(const toml::table& table, const toml::key& key) {
    if (columns_.empty()) {
      fail(
          key,
          fmt::format(
              "model '{}' has a simulator of your own, but the file does not say what it simulates: expected "
              "columns = [\"NAME\", ...] at the top",
              key.str()));
    }
    OwnModel own;
    own.name = key.str();
    own.columns = columns_;
    own.ordered = ordered_;
    own.folder = folder_;
    check_design_names(key);
    if (shared_parameters_ != nullptr) {
      for (const auto& [name, node] : in_file_order(*shared_parameters_)) {
        if (!table.contains(name->str())) add_parameter(own, *name, *node, "[parameters]");
        used_parameters_.emplace_back(name->str());
      }
    }
    for (const auto& [name, node] : in_file_order(table)) {
      if (is_one_of(name->str(), kModelKeys)) continue;
      add_parameter(own, *name, *node, fmt::format("[model.{}]", key.str()));
    }
    if (const toml::node* node = table.get("settings")) {
      fail(*node,
           "settings belong to built-in families; a constant of your own simulator is a parameter with a "
           "number");
    }
    const toml::node* node = table.contains("simulator") ? table.get("simulator") : root_.get("simulator");
    if (node != nullptr) own.simulator = to_json(*node);
    const auto either = [&](const char* name) {
      return table.contains(name) ? table.get(name) : root_.get(name);
    };
    if (const toml::node* sets = either("simulator_sets")) {
      own.sets = sets->value<std::int64_t>().value_or(0);
      if (own.sets < 1 || own.sets > OwnModel().sets)
        fail(*sets, fmt::format("simulator_sets: expected a whole number between 1 and {}", OwnModel().sets));
    }
    if (const toml::node* timeout = either("simulator_timeout_s")) {
      own.timeout_s = timeout->value<double>().value_or(0.0);
      if (!(own.timeout_s > 0.0 && own.timeout_s <= 1e6)) {
        fail(*timeout, "simulator_timeout_s: expected seconds, a number above 0 and at most 1e6");
      }
    }
    const bool made_by_caller = make_ && node != nullptr;
    return at(node == nullptr ? key.source() : node->source(), "", [&] {
      return made_by_caller ? make_(std::move(own)) : make_own_family(std::move(own), pools_);
    });
  }

  // Columns of a design become arguments of functions, as parameters do.
  void check_design_names(const toml::key& key) const {
    if (!root_.contains("design")) return;
    for (const Column& column : columns_) {
      if (!column.given() || (is_argument(column.name) && !is_one_of(column.name, kTakenParameters)))
        continue;
      fail(key, fmt::format(
                    "the simulator of model '{}' gets the design by the names of its columns, and '{}' "
                    "cannot be one: expected letters, digits, '_' and '.', beginning with a letter or '_', "
                    "and none of {}",
                    key.str(), column.name, fmt::join(kTakenParameters, ", ")));
    }
  }

  // Any key of such a model is a parameter, unless it looks like a mistyped key. `header`: of its table.
  void add_parameter(OwnModel& own, const toml::key& key, const toml::node& node,
                     const std::string& header) const {
    const std::string name(key.str());
    const bool no_prior = !node.is_number() && !node.is_string();
    if (is_one_of(name, kModelKeys) || name == "n" || (no_prior && is_one_of(name, kProblemKeys))) {
      fail(key, fmt::format("'{}' stands below {}, where keys are parameters, and cannot be one; {}", name,
                            header, belongs_above(header)));
    }
    const std::string meant = nearest_name(name, kModelKeys);
    if (!meant.empty()) fail(key, fmt::format("unknown key '{}' (did you mean '{}'?)", name, meant));
    if (!is_identifier(name) || is_one_of(name, kTakenParameters)) {
      fail(key, fmt::format(
                    "'{}' cannot be the name of a parameter: expected letters, digits and '_', not beginning "
                    "with a digit, and none of {}",
                    name, fmt::join(kTakenParameters, ", ")));
    }
    for (const Column& column : columns_) {
      if (column.name == name && column.given() && root_.contains("design")) {
        fail(key, fmt::format("'{}' is a column of the design and cannot also be a parameter", name));
      }
    }
    Parameter parameter{name, "a parameter of your own"};
    parameter.prior = prior_of(node, name);
    own.parameters.push_back(std::move(parameter));
  }

  // The family of a model with its settings. Models that agree on both share one object.
  std::shared_ptr<const Family> family(const toml::table& table, const toml::key& key) {
    const toml::node* node = table.get("family");
    if (node == nullptr) node = root_.get("family");
    if (node == nullptr) {
      fail(key,
           fmt::format(
               "model '{}' has no family: expected family = \"NAME\" here or at the top of the file, or a "
               "simulator of your own",
               key.str()));
    }
    const std::string name = text_of(*node, "family");
    std::shared_ptr<Family> made =
        at(node->source(), "", [&] { return catalogue().families.at(name, ErrorKind::bad_config)(); });
    Fields fields = made->settings();
    std::vector<std::string> known;
    for (const Field& field : fields) {
      known.push_back(field.name);
      used_settings_.push_back(field.name);
    }
    const toml::table* own = optional_table(table, "settings");
    if (own != nullptr) check_keys(*own, known, fmt::format(" in the settings of family '{}'", name));
    for (Field& field : fields) {
      const toml::node* value = own == nullptr ? nullptr : own->get(field.name);
      if (value == nullptr && shared_settings_ != nullptr) value = shared_settings_->get(field.name);
      if (value != nullptr) at(value->source(), "", [&] { field.set(to_json(*value)); });
    }
    std::shared_ptr<const Family>& shared = families_[name + "\n" + fields_json(fields).dump()];
    if (shared == nullptr) {
      at(own == nullptr ? key.source() : own->source(), "", [&] { made->configure(); });
      shared = made;
    }
    return shared;
  }

  toml::table root_;
  std::string path_;
  std::string folder_;  // where simulators of the user's own are; empty: they are named only
  std::vector<Column> columns_;
  std::vector<std::pair<MissingColumn, toml::source_region>> missing_;
  bool ordered_ = false;
  WorkerPools pools_;
  OwnFamilyMaker make_;  // none: as files say it
  const toml::table* shared_parameters_ = nullptr;
  const toml::table* shared_settings_ = nullptr;
  const toml::key* without_probability_ = nullptr;  // the first model that gives none
  std::vector<std::string> used_parameters_;
  std::vector<std::string> used_settings_;
  std::map<std::string, std::shared_ptr<const Family>> families_;
};

// Writing.

std::string toml_string(const std::string& text) {
  return json(text).dump();  // JSON's escapes are TOML's
}

std::string toml_key(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) || c == '_' || c == '-');
  });
  return bare ? key : toml_string(key);
}

std::string toml_number(double value) {
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;  // e: exponent; n: inf, nan
}

std::string toml_value(const json& value) {
  if (value.is_number_float()) return toml_number(value.get<double>());
  if (value.is_string()) return toml_string(value.get<std::string>());
  if (value.is_array()) {
    std::string text = "[";
    for (const json& item : value) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", toml_value(item));
    return text + "]";
  }
  if (value.is_object()) {
    std::string text = "{";
    for (const auto& [key, item] : value.items()) {
      text += fmt::format("{} {} = {}", text.size() > 1 ? "," : "", toml_key(key), toml_value(item));
    }
    return text + " }";
  }
  return value.dump();  // integers, true, false
}

std::string toml_table(const std::string& name, const json& object) {
  if (object.empty()) return "";
  std::string text = fmt::format("\n[{}]\n", name);
  for (const auto& [key, value] : object.items())
    text += fmt::format("{} = {}\n", toml_key(key), toml_value(value));
  return text;
}

std::string prior_line(const std::string& name, const Prior& prior) {
  const std::string value = prior.is_fixed() ? prior.text() : toml_string(prior.text());
  return fmt::format("{} = {}\n", toml_key(name), value);
}

// The first model of the user's own, or null.
const OwnFamily* own_family_of(const Problem& problem) {
  for (const Model& model : problem.models()) {
    if (const auto* own = dynamic_cast<const OwnFamily*>(&model.family())) return own;
  }
  return nullptr;
}

std::string missing_entry(const MissingColumn& one) {
  const std::string text = one.text();
  return "missing = " + (one.patterns || !one.rate.is_fixed() ? toml_string(text) : text);
}

// What the file has to say about models of the user's own, for all of them.
std::string layout_lines(const OwnFamily& own, const std::vector<MissingColumn>& missing) {
  json columns = json::array();
  std::string described;
  for (const Column& column : own.model().columns) {
    columns.push_back(column.name);
    const auto lost = std::find_if(missing.begin(), missing.end(),
                                   [&](const MissingColumn& one) { return one.name == column.name; });
    const std::string text = toml_string(column.description);
    std::string entry = text;
    const std::string same =
        column.same_as.empty() ? "" : fmt::format(", same_as = {}", toml_string(column.same_as));
    if (column.given())
      entry = fmt::format("{{ role = \"{}\"{}, description = {} }}", word(column.role), same, text);
    if (lost != missing.end()) entry = fmt::format("{{ {}, description = {} }}", missing_entry(*lost), text);
    described += fmt::format("{}{} = {}", described.empty() ? "" : ", ", toml_key(column.name), entry);
  }
  const bool plain =
      missing.empty() &&
      std::all_of(own.model().columns.begin(), own.model().columns.end(), [](const Column& column) {
        return column.description == column.name && column.role == Role::observed;
      });
  std::string text = plain ? fmt::format("columns = {}\n", toml_value(columns))
                           : fmt::format("columns = {{ {} }}\n", described);
  if (own.model().ordered) text += "ordered = true\n";
  return text;
}

// The same for built-in families, which know their columns.
std::string missing_lines(const std::vector<MissingColumn>& missing) {
  std::string text;
  for (const MissingColumn& one : missing) {
    text += fmt::format("{}{} = {{ {} }}", text.empty() ? "" : ", ", toml_key(one.name), missing_entry(one));
  }
  return text.empty() ? "" : fmt::format("columns = {{ {} }}\n", text);
}

std::string simulator_lines(const OwnModel& own) {
  std::string text;
  if (!own.simulator.is_null()) text += fmt::format("simulator = {}\n", toml_value(own.simulator));
  if (own.timeout_s != OwnModel().timeout_s)
    text += fmt::format("simulator_timeout_s = {}\n", toml_number(own.timeout_s));
  if (own.sets != OwnModel().sets) text += fmt::format("simulator_sets = {}\n", own.sets);
  return text;
}

// What a reader needs to know before editing: the columns, and the parameters of each family.
std::string explanation(const Problem& problem) {
  std::string text;
  const OwnFamily* own = own_family_of(problem);
  for (const Column& column : problem.columns()) {
    if (own != nullptr) continue;
    text += fmt::format("# Column {}: {}{}.\n", column.name, column.description,
                        column.given() ? fmt::format(" ({})", word(column.role)) : "");
  }
  std::vector<std::string> seen;
  for (const Model& model : problem.models()) {
    const Family& family = model.family();
    if (dynamic_cast<const OwnFamily*>(&family) != nullptr) continue;  // its author knows
    if (std::find(seen.begin(), seen.end(), family.name()) != seen.end()) continue;
    seen.push_back(family.name());
    text += fmt::format("# Family {}: {}.\n", family.name(), family.description());
    for (const Parameter& parameter : model.parameters()) {
      text += fmt::format("#   {}: {}.\n", parameter.name, parameter.description);
    }
  }
  return text;
}

}  // namespace

Problem read_problem(std::string_view toml, const std::string& path) {
  return ProblemReader(parse_toml(toml, path), path, "").read();
}

Problem read_problem_to_run(std::string_view toml, const std::string& path, const std::string& folder) {
  return ProblemReader(parse_toml(toml, path), path, folder).read();
}

Problem read_problem_with(std::string_view toml, const std::string& path, const std::string& folder,
                          OwnFamilyMaker make) {
  return ProblemReader(parse_toml(toml, path), path, folder, std::move(make)).read();
}

std::string folder_of(const std::string& path) {
  return std::filesystem::absolute(path).parent_path().string();
}

Problem load_problem(std::string_view name_or_path) {
  if (!name_or_path.ends_with(".toml")) return builtin_problem(name_or_path);
  const std::string path(name_or_path);
  return read_problem_to_run(read_file(path), path, folder_of(path));
}

std::string problem_toml(const Problem& problem) {
  const std::span<const Model> models = problem.models();
  const bool one_family = std::all_of(models.begin(), models.end(), [&](const Model& model) {
    return model.shared_family() == models.front().shared_family();  // never so for models of the user's own
  });
  std::string text = fmt::format("name = {}\n", toml_string(problem.name()));
  if (!problem.description().empty())
    text += fmt::format("description = {}\n", toml_string(problem.description()));
  if (problem.simulates() && (problem.design() == nullptr || problem.design()->needs_n())) {
    text += fmt::format("n = {}\n", problem.size().kind() == SizeDistribution::Kind::fixed
                                        ? problem.size().text()
                                        : toml_string(problem.size().text()));
  }
  const OwnFamily* own = own_family_of(problem);
  text += own != nullptr ? layout_lines(*own, problem.missing()) : missing_lines(problem.missing());
  if (problem.one_n_per_batch()) text += "one_n_per_batch = true\n";
  if (one_family) text += fmt::format("family = {}\n", toml_string(models.front().family().name()));
  if (const std::string told = explanation(problem); !told.empty()) text += "\n" + told;

  // What all models agree on is written once.
  std::vector<bool> common(models.front().parameters().size(), false);
  std::string common_lines;
  for (std::size_t i = 0; one_family && i < common.size(); ++i) {
    const Prior& prior = models.front().priors()[i];
    common[i] =
        std::all_of(models.begin(), models.end(), [&](const Model& m) { return m.priors()[i] == prior; });
    if (common[i]) common_lines += prior_line(models.front().parameters()[i].name, prior);
  }
  if (!common_lines.empty()) text += "\n[parameters]  # of every model\n" + common_lines;
  if (one_family) text += toml_table("settings", models.front().family().settings_json());

  const std::span<const double> prior = problem.model_prior();
  const bool equal = std::all_of(prior.begin(), prior.end(),
                                 [&](double p) { return p == 1.0 / static_cast<double>(prior.size()); });
  for (std::size_t j = 0; j < models.size(); ++j) {
    const Model& model = models[j];
    text += fmt::format("\n[model.{}]\n", toml_key(model.name()));
    const auto* own_model = dynamic_cast<const OwnFamily*>(&model.family());
    if (own_model != nullptr) {
      text += simulator_lines(own_model->model());
    } else if (!one_family) {
      text += fmt::format("family = {}\n", toml_string(model.family().name()));
    }
    if (!equal) text += fmt::format("prior_probability = {}\n", toml_number(prior[j]));
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
      if (!one_family || !common[i]) text += prior_line(model.parameters()[i].name, model.priors()[i]);
    }
    if (!one_family && own_model == nullptr) {
      text += toml_table(fmt::format("model.{}.settings", toml_key(model.name())),
                         model.family().settings_json());
    }
  }
  if (problem.design() != nullptr) text += toml_table("design", problem.design()->json());
  text += toml_table("network", problem.network());
  text += toml_table("train", problem.train());
  text += toml_table("abc", problem.abc());
  return text;
}

}  // namespace occam
