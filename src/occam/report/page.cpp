// The assembler takes the files in as they are: this costs no compile time, and the directives are the same
// on x86-64 and arm64. CMake names the files (cmake/OccamWeb.cmake).
#include "occam/report/page.hpp"

// clang-format off
#define OCCAM_EMBED(name, path)        \
  asm(".section .rodata\n"             \
      ".global occam_" name "\n"       \
      ".global occam_" name "_end\n"   \
      "occam_" name ":\n"              \
      ".incbin \"" path "\"\n"         \
      "occam_" name "_end:\n"          \
      ".byte 0\n"                      \
      ".previous\n")
// clang-format on

OCCAM_EMBED("page_style", OCCAM_PAGE_STYLE);
OCCAM_EMBED("page_script", OCCAM_PAGE_SCRIPT);
OCCAM_EMBED("page_figures", OCCAM_PAGE_FIGURES);

extern "C" {
extern const char occam_page_style[], occam_page_style_end[];
extern const char occam_page_script[], occam_page_script_end[];
extern const char occam_page_figures[], occam_page_figures_end[];
}

namespace occam {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view page_style() {
  return between(occam_page_style, occam_page_style_end);
}
std::string_view page_script() {
  return between(occam_page_script, occam_page_script_end);
}
std::string_view page_figures() {
  return between(occam_page_figures, occam_page_figures_end);
}

}  // namespace occam
