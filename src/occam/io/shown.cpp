// UTF-8 decoding as in table 3-7 of the Unicode standard: every well-formed sequence and no other.
#include "occam/io/shown.hpp"

#include <algorithm>

#include <fmt/format.h>

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

// Control characters, those of 8 bits (U+0080 to U+009F) among them, and what turns the direction of writing
// round (U+202A to U+202E, U+2066 to U+2069), with which a name could pass for another.
bool steers(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

// The first character of `text` as it is to be shown; takes it off.
std::string next_shown(std::string_view& text, std::string_view kept) {
  const std::size_t length = utf8_length(text);
  const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
  text.remove_prefix(character.size());
  const bool plain = length > 0 && (!steers(character) || kept.find(character) != std::string_view::npos);
  if (plain) return std::string(character);
  std::string escaped;
  for (const char c : character) escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return escaped;
}

void append_utf8(unsigned code, std::string& to) {
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xc0 | code >> 6);
    to += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    to += static_cast<char>(0xe0 | code >> 12);
    to += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    to += static_cast<char>(0x80 | (code & 0x3f));
  }
}

}  // namespace

bool is_plain(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || steers(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string shown(std::string_view text, std::size_t limit) {
  std::string result;
  while (!text.empty()) {
    const std::string next = next_shown(text, "");
    if (result.size() + next.size() > limit) return result + "...";
    result += next;
  }
  return result;
}

std::string shown_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) result += next_shown(text, "\n\t");
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

std::string as_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  // Bytes 0x80 to 0x9f; those without a character stay what they are in Latin-1.
  constexpr unsigned kWindows[32] = {0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                     0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
                                     0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                     0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    append_utf8(byte >= 0x80 && byte < 0xa0 ? kWindows[byte - 0x80] : byte, result);
  }
  return result;
}

}  // namespace occam
