// roff reads a backslash as the start of a command, a line that starts with a dot or an apostrophe as a
// request, and a plain - as a hyphen that it may set as another character; roff() takes care of all three.
#include "manual.hpp"

#include <fmt/format.h>

#include "occam/core/version.hpp"

namespace occam {
namespace {

std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool starts_line = result.empty() || result.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

// Blank lines between paragraphs become requests; roff itself warns of blank lines.
std::string paragraphs(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t blank = std::min(text.find("\n\n", at), text.size());
    result += fmt::format("{}{}\n", result.empty() ? "" : ".PP\n", roff(text.substr(at, blank - at)));
    at = blank + 2;
  }
  return result;
}

// "\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR"
std::string shape(const Verb::OptionText& option) {
  const std::string short_name =
      option.short_name.empty() ? "" : fmt::format("\\fB{}\\fR, ", roff(option.short_name));
  const std::string value = option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format("{}\\fB{}\\fR{}", short_name, roff(option.name), value);
}

std::string section(const Verb& verb) {
  std::string text =
      fmt::format(".SS occam {}\n.B {}\n.PP\n{}", verb.name(), roff(verb.usage()), paragraphs(verb.about()));
  for (const Verb::ArgumentText& argument : verb.argument_texts()) {
    text += fmt::format(".TP\n.I {}\n{}\n", roff(argument.name), roff(argument.help));
  }
  for (const Verb::OptionText& option : verb.option_texts()) {
    text += fmt::format(".TP\n{}\n{}\n", shape(option), roff(option.meaning));
  }
  for (const auto& [command, meaning] : verb.examples()) {
    text += fmt::format(".PP\nExample: {}\n.PP\n.RS\n.B {}\n.RE\n", roff(meaning), roff(command));
  }
  return text;
}

}  // namespace

std::string manual(const Verbs& verbs) {
  std::string text = fmt::format(
      ".\\\" Written by `occam reference man`; do not edit.\n"
      ".TH OCCAM 1 \"\" \"occam {}\" \"User Commands\"\n"
      ".SH NAME\noccam \\- compare models that can only be simulated\n"
      ".SH SYNOPSIS\n.B occam\n.I VERB\n[\\fIarguments\\fR] [\\fIoptions\\fR]\n.br\n.B occam\n[\\fIVERB\\fR] "
      "\\fB\\-\\-help\\fR\n"
      ".br\n.B occam \\-\\-version\n"
      ".SH DESCRIPTION\noccam says which of several simulation models observed data support. A network is "
      "trained once on "
      "simulated data; after that it answers for any number of data sets at once.\n.SH VERBS\n",
      kVersion);
  for (const Verb& verb : verbs.all()) {
    if (!verb.is_hidden()) text += section(verb);
  }
  text +=
      ".SH ENVIRONMENT\n"
      ".TP\n.B OCCAM_SIMD\nThe instruction set to compute with, such as AVX2, instead of the best that the "
      "processor has. "
      "Programs compiled for one processor have one only.\n"
      ".TP\n.B OCCAM_NETWORKS\nA folder of ready\\-made networks that is looked into before the one that was "
      "installed.\n"
      ".TP\n.B XDG_CACHE_HOME\nWhere compiled models of the user's own are kept, in a folder occam "
      "(otherwise ~/.cache).\n"
      ".SH EXIT STATUS\n";
  const std::pair<int, const char*> kCodes[] = {{0, "done"},
                                                {1, "the verdict is a warning or worse (with \\-\\-strict)"},
                                                {64, "the command line is wrong"},
                                                {65, "the data are wrong"},
                                                {66, "there is no such input"},
                                                {70, "a fault in occam itself"},
                                                {74, "reading or writing failed"},
                                                {78, "the problem file or the network file is wrong"},
                                                {130, "interrupted"}};
  for (const auto& [code, meaning] : kCodes) text += fmt::format(".TP\n.B {}\n{}\n", code, meaning);
  return text;
}

}  // namespace occam
