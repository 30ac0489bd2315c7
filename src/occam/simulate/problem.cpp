#include "occam/simulate/problem.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/shown.hpp"
#include "occam/simulate/call_text.hpp"

namespace occam {

struct Problem::State {
  ProblemSpec spec;
  std::vector<std::string> model_names;
  std::vector<double> cumulative;  // (J) of the model prior
  std::vector<Column> columns;
  bool ordered = false;
  std::vector<std::string> parameter_names;      // (P)
  std::vector<std::vector<std::uint8_t>> masks;  // (J, P)
  std::vector<std::vector<std::int64_t>> slots;  // (J, parameters of the model)
  std::string canonical_text;
  std::string fingerprint;
};

namespace {

std::string place_of(const std::string& where) {
  return where.empty() ? "" : where + ": ";
}

void check_names(const ProblemSpec& spec) {
  const std::string place = place_of(spec.where);
  if (spec.name.empty()) throw Error(ErrorKind::bad_config, "{}the problem has no name", place);
  if (spec.models.size() < 2) {
    throw Error(ErrorKind::bad_config, "{}problem '{}' has {} model{}; a comparison needs at least two",
                place, spec.name, spec.models.size(), spec.models.size() == 1 ? "" : "s");
  }
  const auto require_plain = [](const std::string& name, const std::string& where) {
    if (!is_plain(name))
      throw Error(ErrorKind::bad_config, "{}the name '{}' holds control characters", where, shown(name));
  };
  require_plain(spec.name, place);
  std::set<std::string> seen;
  for (const Model& model : spec.models) {
    require_plain(model.name(), place_of(model.where()));
    if (!seen.insert(model.name()).second) {
      throw Error(ErrorKind::bad_config, "{}problem '{}': two models are named '{}'", place_of(model.where()),
                  spec.name, model.name());
    }
  }
}

std::string column_list(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_same_data(const ProblemSpec& spec) {
  const Model& first = spec.models.front();
  const std::string columns = column_list(first.family().columns());
  for (const Model& model : spec.models) {
    const std::string others = column_list(model.family().columns());
    if (others != columns) {
      throw Error(
          ErrorKind::bad_config,
          "{}model '{}' (family '{}') has columns {}, but model '{}' (family '{}') has {}; all models of "
          "a problem must describe the same data",
          place_of(model.where()), model.name(), model.family().name(), others, first.name(),
          first.family().name(), columns);
    }
    if (model.family().ordered() != first.family().ordered()) {
      throw Error(ErrorKind::bad_config,
                  "{}models '{}' and '{}' disagree on whether the order of observations matters",
                  place_of(model.where()), first.name(), model.name());
    }
  }
}

// Fills in equal probabilities where none are given; otherwise takes them as they are.
void check_model_prior(ProblemSpec& spec) {
  const std::size_t J = spec.models.size();
  if (spec.model_prior.empty()) spec.model_prior.assign(J, 1.0 / static_cast<double>(J));
  const std::string place = place_of(spec.where);
  if (spec.model_prior.size() != J) {
    throw Error(ErrorKind::bad_config, "{}problem '{}': {} prior probabilities for {} models", place,
                spec.name, spec.model_prior.size(), J);
  }
  double sum = 0.0;
  for (std::size_t j = 0; j < J; ++j) {
    const double p = spec.model_prior[j];
    if (!(p > 0.0 && p <= 1.0)) {
      throw Error(ErrorKind::bad_config, "{}model '{}': prior probability {} is not above 0 and at most 1",
                  place_of(spec.models[j].where()), spec.models[j].name(), p);
    }
    sum += p;
  }
  if (!(std::fabs(sum - 1.0) <= 1e-9)) {
    throw Error(ErrorKind::bad_config,
                "{}problem '{}': the prior probabilities of the models sum to {}, not to 1", place, spec.name,
                number_text(sum));
  }
}

void check_design(const ProblemSpec& spec) {
  if (spec.design == nullptr) return;
  const std::string place = place_of(spec.where);
  for (const Model& model : spec.models) {
    // Without columns of its own a design says sizes only, and what is missing; n rows then have to be n
    // rows.
    const bool sizes_only = !has_design(model.family().columns()) && model.family().max_rows(7) == 7;
    if (model.family().takes_design() || sizes_only) continue;
    throw Error(ErrorKind::bad_config,
                "{}problem '{}' has a design, but the family '{}' of model '{}' cannot take one",
                place_of(model.where()), spec.name, model.family().name(), model.name());
  }
  if (spec.one_n_per_batch && !spec.design->needs_n()) {
    throw Error(ErrorKind::bad_config,
                "{}one_n_per_batch does not go with designs taken from a file, which have sizes of their own",
                place);
  }
}

void check_missing(ProblemSpec& spec) {
  try {
    place_missing(spec.missing, spec.models.front().family().columns());
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_config, "{}{}", place_of(spec.where), error.what());
  }
  const bool taken = spec.design != nullptr && !spec.design->needs_n();
  for (const MissingColumn& one : spec.missing) {
    if (!one.patterns || taken) continue;
    throw Error(ErrorKind::bad_config,
                "{}column '{}': missing = \"from\" takes the patterns of your own csv, which "
                "[design] from = \"FILE.csv\" has to name",
                place_of(spec.where), one.name);
  }
}

std::string canonical_text_of(const ProblemSpec& spec) {
  const bool own_sizes = spec.design != nullptr && !spec.design->needs_n();
  std::string text = fmt::format("occam problem 1\nn {}{}\n", own_sizes ? "of the design" : spec.size.text(),
                                 spec.one_n_per_batch ? " one per batch" : "");
  if (spec.design != nullptr) text += fmt::format("design {}\n", spec.design->json().dump());
  for (const MissingColumn& one : spec.missing)
    text += fmt::format("missing {} = {}\n", one.name, one.text());
  for (std::size_t j = 0; j < spec.models.size(); ++j) {
    const Model& model = spec.models[j];
    text += fmt::format("model {} probability {} family {} settings {}\n", model.name(),
                        number_text(spec.model_prior[j]), model.family().name(),
                        model.family().identity().dump());
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
      text += fmt::format("  {} = {}\n", model.parameters()[i].name, model.priors()[i].text());
    }
  }
  return text;
}

std::shared_ptr<const nlohmann::json> table_or_empty(std::shared_ptr<const nlohmann::json> table) {
  return table ? std::move(table) : std::make_shared<const nlohmann::json>(nlohmann::json::object());
}

}  // namespace

