// Each script offers the verbs first, then the options of the verb, the choices of an option that has some,
// and for arguments the names of built-in problems, ready-made networks or studies beside files.
#include "completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/pipeline/ready_made.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/study/study.hpp"

namespace occam {
namespace {

// Words an argument may be besides a file; those with a colon are left out, at which shells cut words.
std::vector<std::string> words_of_argument(std::string_view name) {
  std::vector<std::string> words;
  if (name == "PROBLEM") words = catalogue().problem_names();
  if (name == "NET") words = ReadyMadeNetworks::of_program().names();
  if (name == "STUDY") words = study_names();
  std::erase_if(words, [](const std::string& word) { return word.find(':') != std::string::npos; });
  return words;
}

std::vector<std::string> words_of_arguments(const Verb& verb) {
  std::vector<std::string> words;
  for (const Verb::ArgumentText& argument : verb.argument_texts()) {
    for (std::string& word : words_of_argument(argument.name)) words.push_back(std::move(word));
  }
  return words;
}

// Whether the value may be a file: options with choices and numbers have none.
bool takes_file(const Verb::OptionText& option) {
  return option.choices.empty() && (option.value == "FILE" || option.value == "TEXT");
}

std::vector<const Verb*> shown(const Verbs& verbs) {
  std::vector<const Verb*> list;
  for (const Verb& verb : verbs.all()) {
    if (!verb.is_hidden()) list.push_back(&verb);
  }
  return list;
}

// In single quotes, for all three shells ('\'' closes, adds a quote, opens again).
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// zsh reads these inside the description of an option.
std::string zsh_description(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_value(const Verb::OptionText& option) {
  if (option.value.empty()) return "";
  if (!option.choices.empty()) return fmt::format(":value:({})", joined(option.choices));
  return takes_file(option) ? ":file:_files" : fmt::format(":{}: ", option.value);
}

std::string zsh_case(const Verb& verb) {
  std::string text = fmt::format("    {})\n      _arguments", verb.name());
  for (const Verb::OptionText& option : verb.option_texts()) {
    const std::string rest = fmt::format("[{}]{}", zsh_description(option.help), zsh_value(option));
    if (!option.short_name.empty()) text += " \\\n        " + in_quotes(option.short_name + rest);
    text += " \\\n        " + in_quotes(option.name + rest);
  }
  if (!verb.argument_texts().empty()) {
    const std::vector<std::string> words = words_of_arguments(verb);
    const std::string names = words.empty() ? "" : fmt::format(" \"names:name:({})\"", joined(words));
    text += " \\\n        " +
            in_quotes(fmt::format("*:argument:{}",
                                  words.empty() ? "_files" : "_alternative \"files:file:_files\"" + names));
  }
  return text + "\n      ;;\n";
}

std::string fish_option(const Verb& verb, const Verb::OptionText& option) {
  std::string text = fmt::format("complete -c occam -n '__fish_seen_subcommand_from {}'", verb.name());
  if (!option.short_name.empty()) text += fmt::format(" -s {}", option.short_name.substr(1));
  text += fmt::format(" -l {}", option.name.substr(2));
  if (!option.choices.empty()) {
    text += fmt::format(" -x -a {}", in_quotes(joined(option.choices)));
  } else if (!option.value.empty()) {
    text += takes_file(option) ? " -r -F" : " -x";
  }
  return fmt::format("{} -d {}\n", text, in_quotes(option.help));
}

}  // namespace

std::string bash_completion(const Verbs& verbs) {
  std::vector<std::string> names;
  std::string options;
  std::string values;
  std::string arguments;
  for (const Verb* verb : shown(verbs)) {
    names.push_back(verb->name());
    std::vector<std::string> flags;
    for (const Verb::OptionText& option : verb->option_texts()) {
      flags.push_back(option.name);
      if (option.value.empty()) continue;
      const std::string pattern =
          option.short_name.empty()
              ? fmt::format("\"{} {}\"", verb->name(), option.name)
              : fmt::format("\"{0} {1}\" | \"{0} {2}\"", verb->name(), option.name, option.short_name);
      const std::string action =
          takes_file(option) ? "files=yes" : fmt::format("words={}", in_quotes(joined(option.choices)));
      values += fmt::format("    {}) value=yes {} ;;\n", pattern, action);
    }
    options += fmt::format("    {}) options={} ;;\n", verb->name(), in_quotes(joined(flags)));
    if (!verb->argument_texts().empty()) {
      arguments += fmt::format("    {}) files=yes words={} ;;\n", verb->name(),
                               in_quotes(joined(words_of_arguments(*verb))));
    }
  }
  return fmt::format(R"(# Completion of occam in bash. Written by `occam reference bash`; do not edit.
_occam() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb=${{COMP_WORDS[1]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local options= words= value= files=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case "$verb $before" in
{}  esac
  case "$verb" in
{}  esac
  if [ -z "$value" ] && [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    return
  fi
  if [ -z "$value" ]; then
    case "$verb" in
{}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ -n "$files" ]; then
    local IFS=$'\n'
    COMPREPLY+=($(compgen -f -- "$word"))
    compopt -o filenames 2>/dev/null
  fi
}}
complete -F _occam occam
)",
                     joined(names), values, options, arguments);
}

std::string zsh_completion(const Verbs& verbs) {
  std::string names;
  std::string cases;
  for (const Verb* verb : shown(verbs)) {
    names += fmt::format("    {}\n", in_quotes(verb->name() + ":" + zsh_description(verb->summary())));
    cases += zsh_case(*verb);
  }
  return fmt::format(R"(#compdef occam
# Completion of occam in zsh. Written by `occam reference zsh`; do not edit.
_occam() {{
  local -a verbs
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $verb in
{}  esac
}}
compdef _occam occam
)",
                     names, cases);
}

std::string fish_completion(const Verbs& verbs) {
  std::string text =
      "# Completion of occam in fish. Written by `occam reference fish`; do not edit.\n"
      "complete -c occam -n __fish_use_subcommand -f -s h -l help -d 'show the verbs'\n"
      "complete -c occam -n __fish_use_subcommand -f -l version -d 'show the version'\n";
  for (const Verb* verb : shown(verbs)) {
    text += fmt::format("complete -c occam -n __fish_use_subcommand -f -a {} -d {}\n", verb->name(),
                        in_quotes(verb->summary()));
    for (const Verb::OptionText& option : verb->option_texts()) text += fish_option(*verb, option);
    const std::vector<std::string> words = words_of_arguments(*verb);
    if (!words.empty()) {
      text += fmt::format("complete -c occam -n '__fish_seen_subcommand_from {}' -F -a {}\n", verb->name(),
                          in_quotes(joined(words)));
    }
  }
  return text;
}

}  // namespace occam
