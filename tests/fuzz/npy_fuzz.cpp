// npy: the first byte chooses the size of the pieces, the rest is the file.
#include "fuzz.hpp"
#include "occam/io/npy.hpp"

using namespace occam;
using namespace occam::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::size_t piece = 1u + choices.byte();
  const std::string_view text = choices.rest();
  NdArray array;
  NdArray again;
  const bool sound = accepted({ErrorKind::bad_data}, [&] { array = parse_npy(text, "a.npy"); });
  const bool sound_in_pieces = accepted(
      {ErrorKind::bad_data}, [&] { again = read_npy(in_pieces(text, piece), text.size(), "a.npy"); });
  require(sound == sound_in_pieces && (!sound || array == again), "whole and in pieces, the same array");
  if (!sound) return 0;
  accepted({ErrorKind::bad_data}, [&] { array.as_float(); });
  accepted({ErrorKind::bad_data}, [&] { array.as_double(); });
  accepted({ErrorKind::bad_data}, [&] { array.as_int64(); });
  std::string bytes;
  write_npy([&](std::string_view part) { bytes += part; }, array);
  require(parse_npy(bytes, "b.npy") == array, "what is written reads back the same");
  return 0;
}
