// A short name for bytes: same bytes, same name, on any machine and in any version of the program. Against
// accidents, not against forgery.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace occam {

// FNV-1a over 64 bits (Fowler, Noll, Vo), fed piece by piece.
class ByteHash {
 public:
  ByteHash& add(std::string_view bytes);
  ByteHash& add(std::span<const std::byte> bytes);
  // The length first, so that the border between two pieces counts.
  ByteHash& add_piece(std::string_view bytes);
  ByteHash& add_number(std::uint64_t number);

  // 16 hexadecimal digits: of the hash as it is, and of the hash through the finaliser of MurmurHash3.
  std::string plain_text() const;
  std::string text() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// ByteHash::text of these bytes.
std::string hexadecimal_hash(std::string_view bytes);

}  // namespace occam
