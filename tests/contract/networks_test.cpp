// What every registered architecture promises, and the published ones against PyTorch.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "network_support.hpp"
#include "occam/networks/batch_gradient.hpp"
#include "occam/networks/network.hpp"
#include "occam/nn/pool.hpp"
#include "occam/nn/reference.hpp"

namespace occam {
namespace {

using nlohmann::json;
using testing_support::Reference;
using namespace testing_support;

template <class T>
std::vector<T> outputs(const Network<T>& network, const std::vector<T>& weights, Ragged<const float> data) {
  network.check(data);
  std::vector<T> packed(network.packed_size());
  network.pack_all(weights.data(), packed.data());
  Workspace workspace;
  const auto& tape = *network.forward(packed.data(), data, workspace);
  std::vector<T> result;
  for (std::int64_t b = 0; b < data.sets; ++b) {
    result.insert(result.end(), tape.models.row(b), tape.models.row(b) + tape.models.columns);
    result.insert(result.end(), tape.parameters.row(b), tape.parameters.row(b) + tape.parameters.columns);
  }
  return result;
}

// Linear in the outputs, with fixed random coefficients: its gradient exercises every path.
template <class T>
struct FixedLoss : BundleLoss<T> {
  std::vector<T> coefficients;  // (sets, J + P)
  std::int64_t width;
  FixedLoss(std::int64_t sets, std::int64_t columns) : coefficients(sets * columns), width(columns) {
    Rng rng(4, Purpose::test, 1);
    for (T& c : coefficients) c = static_cast<T>(rng.normal());
  }
  void bundle(std::int64_t first, const typename Network<T>::Tape& tape, Matrix<T> d_models,
              Matrix<T> d_parameters, Workspace&) override {
    for (std::int64_t b = 0; b < tape.models.rows; ++b) {
      const T* c = coefficients.data() + (first + b) * width;
      std::copy_n(c, d_models.columns, d_models.row(b));
      std::copy_n(c + d_models.columns, d_parameters.columns, d_parameters.row(b));
    }
  }
};

TEST(Networks, EveryArchitectureIsCovered) {
  for (const std::string& name : architectures().names()) {
    const auto all = all_options();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const json& o) { return o["architecture"] == name; }))
        << name;
  }
}

// About thirty of every tensor, spread evenly: what is wrong with one weight is wrong with its neighbours.
std::vector<std::size_t> some_weights(const ParameterLayout& layout) {
  std::vector<std::size_t> places;
  for (const auto& tensor : layout.tensors()) {
    const std::int64_t stride = std::max<std::int64_t>(1, tensor.size / 30);
    for (std::int64_t i = 0; i < tensor.size; i += stride)
      places.push_back(static_cast<std::size_t>(tensor.offset + i));
  }
  return places;
}

void expect_gradients_of_differences(const Data& data, const NetworkConfig& config, const json& options) {
  const Network<double> network(config);
  std::vector<double> weights = initial(network);
  ThreadPool pool(2);
  BatchGradient<double> gradient(network, pool);
  FixedLoss<double> loss(5, 5);
  gradient.run(weights.data(), data.view(), loss, 1.0);
  const auto value = [&] {
    const std::vector<double> y = outputs(network, weights, data.view());
    return std::inner_product(y.begin(), y.end(), loss.coefficients.begin(), 0.0);
  };
  for (const std::size_t i : some_weights(network.layout())) {
    const double h = 1e-5;
    const double before = weights[i];
    weights[i] = before + h;
    const double up = value();
    weights[i] = before - h;
    const double down = value();
    weights[i] = before;
    const double expected = (up - down) / (2 * h);
    ASSERT_NEAR(gradient.gradient()[i], expected, 1e-6 * (1 + std::abs(expected)))
        << options << " weight " << i;
  }
}

void expect_gradients_of_differences(const Data& data, const std::vector<std::int64_t>& missing,
                                     bool learned = false) {
  for (const json& options : all_options()) {
    NetworkConfig config = small(options);
    config.missing = missing;
    if (learned) config.learn_input(data.view(), options["architecture"] == "sequence");
    expect_gradients_of_differences(data, config, options);
  }
}

TEST(Networks, GradientsEqualCentralDifferences) {
  expect_gradients_of_differences(Data(kSizes, 2, 1), {});
}

