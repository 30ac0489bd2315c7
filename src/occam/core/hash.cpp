#include "occam/core/hash.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace occam {

std::string hexadecimal_hash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : bytes) hash = (hash ^ c) * 0x100000001b3u;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return fmt::format("{:016x}", hash ^ (hash >> 33));
}

}  // namespace occam
