// Files of predictions: csv, npz as it is, or npz built from chosen arrays and a `meta` text.
#include "archive.hpp"
#include "occam/check/prediction_file.hpp"
#include "occam/io/npy.hpp"

namespace {

using namespace occam;
using namespace occam::fuzz;

std::string built(Choices& choices) {
  const auto K = static_cast<std::int64_t>(choices.below(4));
  const auto J = static_cast<std::int64_t>(2 + choices.below(2));
  std::vector<Member> members;
  const auto add = [&](const char* name, DType dtype, Shape shape) {
    const DType chosen = chosen_dtype(dtype, choices);
    members.push_back(
        {std::string(name) + ".npy", chosen_npy(chosen, chosen_shape(std::move(shape), choices), choices)});
  };
  const std::uint8_t which = choices.byte();
  // One probability of one in each row, as is needed to get any further.
  std::string p = npy_header(DType::int8, {K, J});
  for (std::int64_t k = 0; k < K; ++k)
    p += std::string(1, '\1') + std::string(static_cast<std::size_t>(J - 1), '\0');
  if ((which & 1) != 0)
    add("p", DType::float64, {K, J});
  else
    members.push_back({"p.npy", p});
  add("true", DType::int64, {K});
  if ((which & 2) != 0) add("n", DType::int64, {K});
  if ((which & 4) != 0) add("u", DType::float64, {K});
  if ((which & 8) != 0) add("exact", DType::float64, {K, J});
  if ((which & 16) != 0) {
    const std::string_view meta = choices.rest();
    const DType dtype = (which & 32) != 0 ? DType::int8 : DType::uint8;
    members.push_back(
        {"meta.npy", npy_header(dtype, {static_cast<std::int64_t>(meta.size())}) + std::string(meta)});
  }
  return archive(members);
}

void read_all(const std::string& path) {
  const auto reader = PredictionReader::open(path);
  const auto J = static_cast<std::size_t>(reader->layout().J());
  Predictions block;
  while (reader->next(block)) {
    const auto K = static_cast<std::size_t>(block.size());
    require(block.p.size() == K * J && block.truth.size() == K,
            "a row of probabilities and a true model each");
    for (const auto truth : block.truth)
      require(truth >= 0 && static_cast<std::size_t>(truth) < J, "a known model");
    require(block.n.empty() || block.n.size() == K, "a size each");
    require(block.exact.empty() || block.exact.size() == K * J, "exact probabilities each");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Scratch text(".csv");
  static Scratch arrays(".npz");
  Choices choices(data, size);
  const std::uint8_t way = choices.byte() % 3;
  const std::string& path = way == 0   ? text.holding(choices.rest())
                            : way == 1 ? arrays.holding(choices.rest())
                                       : arrays.holding(built(choices));
  accepted({ErrorKind::bad_data}, [&] { read_all(path); });
  return 0;
}
