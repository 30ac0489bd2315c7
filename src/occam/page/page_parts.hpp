// The parts of the web page that compares, as they lie in the program.
#pragma once

#include <string_view>

namespace occam {

std::string_view compare_page_html();
std::string_view compare_page_style();  // beyond that of reports
std::string_view compare_page_script();
std::string_view compare_page_host();
std::string_view compare_page_worker();
std::string_view compare_page_module();  // WebAssembly, compressed with gzip; empty where this build has none

}  // namespace occam
