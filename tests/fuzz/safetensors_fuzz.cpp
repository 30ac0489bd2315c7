// safetensors: the first byte says how the rest is meant: a file, or a header to which length and data are
// added.
#include "fuzz.hpp"
#include "occam/io/safetensors.hpp"

using namespace occam;
using namespace occam::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::uint8_t way = choices.byte();
  std::string bytes(choices.rest());
  if (way != 0) {
    std::string length(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(bytes.size() >> (8 * i) & 0xff);
    bytes = length + bytes + std::string(way - 1u, '\x40');
  }
  Safetensors contents;
  if (!accepted({ErrorKind::bad_config}, [&] { contents = parse_safetensors(bytes, "a.safetensors"); }))
    return 0;
  for (const auto& [name, array] : contents.tensors) {
    require(array_bytes(array.shape, array.dtype) == array.bytes.size(), "as many bytes as the shape says");
  }
  const Safetensors again = parse_safetensors(safetensors_bytes(contents), "b.safetensors");
  require(again.metadata == contents.metadata && again.tensors.size() == contents.tensors.size(),
          "what is written reads back the same");
  for (const auto& [name, array] : contents.tensors) require(again.at(name) == array, "the same tensor");
  return 0;
}
