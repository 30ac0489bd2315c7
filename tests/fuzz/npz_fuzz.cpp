// npz: the first byte says how the rest is meant. Raw bytes are an archive; otherwise one is built around
// them, so that the npy files inside, the numbers of the directory and observed data are reached behind the
// checksums.
#include "archive.hpp"
#include "occam/compare/observed.hpp"
#include "occam/io/npz.hpp"

namespace {

using namespace occam;
using namespace occam::fuzz;

std::string built_around(Choices& choices, bool deflated) {
  Choices lies(choices.text(choices.byte() % 64u));
  std::vector<Member> members = {{"a.npy", std::string(choices.text(choices.byte()))},
                                 {choices.byte() % 2 == 0 ? "b.npy" : "a.npy", std::string(choices.rest())}};
  return archive(members, deflated, &lies);
}

// The layout of `occam simulate`, sometimes a little wrong.
std::string simulations(Choices& choices) {
  const auto rows = static_cast<std::int64_t>(choices.below(6));
  const auto array = [&](DType dtype, Shape shape) {
    const DType chosen = chosen_dtype(dtype, choices);
    return chosen_npy(chosen, chosen_shape(std::move(shape), choices), choices);
  };
  return archive({{"data.npy", array(DType::float32, {rows, 2})}, {"n.npy", array(DType::int64, {2})}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::uint8_t way = choices.byte() % 4;
  const std::string bytes = way == 0   ? std::string(choices.rest())
                            : way == 3 ? simulations(choices)
                                       : built_around(choices, way == 2);
  accepted({ErrorKind::bad_data}, [&] {
    const NpzReader reader(bytes, "a.npz");
    for (const std::string& name : reader.names()) {
      accepted({ErrorKind::bad_data}, [&] {
        const NpyHeader header = reader.header(name);
        const NdArray array = reader.read(name);
        require(header.shape == array.shape && header.dtype == array.dtype,
                "the header is that of the array");
        require(array_bytes(array.shape, array.dtype) == array.bytes.size(),
                "as many bytes as the shape says");
      });
    }
  });
  static Scratch file(".npz");
  ObservedOptions options;
  options.columns = {"x", "y"};
  options.missing = bytes.size() % 2 == 0 ? MissingRows::drop : MissingRows::refuse;
  accepted({ErrorKind::bad_data}, [&] {
    read_observed(file.holding(bytes), options, [](const ObservedSets& observed) {
      const auto& ids = observed.ids;
      const Ragged<const float> sets = observed.data;
      require(static_cast<std::int64_t>(ids.size()) == sets.sets, "one id for each data set");
    });
  });
  return 0;
}
