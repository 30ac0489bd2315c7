#include "occam/core/hash.hpp"

#include <fmt/format.h>

namespace occam {

ByteHash& ByteHash::add(std::string_view bytes) {
  for (const unsigned char c : bytes) hash_ = (hash_ ^ c) * 0x100000001b3u;
  return *this;
}

ByteHash& ByteHash::add(std::span<const std::byte> bytes) {
  return add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

ByteHash& ByteHash::add_piece(std::string_view bytes) {
  return add_number(bytes.size()).add(bytes);
}

ByteHash& ByteHash::add_number(std::uint64_t number) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * i));
  return add(std::string_view(bytes, 8));
}

std::string ByteHash::plain_text() const {
  return fmt::format("{:016x}", hash_);
}

std::string ByteHash::text() const {
  std::uint64_t hash = hash_;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return fmt::format("{:016x}", hash ^ (hash >> 33));
}

std::string hexadecimal_hash(std::string_view bytes) {
  return ByteHash().add(bytes).text();
}

}  // namespace occam