TEST(Networks, GradientsEqualCentralDifferencesWithMissingValues) {
  Data data(kSizes, 2, 1);
  for (std::size_t i = 0; i < data.x.size(); i += 3) data.x[i] = NAN;
  expect_gradients_of_differences(data, {0, 1});
}

// One column with long tails, one with three values.
Data wild() {
  Data data(kSizes, 2, 1);
  for (std::size_t i = 0; i < data.x.size(); i += 2) {
    data.x[i] = std::pow(data.x[i], 7.0f);
    data.x[i + 1] = std::round(std::clamp(data.x[i + 1], -1.0f, 1.0f));
  }
  return data;
}

TEST(Networks, GradientsEqualCentralDifferencesWithTransformedInputAndStatistics) {
  Data data = wild();
  expect_gradients_of_differences(data, {}, true);
  for (std::size_t i = 0; i < data.x.size(); i += 3) data.x[i] = NAN;
  expect_gradients_of_differences(data, {0, 1}, true);
}

template <class T>
std::vector<T> gradient_of(const Network<T>& network, const std::vector<T>& weights, Ragged<const float> data,
                           int threads = 1) {
  ThreadPool pool(threads);
  BatchGradient<T> gradient(network, pool);
  FixedLoss<T> loss(data.sets, 5);
  gradient.run(weights.data(), data, loss, 1.0);
  return gradient.gradient();
}

template <class A, class B>
void expect_near(const std::vector<A>& a, const std::vector<B>& b, double tolerance, const json& options) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(a[i]))) << options << " at " << i;
}

// Networks that read the rows of each label together.
std::vector<json> label_options_of_sets() {
  const json plain = {{"architecture", "set"}, {"inv_width", 6}, {"labels", 5}};
  std::vector<json> all = {plain};
  for (json more : std::vector<json>{{{"modules", 1}, {"pooling", "attention"}},
                                     {{"modules", 2}, {"pooling", "max"}, {"moments", 0}},
                                     {{"factor", false}, {"log_n", false}, {"post_layers", 0}}}) {
    more.update(plain);
    all.push_back(more);
  }
  return all;
}

// A value and a label, or nothing but two labels; some rows have none.
struct Grouped {
  Data data;
  NetworkConfig config;
  Grouped(const json& options, bool two, std::vector<std::int64_t> sizes = kSizes)
      : data(std::move(sizes), 2, 4), config(small(options)) {
    for (std::size_t i = 0; i < data.x.size(); ++i) {
      if (i % 2 == 1 || two) data.x[i] = i % 9 == 0 ? NAN : static_cast<float>(1 + (i / (i % 2 + 2)) % 4);
    }
    config.missing = {0, 1};
    config.learn_input(data.view(), false, two ? LabelGroups{{0}, {1}} : LabelGroups{{1}});
  }
};

TEST(Networks, GradientsEqualCentralDifferencesWithLabels) {
  for (const json& options : label_options_of_sets()) {
    for (const bool two : {false, true}) {
      const Grouped grouped(options, two);
      const Network<double> network(grouped.config);
      ASSERT_NE(network.layout().find(two ? "labels1.embed0.weight" : "labels0.embed0.weight"), nullptr);
      expect_gradients_of_differences(grouped.data, grouped.config, options);
    }
  }
}

// Of a data set in tiles the rows of one label may lie in any of them; of a bundle, in several chunks.
TEST(Networks, TilesAndChunksDoNotChangeWhatIsMadeOfLabels) {
  for (const json& options : label_options_of_sets()) {
    for (const auto& sizes : {kSizes, std::vector<std::int64_t>{120, 200, 3, 250, 90}}) {
      const Grouped grouped(options, false, sizes);
      const Network<double> whole(grouped.config);
      const std::vector<double> weights = initial(whole);
      const Ragged<const float> data = grouped.data.view();
      for (const std::int64_t rows : {1, 5, 40}) {
        const Network<double> tiled(grouped.config, rows);
        expect_near(outputs(whole, weights, data), outputs(tiled, weights, data), 1e-11, options);
        expect_near(gradient_of(whole, weights, data), gradient_of(tiled, weights, data), 1e-9, options);
      }
    }
  }
}