Problem::Problem(ProblemSpec spec) {
  check_names(spec);
  check_model_prior(spec);
  check_same_data(spec);
  check_design(spec);
  check_missing(spec);
  auto state = std::make_shared<State>();
  state->spec = std::move(spec);
  ProblemSpec& s = state->spec;
  s.network = table_or_empty(std::move(s.network));
  s.train = table_or_empty(std::move(s.train));
  s.abc = table_or_empty(std::move(s.abc));
  state->columns = s.models.front().family().columns();
  state->ordered = s.models.front().family().ordered();
  double sum = 0.0;
  for (const double p : s.model_prior) state->cumulative.push_back(sum += p);

  std::vector<std::string>& names = state->parameter_names;
  for (const Model& model : s.models) {
    state->model_names.push_back(model.name());
    std::vector<std::int64_t> slots;
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
      const std::string& name = model.parameters()[i].name;
      if (model.priors()[i].is_fixed()) {
        slots.push_back(-1);
        continue;
      }
      const auto found = std::find(names.begin(), names.end(), name);
      slots.push_back(found - names.begin());
      if (found == names.end()) names.push_back(name);
    }
    state->slots.push_back(std::move(slots));
  }
  for (const auto& slots : state->slots) {
    std::vector<std::uint8_t> mask(names.size(), 0);
    for (const std::int64_t slot : slots) {
      if (slot >= 0) mask[static_cast<std::size_t>(slot)] = 1;
    }
    state->masks.push_back(std::move(mask));
  }
  state->canonical_text = canonical_text_of(s);
  state->fingerprint = hexadecimal_hash(state->canonical_text);
  state_ = std::move(state);
}

const ProblemSpec& Problem::spec() const {
  return state_->spec;
}
const Design* Problem::design() const {
  return state_->spec.design.get();
}
const std::vector<MissingColumn>& Problem::missing() const {
  return state_->spec.missing;
}
std::int64_t Problem::max_rows(std::int64_t model, std::int64_t n) const {
  return design() != nullptr ? n : models()[static_cast<std::size_t>(model)].family().max_rows(n);
}
std::pair<std::int64_t, std::int64_t> Problem::sizes() const {
  const std::pair<std::int64_t, std::int64_t> drawn = {size().low(), size().high()};
  return design() != nullptr ? design()->sizes(drawn.first, drawn.second) : drawn;
}
const std::string& Problem::name() const {
  return state_->spec.name;
}
const std::string& Problem::description() const {
  return state_->spec.description;
}
std::span<const Model> Problem::models() const {
  return state_->spec.models;
}
const std::vector<std::string>& Problem::model_names() const {
  return state_->model_names;
}
std::span<const double> Problem::model_prior() const {
  return state_->spec.model_prior;
}
const SizeDistribution& Problem::size() const {
  return state_->spec.size;
}
bool Problem::one_n_per_batch() const {
  return state_->spec.one_n_per_batch;
}
const std::vector<Column>& Problem::columns() const {
  return state_->columns;
}
bool Problem::ordered() const {
  return state_->ordered;
}
bool Problem::simulates() const {
  return std::any_of(models().begin(), models().end(),
                     [](const Model& model) { return model.family().simulates(); });
}
const std::vector<std::string>& Problem::parameter_names() const {
  return state_->parameter_names;
}
std::span<const std::uint8_t> Problem::mask(std::int64_t model) const {
  return state_->masks.at(static_cast<std::size_t>(model));
}
std::span<const std::int64_t> Problem::slots(std::int64_t model) const {
  return state_->slots.at(static_cast<std::size_t>(model));
}
const std::string& Problem::canonical_text() const {
  return state_->canonical_text;
}
const std::string& Problem::fingerprint() const {
  return state_->fingerprint;
}
const nlohmann::json& Problem::network() const {
  return *state_->spec.network;
}
const nlohmann::json& Problem::train() const {
  return *state_->spec.train;
}
const nlohmann::json& Problem::abc() const {
  return *state_->spec.abc;
}

