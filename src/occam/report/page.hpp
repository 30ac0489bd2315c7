// What the page of a report is made of beside the report: style, script, and the bundle that draws figures.
#pragma once

#include <string_view>

namespace occam {

std::string_view page_style();
std::string_view page_element();  // a function that both scripts begin with
std::string_view page_script();
// Vega with its licences: gzip in base64, unpacked by the script; empty where it was left out of the build.
std::string_view page_figures();

}  // namespace occam
