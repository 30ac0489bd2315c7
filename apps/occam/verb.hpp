// The verbs of the command line (`occam simulate`, ...). A file x.cpp in the list of CMakeLists.txt defines
// register_x(Verbs&), which adds one verb: arguments, options as a list of Fields, and the function it runs.
// Flags, help and the tables of docs/cli.md are all made from what is declared here.
//
//   void register_greet(Verbs& verbs) {
//     auto o = std::make_shared<GreetOptions>();
//     verbs.add("greet", "Say hello")
//         .argument("NAME", o->name, "whom to greet")
//         .options(fields(*o))
//         .run([o](const Call& call) { call.print("Hello " + o->name + "\n"); });
//   }
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "occam/core/fields.hpp"
#include "occam/core/progress.hpp"
#include "occam/io/same_file.hpp"
#include "occam/parallel/communicator.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace occam {

class Verb;

// What to say of an argument NET.
inline constexpr const char* kNetworkHelp =
    "the network file (.occam), or the name of a ready-made one (`occam info` lists them)";

// Options of every verb that computes.
struct ComputeOptions {
  std::int64_t threads = 0;  // 0: one per core
  std::int64_t seed = 1;
  bool quiet = false;
};
Fields fields(ComputeOptions& options);

// One use of a verb: what its run function needs beside its own options.
class Call {
 public:
  explicit Call(const Verb& verb) : verb_(verb) {}

  std::uint64_t seed() const;
  int threads() const;  // as ThreadPool takes it
  // Those that mpirun started, for verbs that share their work out among them; else alone().
  Communicator& ranks() const;
  bool quiet() const;

  // Progress on standard error, in the given unit ("data sets"); none with --quiet. While it lives, Ctrl-C
  // and SIGTERM only make stop_requested() true; a second one ends the program.
  std::unique_ptr<ProgressSink> progress(std::string unit) const;

  // Writes to standard output, throws Error(io). Text for people: names in it come from files of anyone, so
  // what would steer a terminal is shown instead of sent.
  static void print(std::string_view text);
  // The same for programs (csv, JSON): byte for byte, unless standard output is a terminal.
  static void print_data(std::string_view text);
  // Text for people that was asked for, where standard output holds data: to standard error, also with
  // --quiet.
  static void print_aside(std::string_view text);

  // What the program returns in the end; 0 unless set.
  void set_exit_code(int code) const;

  // The command line as it was typed, fit for a shell: for the record.
  const std::string& command() const;

  // Error(usage) when what the verb writes is one of these, which turned out to be read, too.
  void keep(const std::vector<NamedPath>& inputs) const;

  // Whether the option was on the command line, by the name of its field.
  bool given(std::string_view field) const;
  // Sets those of `fields` that were on the command line, again: for options whose defaults come from
  // elsewhere, such as a problem file, and were set after the command line was read.
  void apply(Fields fields) const;

 private:
  const Verb& verb_;
};

class Verb {
 public:
  // Arguments and options as help, man page and completion show them.
  struct ArgumentText {
    std::string name;  // "PROBLEM"
    std::string help;
    bool optional = false;
    bool many = false;
  };
  struct OptionText {
    std::string short_name;  // "-o"; mostly empty
    std::string name;        // "--output"
    std::string value;       // "FILE"; empty for a switch
    std::vector<std::string> choices;
    std::string help;     // what it does
    std::string meaning;  // the same, with limits and default
  };

  Verb(std::string name, std::string summary, CLI::App& app, Communicator& ranks);

  // Help: what the verb does, in full sentences, and an example (a command, what it is for). The text is
  // filled anew wherever it is shown; blank lines separate paragraphs.
  Verb& about(std::string text);
  Verb& example(std::string command, std::string meaning);