// Whose rows they are matters, not what they are called.
TEST(Networks, NamesOfLabelsAreIrrelevant) {
  const Grouped grouped(label_options_of_sets().front(), false);
  const Network<double> network(grouped.config);
  const std::vector<double> weights = initial(network);
  const std::vector<double> before = outputs(network, weights, grouped.data.view());
  Data renamed = grouped.data, regrouped = grouped.data;
  for (std::size_t i = 1; i < renamed.x.size(); i += 2) {
    renamed.x[i] = 5 - renamed.x[i];
    regrouped.x[i] = renamed.x[i] > 2 ? 1 : renamed.x[i];
  }
  expect_near(before, outputs(network, weights, renamed.view()), 1e-11, {});
  const std::vector<double> other = outputs(network, weights, regrouped.view());
  EXPECT_GT(std::abs(other[0] - before[0]), 1e-6);
}

TEST(Networks, OrderOfObservationsIsIrrelevantForSets) {
  Data data(kSizes, 2, 2);
  for (const json& options : set_options()) {
    const Network<double> network(small(options));
    const std::vector<double> weights = initial(network);
    const std::vector<double> before = outputs(network, weights, data.view());
    Data reversed = data;
    for (std::size_t b = 0; b + 1 < data.offsets.size(); ++b) {
      for (std::int64_t r = data.offsets[b]; r < data.offsets[b + 1]; ++r) {
        const std::int64_t mirror = data.offsets[b] + data.offsets[b + 1] - 1 - r;
        std::copy_n(data.x.data() + 2 * r, 2, reversed.x.data() + 2 * mirror);
      }
    }
    const std::vector<double> after = outputs(network, weights, reversed.view());
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-11) << options;
  }
}

TEST(Networks, ABatchEqualsItsDataSetsOneByOne) {
  const Data data(kSizes, 2, 3);
  for (const json& options : all_options()) {
    const Network<double> network(small(options));
    const std::vector<double> weights = initial(network);
    const std::vector<double> together = outputs(network, weights, data.view());
    for (std::int64_t b = 0; b < 5; ++b) {
      std::int64_t offsets[2];
      const std::vector<double> alone = outputs(network, weights, sub_batch(data.view(), b, 1, offsets));
      for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(alone[i], together[b * 5 + i], 1e-12) << options;
    }
  }
}

TEST(Networks, OutputsDoNotDependOnWhatIsKept) {
  const Data data(kSizes, 2, 8);
  for (const json& options : all_options()) {
    const Network<double> network(small(options));
    const std::vector<double> weights = initial(network);
    std::vector<double> packed(network.packed_size());
    network.pack_all(weights.data(), packed.data());
    Workspace a, b;
    const Matrix<double> kept = network.forward(packed.data(), data.view(), a, true)->models;
    const Matrix<double> quick = network.forward(packed.data(), data.view(), b, false)->models;
    for (std::int64_t r = 0; r < kept.rows; ++r) {
      for (std::int64_t c = 0; c < kept.columns; ++c) EXPECT_EQ(kept.row(r)[c], quick.row(r)[c]) << options;
    }
  }
}

TEST(Networks, BundlesAreEvenAndWithinLimits) {
  BundlePlan plan;
  std::vector<std::int64_t> offsets;
  for (std::int64_t b = 0; b <= 64; ++b) offsets.push_back(50 * b);
  plan.cut(offsets.data(), 64, 256, 64);
  EXPECT_EQ(plan.size(), 16);
  for (std::int64_t i = 0; i < 16; ++i) EXPECT_EQ(plan.first(i), 4 * i);
  plan.cut(offsets.data(), 32, 1 << 20, 16);  // long series: as many as a bundle takes
  EXPECT_EQ(plan.size(), 2);
  EXPECT_EQ(plan.first(1), 16);
  plan.cut(offsets.data(), 1, 10, 10);  // one data set that is too large alone
  EXPECT_EQ(plan.size(), 1);
}

TEST(Networks, FloatFollowsDouble) {
  const Data data(kSizes, 2, 5);
  for (const json& options : all_options()) {
    const Network<double> exact(small(options));
    const Network<float> quick(small(options));
    const std::vector<double> weights = initial(exact);
    const std::vector<double> a = outputs(exact, weights, data.view());
    const std::vector<float> b = outputs(quick, {weights.begin(), weights.end()}, data.view());
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-4 * (1 + std::abs(a[i]))) << options;
  }
}

// Networks whose data sets come in tiles, with and without modules that wait for what all tiles have to say.
std::vector<json> tiled_options() {
  std::vector<json> all = set_options();
  for (const std::string& pooling : pooling_names()) {
    for (const int modules : {0, 3}) {
      all.push_back({{"architecture", "set"},
                     {"modules", modules},
                     {"inv_width", 6},
                     {"after_width", 7},
                     {"equiv_width", 5},
                     {"moments", modules},
                     {"pooling", pooling}});
    }
  }
  return all;
}

