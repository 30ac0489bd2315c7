// Reference tables: csv, npz as it is, or npz built from chosen arrays and a `meta` text.
#include <cmath>

#include "archive.hpp"
#include "occam/io/npy.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/reference_table.hpp"

namespace {

using namespace occam;
using namespace occam::fuzz;

const Problem& problem() {
  static const Problem coins = read_problem(
      "name = \"coins\"\nn = 3\nfamily = \"bernoulli\"\n[model.fair]\ntheta = 0.5\n[model.any]\ntheta = "
      "\"beta(1, 1)\"\n",
      "coins.toml");
  return coins;
}

std::string built(Choices& choices) {
  const auto K = static_cast<std::int64_t>(choices.below(4));
  const auto rows = static_cast<std::int64_t>(choices.below(8));
  std::vector<Member> members;
  const auto add = [&](const char* name, DType dtype, Shape shape) {
    const DType chosen = chosen_dtype(dtype, choices);
    members.push_back(
        {std::string(name) + ".npy", chosen_npy(chosen, chosen_shape(std::move(shape), choices), choices)});
  };
  const std::uint8_t which = choices.byte();
  add("data", DType::float32, {rows, problem().D()});
  add("n", DType::int64, {K});
  add("model", DType::int32, {K});
  if ((which & 1) != 0) add("parameters", DType::float64, {K, problem().P()});
  if ((which & 2) != 0) {
    const std::string_view meta = choices.rest();
    const DType dtype = (which & 4) != 0 ? DType::int8 : DType::uint8;
    members.push_back(
        {"meta.npy", npy_header(dtype, {static_cast<std::int64_t>(meta.size())}) + std::string(meta)});
  }
  return archive(members);
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
  accepted({ErrorKind::bad_data}, [&] {
    const ReferenceTable table = ReferenceTable::read(path, problem());
    const Batch& all = table.all();
    require(table.fingerprint().size() == 16, "it has a fingerprint");
    for (std::int64_t b = 0; b < all.size(); ++b) {
      const auto model = all.models()[static_cast<std::size_t>(b)];
      require(model >= 0 && model < problem().J(), "a known model");
    }
    for (const float value : all.data()) require(std::isfinite(value), "finite values");
  });
  return 0;
}
