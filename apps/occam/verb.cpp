// CLI11 cuts the command line into options and arguments; checking values, help and messages are ours, so
// that they come from one list of fields and read alike everywhere.
#include "verb.hpp"

#include <algorithm>
#include <cmath>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/core/version.hpp"
#include "occam/io/file.hpp"
#include "occam/io/same_file.hpp"
#include "occam/io/shown.hpp"
#include "occam/pipeline/ready_made.hpp"
#include "occam/simulate/reference_table.hpp"
#include "shared_progress.hpp"
#include "terminal_progress.hpp"

namespace occam {
namespace {

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kPageWidth = 120;  // of the docs
constexpr const char* kHelpMeaning = "show this text";
constexpr const char* kLeftOut = "default";  // stands for a value that was left out
constexpr std::size_t kHelpColumn = 28;      // where explanations of options start

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find_first_of(" \n", at), text.size());
    if (space > at) words.emplace_back(text.substr(at, space - at));
    at = space + 1;
  }
  return words;
}

// Paragraphs (separated by blank lines) broken into lines; all but the first line are indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t used,
                    std::size_t width = kHelpWidth) {
  std::string result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t blank = std::min(text.find("\n\n", at), text.size());
    if (!result.empty()) {
      result += "\n\n" + std::string(indent, ' ');
      used = indent;
    }
    bool first = true;
    for (const std::string& word : words_of(text.substr(at, blank - at))) {
      if (!first && used + 1 + word.size() > width) {
        result += "\n" + std::string(indent, ' ');
        used = indent;
      } else if (!first) {
        result += ' ';
        ++used;
      }
      result += word;
      used += word.size();
      first = false;
    }
    at = blank + 2;
  }
  return result;
}

// One entry of a help list: `name` on the left, explanation on the right or, where the name is long, below.
std::string entry(const std::string& name, std::string_view text) {
  std::string line = "  " + name;
  if (line.size() + 2 > kHelpColumn) {
    line += "\n" + std::string(kHelpColumn, ' ');
  } else {
    line.resize(kHelpColumn, ' ');
  }
  return line + wrapped(text, kHelpColumn, kHelpColumn) + "\n";
}

// What stands for the value in "--datasets N".
std::string value_name_of(const Field& field) {
  if (!field.choices.empty()) return fmt::format("{}", fmt::join(field.choices, "|"));
  const std::string type = field.type();
  if (type == "integer") return "N";
  if (type == "number") return "X";
  if (type == "list of integers") return "N,N,...";
  if (type == "list of numbers") return "X,X,...";
  return "TEXT";
}

bool is_switch(const Field& field) {
  return std::holds_alternative<bool*>(field.target);
}

bool is_on(const Field& field) {
  return is_switch(field) && *std::get<bool*>(field.target);
}

