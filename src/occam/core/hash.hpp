// A short name for a text: same bytes, same name, on any machine and in any version of the program. Against
// accidents, not against forgery.
#pragma once

#include <string>
#include <string_view>

namespace occam {

// 16 hexadecimal digits: FNV-1a over 64 bits, then the finaliser of MurmurHash3.
std::string hexadecimal_hash(std::string_view bytes);

}  // namespace occam
