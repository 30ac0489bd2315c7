// Answers of simulator programs: rows, columns and the size of the pieces, then what the program wrote.
#include <cstring>

#include "fuzz.hpp"
#include "occam/simulate/own/protocol.hpp"

using namespace occam;
using namespace occam::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::uint8_t shape = choices.byte();
  const std::int64_t rows = 1 + (shape & 7);
  const std::int64_t columns = 1 + (shape >> 3 & 3);
  const std::size_t piece = 1u + choices.byte() % 32u;
  const std::string_view text = choices.rest();
  AnswerReader whole(rows, columns);
  AnswerReader pieces(rows, columns);
  const bool sound = accepted({ErrorKind::bad_data}, [&] { whole.add(text); });
  const bool sound_in_pieces = accepted({ErrorKind::bad_data}, [&] {
    for (std::size_t at = 0; at < text.size(); at += piece) pieces.add(text.substr(at, piece));
  });
  require(sound == sound_in_pieces, "whole and in pieces, the same judgement");
  if (!sound) return 0;
  require(whole.complete() == pieces.complete(), "whole and in pieces, complete at the same time");
  if (!whole.complete()) return 0;
  const auto a = whole.values();
  const auto b = pieces.values();
  require(a.size() == static_cast<std::size_t>(rows * columns) && a.size() == b.size(),
          "as many values as asked for");
  require(std::memcmp(a.data(), b.data(), a.size_bytes()) == 0, "whole and in pieces, the same values");
  return 0;
}
