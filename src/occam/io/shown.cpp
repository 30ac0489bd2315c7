// UTF-8 decoding as in table 3-7 of the Unicode standard: every well-formed sequence and no other.
#include "occam/io/shown.hpp"

#include <algorithm>

namespace occam {
namespace {

// Length in bytes of the well-formed sequence at the start of `text` (not empty), 0 when it is broken.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return in(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80;   // no overlong forms
    const unsigned high = first == 0xed ? 0x9f : 0xbf;  // no surrogates
    return in(1, low, high) && in(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf;  // nothing above U+10FFFF
    return in(1, low, high) && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string shown(std::string_view text, std::size_t limit) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (result.size() + std::max<std::size_t>(length, 1) > limit) return result + "...";
    const auto first = static_cast<unsigned char>(text[0]);
    const bool plain = length > 0 && first >= 0x20 && first != 0x7f;
    if (plain) {
      result += text.substr(0, length);
    } else {
      result += '?';
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace occam