// Three data sets that are longer than a tile of 5 rows, two that are not.
struct Tiled {
  Data data = wild();
  NetworkConfig config;
  explicit Tiled(const json& options) : config(small(options)) {
    for (std::size_t i = 0; i < data.x.size(); i += 7) data.x[i] = NAN;
    config.missing = {0, 1};
    config.learn_input(data.view(), false);
  }
};

TEST(Networks, TilesDoNotChangeAnswers) {
  for (const json& options : tiled_options()) {
    const Tiled tiled(options);
    const Network<double> whole(tiled.config);
    const std::vector<double> weights = initial(whole);
    const std::vector<double> expected = outputs(whole, weights, tiled.data.view());
    for (const std::int64_t rows : {1, 5, 11})
      expect_near(expected, outputs(Network<double>(tiled.config, rows), weights, tiled.data.view()), 1e-12,
                  options);
    const std::vector<float> rounded(weights.begin(), weights.end());
    expect_near(expected, outputs(Network<float>(tiled.config, 5), rounded, tiled.data.view()), 1e-4,
                options);
  }
}

// Nothing being kept, sequences go through their convolutions in tiles, too.
TEST(Networks, TilesDoNotChangeAnswersOfSequences) {
  for (const json& options : all_options()) {
    if (options["architecture"] != "sequence") continue;
    const Data data({29, 4, 40, 2}, 2, 8);
    const Network<double> whole(small(options));
    const std::vector<double> weights = initial(whole);
    std::vector<double> packed(whole.packed_size());
    whole.pack_all(weights.data(), packed.data());
    Workspace a, b;
    const Matrix<double> expected = whole.forward(packed.data(), data.view(), a)->models;
    for (const std::int64_t rows : {1, 5, 12}) {
      const Network<double> tiled(small(options), rows);
      const Matrix<double> found = tiled.forward(packed.data(), data.view(), b, false)->models;
      for (std::int64_t r = 0; r < found.rows; ++r) {
        for (std::int64_t c = 0; c < found.columns; ++c)
          EXPECT_NEAR(found.row(r)[c], expected.row(r)[c], 1e-12) << options << rows;
      }
    }
  }
}

TEST(Networks, TilesDoNotChangeGradients) {
  for (const json& options : tiled_options()) {
    const Tiled tiled(options);
    const Network<double> whole(tiled.config);
    const std::vector<double> weights = initial(whole);
    const std::vector<double> expected = gradient_of(whole, weights, tiled.data.view());
    for (const std::int64_t rows : {1, 5, 11})
      expect_near(expected, gradient_of(Network<double>(tiled.config, rows), weights, tiled.data.view()),
                  1e-10, options);
    const std::vector<float> rounded(weights.begin(), weights.end());
    expect_near(expected, gradient_of(Network<float>(tiled.config, 5), rounded, tiled.data.view()), 2e-3,
                options);
  }
}

// Data sets of one bundle that go through in several chunks, one of them longer than such a chunk.
TEST(Networks, ChunksOfABundleDoNotChangeAnswersOrGradients) {
  const Data data({120, 100, 90, 200, 3, 50, 260, 250}, 2, 6);
  for (const json& options : tiled_options()) {
    const Network<double> whole(small(options));
    const Network<double> tiled(small(options), 40);
    const std::vector<double> weights = initial(whole);
    expect_near(outputs(tiled, weights, data.view()), outputs(whole, weights, data.view()), 1e-11, options);
    expect_near(gradient_of(tiled, weights, data.view()), gradient_of(whole, weights, data.view()), 1e-9,
                options);
  }
}

TEST(Networks, DataSetsThatFitATileAreTheSameToTheBit) {
  for (const json& options : set_options()) {
    const Tiled tiled(options);
    const Network<float> whole(tiled.config);
    const Network<float> tight(tiled.config, 12);  // the longest has as many rows
    const std::vector<float> weights = initial(whole);
    EXPECT_EQ(outputs(whole, weights, tiled.data.view()), outputs(tight, weights, tiled.data.view()));
    EXPECT_EQ(gradient_of(whole, weights, tiled.data.view()), gradient_of(tight, weights, tiled.data.view()));
  }
}