  // A required positional argument; and one or more of them, which must come last. Targets must live as long
  // as the verb: keep the options in a shared_ptr that the run function holds. Of an argument called NET the
  // target is the path of a network file, also where the name of a ready-made one was given.
  Verb& argument(std::string name, std::string& target, std::string help);
  // The same, but it may be left out.
  Verb& optional_argument(std::string name, std::string& target, std::string help);
  Verb& arguments(std::string name, std::vector<std::string>& target, std::string help);
  // -o, --output FILE.
  Verb& output(std::string& target, std::string help);
  // Flags. Values are checked by the fields; a true/false field is a switch, with `--no-x` as its opposite.
  Verb& options(Fields fields);
  // An option whose value may be left out, because what follows does not begin with a digit: `target` is then
  // an empty text, and nothing where the option is not given.
  Verb& option_with_default(std::string name, std::optional<std::string>& target, std::string value_name,
                            std::string help);
  // Which of the options, by the names of their fields, are paths of files that are read, and that are
  // written. Arguments are read and -o is written in any case. What is written must not be read as well.
  Verb& reads(std::vector<std::string> fields);
  Verb& writes(std::vector<std::string> fields);
  // Further files that are written, whose names follow from the options.
  Verb& writes_beside(std::function<std::vector<NamedPath>()> files);
  // Adds --threads, --seed and --quiet.
  Verb& computes();
  // All ranks run it, and it works with Call::ranks(). Other verbs are run by the first rank alone.
  Verb& shares_work();
  // Not in the list of verbs: for developers.
  Verb& hidden();
  Verb& run(std::function<void(const Call&)> run);

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const std::string& about() const { return about_.empty() ? summary_ : about_; }
  const std::vector<std::pair<std::string, std::string>>& examples() const { return examples_; }
  std::vector<ArgumentText> argument_texts() const;
  std::vector<OptionText> option_texts() const;  // --help among them; both forms of a switch that is on
  bool is_hidden() const { return hidden_; }
  std::string usage() const;     // "occam simulate PROBLEM [options]"
  std::string help() const;      // for a terminal
  std::string markdown() const;  // for the docs

 private:
  friend class Call;
  friend class Verbs;
  struct Argument {
    std::string name;
    std::string help;
    std::string* one = nullptr;
    std::vector<std::string>* many = nullptr;
    bool optional = false;
  };
  struct Flag {
    Field field;
    CLI::Option* option = nullptr;
    std::string short_name;  // "-o"; mostly empty
    std::string name;        // "--output", or "--no-x" of a switch that is on
    std::string value_name;  // "FILE"; empty for a switch
    bool is_output = false;
    std::optional<std::string>* optional_value = nullptr;
  };

  void add_flag(Field field, std::string_view short_name, std::string_view value_name);
  const Flag* find(std::string_view field) const;
  static void parse(const Flag& flag, Field field);
  static std::string meaning(const Flag& flag);
  static std::string shape(const Flag& flag);  // "-o, --output FILE"
  // After CLI11 has cut up the command line: checks it, sets all targets, runs.
  int execute();
  void take_arguments();
  void find_networks() const;
  std::vector<NamedPath> outputs() const;
  void refuse_clashing_files() const;
  const std::string& path_of(const Flag& flag) const;

  std::string name_;
  std::string summary_;
  CLI::App& app_;
  std::string about_;
  std::vector<std::pair<std::string, std::string>> examples_;
  std::vector<Argument> arguments_;
  std::vector<Flag> flags_;
  std::vector<std::string> positionals_;
  std::vector<std::string> read_, written_;  // fields
  std::function<std::vector<NamedPath>()> written_beside_;
  std::optional<ComputeOptions> compute_;
  bool hidden_ = false;
  bool shares_work_ = false;
  Communicator& ranks_;
  mutable int exit_code_ = 0;  // set through a Call
  std::string command_;
  std::function<void(const Call&)> run_;
};

// All verbs, in the order of their list.
class Verbs {
 public:
  explicit Verbs(Communicator& ranks = alone());
  ~Verbs();

  Verb& add(const std::string& name, std::string summary);

  const std::deque<Verb>& all() const { return verbs_; }
  std::string help() const;

  // Reads the command line and runs what it asks for; returns the exit code. Throws Error.
  int execute(int argc, const char* const* argv);

 private:
  std::vector<std::string> words(int argc, const char* const* argv) const;
  Communicator& ranks_;
  std::unique_ptr<CLI::App> app_;
  std::deque<Verb> verbs_;  // a deque: references stay valid
};

void register_verbs(Verbs& verbs);  // generated from the list in CMakeLists.txt

// Whether an option was on the command line, as library code asks it.
std::function<bool(const char*)> given_to(const Call& call);

// The parts of "a,b,c"; none of an empty text.
std::vector<std::string> split_list(const std::string& text);

}  // namespace occam
