// CMake names the files (cmake/OccamModule.cmake).
#include "occam/page/page_parts.hpp"

#include "occam/core/embed.hpp"

OCCAM_EMBED(compare_page_html, OCCAM_PAGE_WEB "/page.html");
OCCAM_EMBED(compare_page_style, OCCAM_PAGE_WEB "/page.css");
OCCAM_EMBED(compare_page_script, OCCAM_PAGE_WEB "/page.js");
OCCAM_EMBED(compare_page_host, OCCAM_PAGE_WEB "/host.js");
OCCAM_EMBED(compare_page_worker, OCCAM_PAGE_WEB "/worker.js");
OCCAM_EMBED(compare_page_module, OCCAM_PAGE_MODULE);

namespace occam {

std::string_view compare_page_html() {
  return OCCAM_EMBEDDED(compare_page_html);
}
std::string_view compare_page_style() {
  return OCCAM_EMBEDDED(compare_page_style);
}
std::string_view compare_page_script() {
  return OCCAM_EMBEDDED(compare_page_script);
}
std::string_view compare_page_host() {
  return OCCAM_EMBEDDED(compare_page_host);
}
std::string_view compare_page_worker() {
  return OCCAM_EMBEDDED(compare_page_worker);
}
std::string_view compare_page_module() {
  return OCCAM_EMBEDDED(compare_page_module);
}

}  // namespace occam
