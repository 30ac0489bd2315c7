#include "occam/page/page_file.hpp"

#include <cstdint>
#include <map>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/core/version.hpp"
#include "occam/io/shown.hpp"
#include "occam/page/page_parts.hpp"
#include "occam/report/escape.hpp"
#include "occam/report/page.hpp"

namespace occam {
namespace {

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// The template with its @NAMES@ filled in; what is filled in is not looked at again.
std::string filled(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string result;
  for (;;) {
    const auto open = text.find('@');
    const auto close = open == std::string_view::npos ? open : text.find('@', open + 1);
    if (close == std::string_view::npos) return result + std::string(text);
    result += text.substr(0, open);
    result += values.at(std::string(text.substr(open + 1, close - open - 1)));
    text.remove_prefix(close + 1);
  }
}

}  // namespace

std::string compare_page(const PageContents& contents) {
  if (compare_page_module().empty()) {
    throw Error(
        ErrorKind::bad_config,
        "this build has no page: it was made without emscripten (install it, for example with `apt-get "
        "install emscripten libfast-float-dev`, and build occam again)");
  }
  const std::string title = as_utf8(contents.title);
  const nlohmann::json about{{"title", title},
                             {"text", as_utf8(contents.text)},
                             {"caution", as_utf8(contents.caution)},
                             {"example", as_utf8(contents.example_name)}};
  // The word that scripts and styles of the page carry: the same for the same contents.
  const std::string word = hexadecimal_hash(contents.network + contents.caution + contents.title +
                                            contents.text + contents.example);
  return filled(compare_page_html(),
                {{"WORD", word},
                 {"TITLE", escaped(title.empty() ? "Compare models" : title)},
                 {"STYLE", std::string(page_style()) + std::string(compare_page_style())},
                 {"VERSION", kVersion},
                 {"ABOUT", as_data(about)},
                 {"WORKER", std::string(compare_page_host()) + std::string(compare_page_worker())},
                 {"MODULE", base64(compare_page_module())},
                 {"NETWORK", base64(contents.network)},
                 {"EXAMPLE", base64(contents.example)},
                 {"SCRIPT", std::string(page_element()) + std::string(compare_page_script())}});
}

}  // namespace occam