// Among them data sets long enough to be shared out among threads.
TEST(NetworksThreaded, BitsOfTiledDataSetsDoNotDependOnThreads) {
  const Data data({300, 3, 90, 280, 40}, 2, 6);
  for (const json& options : tiled_options()) {
    const Network<float> network(small(options), 8);
    const std::vector<float> weights = initial(network);
    const std::vector<float> expected = outputs(network, weights, data.view());
    const std::vector<float> gradient = gradient_of(network, weights, data.view());
    for (const int threads : {2, 7}) {
      ThreadPool pool(threads);
      BatchGradient<float> runner(network, pool);
      std::vector<float> found(expected.size());
      runner.forward(weights.data(), data.view(), [&](std::int64_t first, const Network<float>::Tape& tape) {
        for (std::int64_t b = 0; b < tape.models.rows; ++b) {
          float* to = std::copy_n(tape.models.row(b), 3, found.data() + 5 * (first + b));
          std::copy_n(tape.parameters.row(b), 2, to);
        }
      });
      EXPECT_EQ(found, expected) << options;
      EXPECT_EQ(gradient_of(network, weights, data.view(), threads), gradient) << options;
    }
  }
}

// Also with fewer data sets than threads, and where series of different lengths run together on few threads.
// A sanitizer looks for races, which a few threads have, too.
#ifdef OCCAM_THREAD_SANITIZER
constexpr int kThreads[] = {1, 7};
constexpr std::int64_t kSets[] = {70, 5};
#else
constexpr int kThreads[] = {1, 2, 3, 7, 16};
constexpr std::int64_t kSets[] = {70, 40, 5, 1};
#endif

TEST(NetworksThreaded, GradientBitsDoNotDependOnThreads) {
  for (const std::int64_t sets : kSets) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t i = 0; i < sets; ++i) sizes.push_back(4 + (i * 37) % 290);
    const Data data(sizes, 2, 6);
    for (const json& options : all_options()) {
      const Network<float> network(small(options));
      const std::vector<float> weights = initial(network);
      std::vector<float> expected;
      for (const int threads : kThreads) {
        ThreadPool pool(threads);
        BatchGradient<float> gradient(network, pool);
        FixedLoss<float> loss(sets, 5);
        gradient.run(weights.data(), data.view(), loss, 1.0 / static_cast<double>(sets));
        if (threads == 1) expected = gradient.gradient();
        EXPECT_EQ(gradient.gradient(), expected) << options << " on " << threads << " threads";
      }
    }
  }
}

TEST(NetworksThreaded, OutputBitsDoNotDependOnThreads) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < 70; ++i) sizes.push_back(4 + (i * 37) % 90);
  const Data data(sizes, 2, 6);
  for (const json& options : all_options()) {
    const Network<float> network(small(options));
    const std::vector<float> weights = initial(network);
    std::vector<float> expected;
    for (const int threads : {1, 2, 3, 7}) {
      ThreadPool pool(threads);
      BatchGradient<float> runner(network, pool);
      std::vector<float> models(70 * 3);
      runner.forward(weights.data(), data.view(), [&](std::int64_t first, const Network<float>::Tape& tape) {
        for (std::int64_t b = 0; b < tape.models.rows; ++b)
          std::copy_n(tape.models.row(b), 3, models.begin() + 3 * (first + b));
      });
      if (threads == 1) expected = models;
      EXPECT_EQ(models, expected) << options << " on " << threads << " threads";
    }
  }
}

TEST(Networks, ConfigRoundTrips) {
  for (const json& options : all_options()) {
    const Network<float> network(small(options));
    const NetworkConfig again = NetworkConfig::from_json(json::parse(network.config().json().dump()));
    EXPECT_EQ(again.json(), network.config().json());
    EXPECT_EQ(Network<float>(again).weight_count(), network.weight_count());
  }
}

