// CMake names the files (cmake/OccamWeb.cmake).
#include "occam/report/page.hpp"

#include "occam/core/embed.hpp"

OCCAM_EMBED(page_style, OCCAM_PAGE_STYLE);
OCCAM_EMBED(page_element, OCCAM_PAGE_ELEMENT);
OCCAM_EMBED(page_script, OCCAM_PAGE_SCRIPT);
OCCAM_EMBED(page_figures, OCCAM_PAGE_FIGURES);

namespace occam {

std::string_view page_style() {
  return OCCAM_EMBEDDED(page_style);
}
std::string_view page_element() {
  return OCCAM_EMBEDDED(page_element);
}
std::string_view page_script() {
  return OCCAM_EMBEDDED(page_script);
}
std::string_view page_figures() {
  return OCCAM_EMBEDDED(page_figures);
}

}  // namespace occam