// Words with blanks or other characters that a shell reads are quoted.
std::string command_line(int argc, const char* const* argv) {
  std::string text = "occam";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
    text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace

Fields fields(ComputeOptions& options) {
  return {field("threads", options.threads, "threads to compute with; results do not depend on it")
              .at_least(1)
              .at_most(1024)
              .by_default("all cores"),
          field("seed", options.seed, "seed of the random numbers: same seed, same result").at_least(0),
          field("quiet", options.quiet, "show no progress, only warnings")};
}

// --- Call --------------------------------------------------------------------------------------------------

std::uint64_t Call::seed() const {
  return static_cast<std::uint64_t>(verb_.compute_.value().seed);
}
int Call::threads() const {
  return static_cast<int>(verb_.compute_.value().threads);
}
bool Call::quiet() const {
  return verb_.compute_.value().quiet;
}

Communicator& Call::ranks() const {
  return verb_.shares_work_ ? verb_.ranks_ : alone();
}

std::unique_ptr<ProgressSink> Call::progress(std::string unit) const {
  if (!ranks().is_alone()) return std::make_unique<SharedProgress>(std::move(unit), quiet(), ranks());
  return std::make_unique<TerminalProgress>(std::move(unit), quiet());
}

void Call::print(std::string_view text) {
  write_file_atomic("/dev/stdout", shown_text(text));
}

void Call::print_data(std::string_view text) {
  if (::isatty(STDOUT_FILENO) == 1) return print(text);
  write_file_atomic("/dev/stdout", text);
}

void Call::print_aside(std::string_view text) {
  write_file_atomic("/dev/stderr", shown_text(text));
}

void Call::set_exit_code(int code) const {
  verb_.exit_code_ = code;
}

const std::string& Call::command() const {
  return verb_.command_;
}

void Call::keep(const std::vector<NamedPath>& inputs) const {
  refuse_clashes(inputs, verb_.outputs());
}

bool Call::given(std::string_view field) const {
  const Verb::Flag* flag = verb_.find(field);
  return flag != nullptr && flag->option->count() > 0;
}

void Call::apply(Fields fields) const {
  for (Field& field : fields) {
    const Verb::Flag* flag = verb_.find(field.name);
    if (given(field.name)) Verb::parse(*flag, std::move(field));
  }
}

// --- Verb --------------------------------------------------------------------------------------------------

Verb::Verb(std::string name, std::string summary, CLI::App& app, Communicator& ranks)
    : name_(std::move(name)), summary_(std::move(summary)), app_(app), ranks_(ranks) {
  app_.allow_extras();  // they come back from CLI11, and the message is ours
  app_.add_option("arguments", positionals_);
}

Verb& Verb::about(std::string text) {
  about_ = wrapped(text, 0, 0, std::string::npos);  // line breaks of the source mean nothing
  return *this;
}

Verb& Verb::example(std::string command, std::string meaning) {
  examples_.emplace_back(std::move(command), std::move(meaning));
  return *this;
}

Verb& Verb::argument(std::string name, std::string& target, std::string help) {
  arguments_.push_back({std::move(name), std::move(help), &target, nullptr, false});
  return *this;
}

Verb& Verb::optional_argument(std::string name, std::string& target, std::string help) {
  arguments_.push_back({std::move(name), std::move(help), &target, nullptr, true});
  return *this;
}

Verb& Verb::arguments(std::string name, std::vector<std::string>& target, std::string help) {
  arguments_.push_back({std::move(name), std::move(help), nullptr, &target, false});
  return *this;
}

Verb& Verb::output(std::string& target, std::string help) {
  add_flag(field("output", target, std::move(help)), "-o", "FILE");
  flags_.back().is_output = true;
  return *this;
}

Verb& Verb::options(Fields fields) {
  for (Field& field : fields) {
    const std::string value_name = value_name_of(field);
    add_flag(std::move(field), "", value_name);
  }
  return *this;
}

Verb& Verb::reads(std::vector<std::string> fields) {
  read_.insert(read_.end(), fields.begin(), fields.end());
  return *this;
}

Verb& Verb::writes(std::vector<std::string> fields) {
  written_.insert(written_.end(), fields.begin(), fields.end());
  return *this;
}

Verb& Verb::writes_beside(std::function<std::vector<NamedPath>()> files) {
  written_beside_ = std::move(files);
  return *this;
}

Verb& Verb::option_with_default(std::string name, std::optional<std::string>& target, std::string value_name,
                                std::string help) {
  Field field;
  field.name = std::move(name);
  field.help = std::move(help);
  static std::string nowhere;
  field.target = &nowhere;
  add_flag(std::move(field), "", "[" + value_name + "]");
  flags_.back().optional_value = &target;
  return *this;
}

Verb& Verb::computes() {
  options(fields(compute_.emplace()));
  return *this;
}

Verb& Verb::shares_work() {
  shares_work_ = true;
  return *this;
}

Verb& Verb::hidden() {
  hidden_ = true;
  return *this;
}

Verb& Verb::run(std::function<void(const Call&)> run) {
  run_ = std::move(run);
  return *this;
}

void Verb::add_flag(Field field, std::string_view short_name, std::string_view value_name) {
  Flag flag;
  flag.short_name = short_name;
  flag.name = field.flag();
  const std::string names = short_name.empty() ? flag.name : flag.short_name + "," + flag.name;
  if (is_switch(field)) {
    const std::string negation = "--no-" + field.flag().substr(2);
    if (is_on(field)) flag.name = negation;
    flag.option = app_.add_flag(names + ",!" + negation);
  } else {
    flag.value_name = value_name;
    // Repeated options come through to parse(), which says so.
    flag.option = app_.add_option(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  flag.field = std::move(field);
  flags_.push_back(std::move(flag));
}

const Verb::Flag* Verb::find(std::string_view field) const {
  const auto found =
      std::find_if(flags_.begin(), flags_.end(), [&](const Flag& flag) { return flag.field.name == field; });
  return found == flags_.end() ? nullptr : &*found;
}

void Verb::parse(const Flag& flag, Field field) {
  const std::vector<std::string>& values = flag.option->results();
  if (values.size() > 1) throw Error(ErrorKind::usage, "{} is given more than once", flag.field.flag());
  if (flag.optional_value != nullptr) {
    *flag.optional_value = values.front() == kLeftOut ? "" : values.front();
    return;
  }
  field.name = flag.field.flag();  // so that messages say --n
  field.parse(values.front());
}

std::string Verb::usage() const {
  std::string text = "occam " + name_;
  for (const Argument& argument : arguments_) {
    const std::string name = argument.optional ? "[" + argument.name + "]" : argument.name;
    text += " " + name + (argument.many == nullptr ? "" : " ...");
  }
  return text + (flags_.empty() ? "" : " [options]");
}

// The explanation of an option with its limits and default.
std::string Verb::meaning(const Flag& flag) {
  std::string notes;
  const auto note = [&](const std::string& text) { notes += (notes.empty() ? "" : "; ") + text; };
  const Field& field = flag.field;
  if (std::isfinite(field.min)) note(fmt::format("{} {}", field.min_open ? "above" : "at least", field.min));
  if (std::isfinite(field.max)) note(fmt::format("at most {}", field.max));
  if (!is_switch(field) && !field.default_shown().empty()) note("default: " + field.default_shown());
  if (is_on(field)) note("on unless told otherwise");
  return notes.empty() ? field.help : fmt::format("{} ({})", field.help, notes);
}

std::string Verb::shape(const Flag& flag) {
  // Of a switch that is on, both forms.
  const std::string first = flag.name == flag.field.flag() ? "" : flag.field.flag() + ", ";
  return (flag.short_name.empty() ? "    " : flag.short_name + ", ") + first + flag.name +
         (flag.value_name.empty() ? "" : " " + flag.value_name);
}

std::vector<Verb::ArgumentText> Verb::argument_texts() const {
  std::vector<ArgumentText> texts;
  for (const Argument& one : arguments_) {
    texts.push_back({one.name, one.help, one.optional, one.many != nullptr});
  }
  return texts;
}

std::vector<Verb::OptionText> Verb::option_texts() const {
  std::vector<OptionText> texts;
  for (const Flag& flag : flags_) {
    const std::string name = flag.field.flag();
    texts.push_back(
        {flag.short_name, name, flag.value_name, flag.field.choices, flag.field.help, meaning(flag)});
    if (flag.name == name) continue;
    const std::string opposite = fmt::format("switches {} off", name);
    texts.push_back({"", flag.name, "", {}, opposite, opposite});
  }
  texts.push_back({"-h", "--help", "", {}, kHelpMeaning, kHelpMeaning});
  return texts;
}

std::string Verb::help() const {
  std::string text = fmt::format("{}\n\n  {}\n", usage(), wrapped(about(), 2, 2));
  if (!arguments_.empty()) text += "\nArguments:\n";
  for (const Argument& argument : arguments_) text += entry(argument.name, argument.help);
  text += "\nOptions:\n";
  for (const Flag& flag : flags_) text += entry(shape(flag), meaning(flag));
  text += entry("-h, --help", kHelpMeaning);
  if (!examples_.empty()) text += "\nExamples:\n";
  for (const auto& [command, what] : examples_) text += fmt::format("  {}\n      {}\n", command, what);
  return text;
}

std::string Verb::markdown() const {
  std::string text =
      fmt::format("### occam {}\n\n    {}\n\n{}\n", name_, usage(), wrapped(about_, 0, 0, kPageWidth));
  text += "\n| option | default | meaning |\n|---|---|---|\n";
  for (const Argument& argument : arguments_) {
    text += fmt::format("| `{}` | | {} |\n", argument.name, argument.help);
  }
  for (const Flag& flag : flags_) {
    std::string cell = shape(flag);
    cell.erase(0, cell.find_first_not_of(' '));
    for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2)
      cell.insert(at, 1, '\\');
    const std::string rest = is_switch(flag.field)
                                 ? fmt::format("{} | {}", is_on(flag.field) ? "on" : "off", flag.field.help)
                                 : flag.field.markdown_cells();
    text += fmt::format("| `{}` | {} |\n", cell, rest);
  }
  return text;
}

void Verb::take_arguments() {
  std::size_t at = 0;
  for (const Argument& argument : arguments_) {
    if (at == positionals_.size() && argument.optional) continue;
    if (at == positionals_.size()) {
      throw Error(ErrorKind::usage, "{} is missing: {}; the form is `{}`", argument.name, argument.help,
                  usage());
    }
    if (argument.one != nullptr) {
      *argument.one = positionals_[at++];
    } else {
      argument.many->assign(positionals_.begin() + static_cast<std::ptrdiff_t>(at), positionals_.end());
      at = positionals_.size();
    }
  }
  if (at < positionals_.size()) {
    throw Error(ErrorKind::usage, "unexpected argument '{}'; the form is `{}`", positionals_[at], usage());
  }
}

void Verb::find_networks() const {
  for (const Argument& argument : arguments_) {
    if (argument.name == "NET" && !argument.one->empty())
      *argument.one = ReadyMadeNetworks::of_program().path_of(*argument.one);
  }
}

const std::string& Verb::path_of(const Flag& flag) const {
  return *std::get<std::string*>(flag.field.target);
}

std::vector<NamedPath> Verb::outputs() const {
  std::vector<NamedPath> outputs;
  for (const Flag& flag : flags_) {
    if (flag.is_output) outputs.push_back({"-o", path_of(flag)});
  }
  for (const std::string& name : written_)
    outputs.push_back({find(name)->field.flag(), path_of(*find(name))});
  if (written_beside_) {
    for (NamedPath& one : written_beside_()) outputs.push_back(std::move(one));
  }
  return outputs;
}

void Verb::refuse_clashing_files() const {
  std::vector<NamedPath> inputs;
  for (const Argument& argument : arguments_) {
    const std::vector<std::string> one = {argument.one == nullptr ? "" : *argument.one};
    for (const std::string& path : argument.many == nullptr ? one : *argument.many) {
      // A problem that is not a .toml file is the name of a built-in one.
      if (argument.name != "PROBLEM" || path.ends_with(".toml")) inputs.push_back({argument.name, path});
    }
  }
  for (const std::string& name : read_) {
    for (const std::string& path : table_files(path_of(*find(name))))
      inputs.push_back({find(name)->field.flag(), path});
  }
  refuse_clashes(inputs, outputs());
}

int Verb::execute() {
  // An unknown option first: its value may have been taken for an argument.
  for (const std::string& extra : app_.remaining()) {
    const std::string name = extra.substr(0, extra.find('='));
    std::vector<std::string> known = {"--help"};
    for (const Flag& flag : flags_) known.push_back(flag.field.flag());
    throw Error(ErrorKind::usage, "unknown option '{}' of `occam {}`{}", name, name_,
                name.starts_with("--") ? did_you_mean(name, known) : "");
  }
  take_arguments();
  for (const Flag& flag : flags_) {
    if (flag.option->count() > 0) parse(flag, flag.field);
  }
  find_networks();
  refuse_clashing_files();
  if (!shares_work_ && ranks_.rank() > 0) return 0;
  run_(Call(*this));
  return exit_code_;
}

// --- Verbs -------------------------------------------------------------------------------------------------

Verbs::Verbs(Communicator& ranks) : ranks_(ranks), app_(std::make_unique<CLI::App>("", "occam")) {
  app_->allow_extras();
  app_->require_subcommand(0, 1);
  app_->set_version_flag("--version", fmt::format("occam {}", kVersion));
}

Verbs::~Verbs() = default;

Verb& Verbs::add(const std::string& name, std::string summary) {
  return verbs_.emplace_back(name, std::move(summary), *app_->add_subcommand(name), ranks_);
}

std::string Verbs::help() const {
  std::string text =
      "occam compares models that can only be simulated: which of them do the data support?\n\n"
      "  occam VERB ...\n\nVerbs:\n";
  for (const Verb& verb : verbs_) {
    if (!verb.is_hidden()) text += entry(verb.name(), verb.summary());
  }
  text += "\nOptions:\n" + entry("-h, --help", "show this text; after a verb, how to use it") +
          entry("    --version", "show the version");
  return text;
}

// The words of the command line in reverse, as CLI11 takes them, with a value wherever one was left out that
// may be.
std::vector<std::string> Verbs::words(int argc, const char* const* argv) const {
  const auto may_be_left_out = [&](const std::string& word) {
    return std::any_of(verbs_.begin(), verbs_.end(), [&](const Verb& verb) {
      return std::any_of(verb.flags_.begin(), verb.flags_.end(), [&](const Verb::Flag& flag) {
        return flag.optional_value != nullptr && flag.name == word;
      });
    });
  };
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    words.emplace_back(argv[i]);
    if (!may_be_left_out(words.back())) continue;
    const char next = i + 1 < argc ? argv[i + 1][0] : '\0';
    if (next < '0' || next > '9') words.emplace_back(kLeftOut);
  }
  std::reverse(words.begin(), words.end());
  return words;
}

int Verbs::execute(int argc, const char* const* argv) {
  const auto show = [](const std::string& text) {
    Call::print(text);
    return 0;
  };
  if (argc <= 1) return show(help());
  const auto chosen = [&]() -> Verb* {
    if (app_->get_subcommands().empty()) return nullptr;
    for (Verb& verb : verbs_) {
      if (&verb.app_ == app_->get_subcommands().front()) return &verb;
    }
    return nullptr;
  };
  try {
    app_->parse(words(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return show(chosen() == nullptr ? help() : chosen()->help());
  } catch (const CLI::CallForVersion& version) {
    return show(fmt::format("{}\n", version.what()));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    // "--n: 1 required TEXT missing"
    const std::string what = mismatch.what();
    throw Error(ErrorKind::usage, "{} needs a value", what.substr(0, what.find(':')));
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, "{}", error.what());
  }
  for (const std::string& extra : app_->remaining()) {
    if (extra.starts_with('-')) {
      throw Error(ErrorKind::usage, "unknown option '{}'{}", extra,
                  did_you_mean(extra, {"--help", "--version"}));
    }
    std::vector<std::string> known;
    for (const Verb& verb : verbs_) {
      if (!verb.is_hidden()) known.push_back(verb.name());
    }
    throw Error(ErrorKind::usage, "unknown verb '{}'{}; `occam --help` lists them", extra,
                did_you_mean(extra, known));
  }
  if (Verb* verb = chosen()) {
    verb->command_ = command_line(argc, argv);
    return verb->execute();
  }
  return show(help());
}

std::function<bool(const char*)> given_to(const Call& call) {
  return [&call](const char* name) { return call.given(name); };
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size() && !text.empty();) {
    const auto comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

}  // namespace occam