TEST(Networks, RefuseBadInput) {
  const Network<float> network(small({{"architecture", "set"}}));
  const auto message = [&](const Network<float>& net, Ragged<const float> data) -> std::string {
    try {
      net.check(data);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_data);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(network, Data({3, 1}, 2, 1).view()), "");
  EXPECT_EQ(message(network, Data({3, 0, 2}, 2, 1).view()), "data set 1 has no observations");
  EXPECT_EQ(message(network, Data({3}, 3, 1).view()), "the data have 3 columns, the network expects 2");
  Data broken({3}, 2, 1);
  broken.x[3] = std::nanf("");
  EXPECT_EQ(message(network, broken.view()), "observation 1, column 1: nan is not a finite number");
  const Network<float> sequence(small(all_options()[set_options().size()]));
  EXPECT_EQ(message(sequence, Data({5, 3}, 2, 1).view()), "");  // continued: its windows take 4 rows
  // Windows over more rows than anybody continues a series to.
  const Network<float> wide(small({{"architecture", "sequence"},
                                   {"lstm", 0},
                                   {"filters", {2, 2}},
                                   {"kernels", {64, 64}},
                                   {"strides", {32, 1}}}));
  EXPECT_EQ(wide.shortest(), 2080);
  EXPECT_EQ(message(wide, Data({3000, 2000}, 2, 1).view()),
            "data set 1 has 2000 observations, the network needs at least 2080");
}

// What follows a short series is zeros, whatever the windows.
TEST(Networks, ShortSeriesAreContinued) {
  const json options = {{"architecture", "sequence"},
                        {"lstm", 0},
                        {"window", 0},
                        {"log_n", false},
                        {"growth", false},
                        {"filters", {3}},
                        {"kernels", {4}},
                        {"strides", {1}}};
  NetworkConfig config = small(options);
  config.standardisation.mean = {0, 0};
  const Network<double> network(config);
  const std::vector<double> weights = initial(network);
  const Data series({2}, 2, 1);
  Data continued({4}, 2, 1);
  std::fill(continued.x.begin(), continued.x.end(), 0.0f);
  std::copy(series.x.begin(), series.x.end(), continued.x.begin());
  EXPECT_EQ(outputs(network, weights, series.view()), outputs(network, weights, continued.view()));
}

// Windows of a series are read as a set network reads rows that hold them; that of one row is continued.
TEST(Networks, WindowsAreRowsOfASet) {
  constexpr std::int64_t kWindow = 3, kColumns = 2;
  const json none = json::array();
  NetworkConfig series = small({{"architecture", "sequence"},
                                {"lstm", 0},
                                {"filters", none},
                                {"kernels", none},
                                {"strides", none},
                                {"window", kWindow},
                                {"window_width", 6},
                                {"moments", 3},
                                {"moment_blocks", 2},
                                {"log_n", false},
                                {"growth", false}});
  series.standardisation.mean = {0.3, -0.2};
  series.standardisation.scale = {1.5, 0.8};
  NetworkConfig set =
      small({{"inv_width", 6}, {"moments", 3}, {"moment_blocks", 2}, {"log_n", false}, {"growth", false}});
  set.channels = kWindow * kColumns;
  set.standardisation = series.standardisation;
  set.standardisation.mean.clear();
  set.standardisation.scale.clear();
  for (int i = 0; i < kWindow; ++i) {
    set.standardisation.mean.insert(set.standardisation.mean.end(), {0.3, -0.2});
    set.standardisation.scale.insert(set.standardisation.scale.end(), {1.5, 0.8});
  }
  const std::vector<std::int64_t> sizes = {1, 3, 4, 40};
  const Data data(sizes, kColumns, 1);
  std::vector<std::int64_t> windows;
  for (const std::int64_t n : sizes) windows.push_back(std::max(n, kWindow) - kWindow + 1);
  Data rows(windows, kWindow * kColumns, 1);
  float* to = rows.x.data();
  const float* from = data.x.data();
  for (std::size_t set_at = 0; set_at < sizes.size(); from += sizes[set_at++] * kColumns) {
    for (std::int64_t t = 0; t < windows[set_at]; ++t) {
      for (std::int64_t i = 0; i < kWindow * kColumns; ++i) {
        const bool there = t * kColumns + i < sizes[set_at] * kColumns;
        *to++ = there ? from[t * kColumns + i] : i % kColumns == 0 ? 0.3f : -0.2f;
      }
    }
  }
  const Network<double> of_series(series), of_set(set);
  const std::vector<double> weights = initial(of_set);
  ASSERT_EQ(initial(of_series).size(), weights.size());
  const auto expected = outputs(of_set, weights, rows.view());
  const auto got = outputs(of_series, weights, data.view());
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
  // In tiles, too, where nothing is kept.
  const Network<double> tiled(series, 8);
  const auto in_tiles = outputs(tiled, weights, data.view());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], in_tiles[i], 1e-10) << i;
}

