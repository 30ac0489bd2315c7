// Text of the form `name(1, 2.5)`: how priors and the distribution of N are written in problem files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occam {

struct CallText {
  std::string name;  // empty when the text is a plain number
  std::vector<double> arguments;
};

// Reads `name(number, ...)` or a plain number; "inf" and "-inf" are numbers. Throws Error(bad_config) that
// shows the text and what was expected.
CallText parse_call(std::string_view text);

// The shortest decimal that reads back as the same double.
std::string number_text(double value);

// `name(1, 2.5)`; reads back to the same numbers.
std::string call_text(std::string_view name, const std::vector<double>& arguments);

}  // namespace occam