std::int64_t Problem::model_index(std::string_view name) const {
  const auto found = std::find(model_names().begin(), model_names().end(), name);
  if (found != model_names().end()) return found - model_names().begin();
  // A list of hundreds of names helps nobody.
  const std::string hint = J() <= 20 ? did_you_mean(name, model_names()) : [&] {
    const std::string nearest = nearest_name(name, model_names());
    return nearest.empty()
               ? fmt::format(" ({} models, {} to {})", J(), model_names().front(), model_names().back())
               : fmt::format(" (did you mean '{}'?)", nearest);
  }();
  throw Error(ErrorKind::usage, "problem '{}' has no model '{}'{}", this->name(), name, hint);
}

std::int64_t Problem::sample_model(Rng& rng) const {
  const auto& cumulative = state_->cumulative;
  const double target = rng.uniform() * cumulative.back();
  const auto found = std::upper_bound(cumulative.begin(), cumulative.end(), target);
  return std::min<std::int64_t>(found - cumulative.begin(), J() - 1);
}

const Prior* Problem::prior(std::int64_t model, std::int64_t slot) const {
  const std::span<const std::int64_t> of_model = slots(model);
  const auto found = std::find(of_model.begin(), of_model.end(), slot);
  if (slot < 0 || found == of_model.end()) return nullptr;
  return &models()[static_cast<std::size_t>(model)]
              .priors()[static_cast<std::size_t>(found - of_model.begin())];
}

bool takes_design(const Problem& problem) {
  return has_design(problem.columns()) &&
         std::all_of(problem.models().begin(), problem.models().end(),
                     [](const Model& model) { return model.family().takes_design(); });
}

namespace {

void normalise(std::span<double> log_p, const std::string& problem) {
  const double largest = *std::max_element(log_p.begin(), log_p.end());
  if (!std::isfinite(largest)) {
    throw Error(ErrorKind::bad_data, "the data are impossible under every model of problem '{}'", problem);
  }
  double sum = 0.0;
  for (const double l : log_p) sum += std::exp(l - largest);
  const double log_total = largest + std::log(sum);
  for (double& l : log_p) l -= log_total;
}

}  // namespace

bool Problem::has_exact_posterior() const {
  return std::all_of(models().begin(), models().end(), [&](const Model& model) {
    return (missing().empty() || model.family().marginalises()) &&
           model.family().log_evidence(model.priors(), {nullptr, 0, D()}).has_value();
  });
}

std::optional<std::vector<double>> Problem::exact_log_posterior(DataView data) const {
  return exact_log_posteriors({&data, 1});
}

std::optional<std::vector<double>> Problem::exact_log_posteriors(std::span<const DataView> data) const {
  bool whole = true;
  for (const DataView& one : data) {
    if (one.D != D())
      throw Error(ErrorKind::bad_data, "the data have {} columns, problem '{}' has {}", one.D, name(), D());
    const std::span<const float> values = one.values();
    whole = whole && std::none_of(values.begin(), values.end(), [](float x) { return std::isnan(x); });
  }
  const std::size_t J = models().size();
  std::vector<double> log_p(data.size() * J);
  std::vector<double> evidences(data.size());
  for (std::size_t j = 0; j < J; ++j) {
    const Model& model = models()[j];
    if (!whole && !model.family().marginalises()) return std::nullopt;
    if (!model.family().log_evidences(model.priors(), data, evidences)) return std::nullopt;
    for (std::size_t b = 0; b < data.size(); ++b)
      log_p[b * J + j] = evidences[b] + std::log(model_prior()[j]);
  }
  for (std::size_t b = 0; b < data.size(); ++b) normalise({log_p.data() + b * J, J}, name());
  return log_p;
}

}  // namespace occam