TEST(Networks, RefuseBadOptions) {
  for (const json& options : std::vector<json>{{{"architecture", "sett"}},
                                               {{"inv_widht", 3}},
                                               {{"inv_width", 0}},
                                               {{"inv_width", 1e12}},
                                               {{"inv_width", "wide"}},
                                               {{"pooling", "median"}},
                                               {{"post_layers", 10000}},
                                               {{"architecture", "sequence"}, {"filters", {3}}},
                                               {{"architecture", "sequence"},
                                                {"lstm", 0},
                                                {"window", 0},
                                                {"filters", json::array()},
                                                {"kernels", json::array()},
                                                {"strides", json::array()}}}) {
    try {
      const Network<float> network(small(options));
      ADD_FAILURE() << options;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_config) << options << " " << error.what();
    }
  }
}

// ---- PyTorch
// --------------------------------------------------------------------------------------------------

template <class T>
void expect_pytorch(const std::string& name, const json& options) {
  Reference<T> ref(name);
  NetworkConfig config;
  config.channels = 2;
  config.models = 3;
  config.standardisation = {ref.values("input_mean"), ref.values("input_scale"), 0, 1, 1};
  if (ref.has("log_n_mean")) config.standardisation.log_n_mean = ref.number("log_n_mean");
  if (ref.has("log_n_scale")) config.standardisation.log_n_scale = ref.number("log_n_scale");
  if (ref.has("sum_scale")) config.standardisation.typical_n = 1 / ref.number("sum_scale");
  json table = {{"post_width", 7}, {"post_layers", 2}, {"summary", 4}, {"growth", false}};
  table.update(options);
  if (options["architecture"] == "set")
    table.update(
        {{"moments", 0}, {"modules", 2}, {"after_width", options["inv_width"]}});  // as of the references
  config.set_options(table, name);
  const Network<T> network(config);
  std::vector<T> weights(network.weight_count()), gradient(network.weight_count()),
      packed(network.packed_size());
  for (const Tensor& tensor : network.layout().tensors()) {
    EXPECT_EQ(tensor.shape, ref.shape(tensor.name)) << tensor.name;
    const std::vector<T> part = ref.flat(tensor.name);
    std::copy(part.begin(), part.end(), weights.begin() + tensor.offset);
  }
  network.pack_all(weights.data(), packed.data());
  const std::vector<double> wide = ref.values("x");
  const std::vector<float> x(wide.begin(), wide.end());
  const auto offsets = ref.offsets();
  Workspace workspace;
  auto& tape =
      *network.forward(packed.data(), {{x.data(), offsets.back(), 2, 2}, offsets.data(), 3}, workspace);
  ref.expect_equal(tape.summary, "summary");
  ref.expect_equal(tape.models, "y");
  network.backward(packed.data(), tape, ref.matrix("dy"), {}, gradient.data(), workspace);
  for (const Tensor& tensor : network.layout().tensors()) {
    ref.expect_equal(gradient.data() + tensor.offset, "d_" + tensor.name);
  }
}

TEST(Networks, SetEqualsPyTorch) {
  for (const auto& [name, pooling] :
       std::vector<std::pair<std::string, std::string>>{{"set_mean", "mean"},
                                                        {"set_sum", "sum"},
                                                        {"set_mean_sum", "mean+sum"},
                                                        {"set_max", "max"},
                                                        {"set_attention", "attention"}}) {
    const json options = {{"architecture", "set"},
                          {"inv_width", 6},
                          {"equiv_width", 5},
                          {"pooling", pooling},
                          {"log_n", pooling != "attention"}};
    expect_pytorch<double>(name, options);
    expect_pytorch<float>(name, options);
  }
}

TEST(Networks, SequenceEqualsPyTorch) {
  const json conv = {{"filters", {4, 3}}, {"kernels", {3, 2}}, {"strides", {1, 2}}};
  const json none = {{"filters", json::array()}, {"kernels", json::array()}, {"strides", json::array()}};
  for (const auto& [name, lstm, pooling] : std::vector<std::tuple<std::string, int, std::string>>{
           {"sequence_both", 5, "max"}, {"sequence_lstm", 5, "max"}, {"sequence_conv", 0, "mean"}}) {
    json options = {{"architecture", "sequence"}, {"lstm", lstm}, {"window", 0}, {"pooling", pooling}};
    options.update(name == "sequence_lstm" ? none : conv);
    expect_pytorch<double>(name, options);
    expect_pytorch<float>(name, options);
  }
}

}  // namespace
}  // namespace occam
