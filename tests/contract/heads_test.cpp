// What every registered head promises, on every architecture, and the variational ones against PyTorch.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "network_support.hpp"
#include "occam/networks/batch_gradient.hpp"
#include "occam/networks/network_file.hpp"
#include "occam/nn/loss.hpp"
#include "occam/nn/reference.hpp"

namespace occam {
namespace {

using nlohmann::json;
using namespace testing_support;

// One small network for each head and architecture.
std::vector<json> heads_on_bodies() {
  std::vector<json> all;
  for (const std::string& head : heads().names()) {
    json set = {{"architecture", "set"}, {"modules", 1},     {"inv_width", 6},
                {"after_width", 6},      {"equiv_width", 5}, {"pooling", "attention"}};
    json sequence = {{"architecture", "sequence"}, {"lstm", 5},         {"window", 0},
                     {"filters", {4, 3}},          {"kernels", {3, 2}}, {"strides", {1, 2}}};
    for (json* options : {&set, &sequence}) {
      (*options)["head"] = head;
      const json own = heads().at(head).resolve(json::object());
      if (own.contains("latents"))
        options->update({{"encoder_width", 9}, {"encoder_layers", 2}, {"latents", 3}});
      if (own.contains("latents")) (*options)["latent_weight"] = 0.7;
      if (own.contains("dropout_samples")) (*options)["dropout_samples"] = 70;
      all.push_back(*options);
    }
  }
  return all;
}

bool is_random(const json& options) {
  return options["head"] != "evidential" && options["head"] != "softmax";
}

// Linear in the outputs, plus what the head adds; notes the value of each data set.
template <class T>
struct NotedLoss : BundleLoss<T> {
  std::vector<T> coefficients;  // (sets, J + P)
  std::vector<double> values;   // (sets)
  explicit NotedLoss(std::int64_t sets) : coefficients(static_cast<std::size_t>(sets * 5)), values(sets) {
    Rng rng(4, Purpose::test, 1);
    for (T& c : coefficients) c = static_cast<T>(rng.normal());
  }
  void bundle(std::int64_t first, const typename Network<T>::Tape& tape, Matrix<T> d_models,
              Matrix<T> d_parameters, Workspace&) override {
    for (std::int64_t b = 0; b < tape.models.rows; ++b) {
      const T* c = coefficients.data() + (first + b) * 5;
      std::copy_n(c, 3, d_models.row(b));
      std::copy_n(c + 3, 2, d_parameters.row(b));
      double& value = values[static_cast<std::size_t>(first + b)];
      value = tape.penalty != nullptr ? tape.penalty[b] : 0;
      for (std::int64_t j = 0; j < 3; ++j) value += c[j] * tape.models.row(b)[j];
      for (std::int64_t p = 0; p < 2; ++p) value += c[3 + p] * tape.parameters.row(b)[p];
    }
  }
};

template <class T>
std::vector<double> answers(const Network<T>& network, const std::vector<T>& weights,
                            Ragged<const float> data, ThreadPool& pool) {
  std::vector<double> result(static_cast<std::size_t>(data.sets * 6));
  BatchGradient<T> runner(network, pool);
  runner.answer(weights.data(), data, 1 << 20,
                [&](std::int64_t first, const typename Network<T>::Tape& tape, const HeadAnswer& answer) {
                  for (std::int64_t b = 0; b < tape.models.rows; ++b) {
                    double* out = result.data() + 6 * (first + b);
                    for (std::int64_t j = 0; j < 3; ++j) {
                      out[j] = answer.log_p.data != nullptr ? answer.log_p.row(b)[j] : tape.models.row(b)[j];
                      out[3 + j] = answer.spread.data != nullptr ? answer.spread.row(b)[j] : 0;
                    }
                  }
                });
  return result;
}

TEST(Heads, AreWhatTheyAreCalled) {
  EXPECT_EQ(heads().names(),
            (std::vector<std::string>{"evidential", "softmax", "mc-dropout", "vae", "mmd-vae"}));
  for (const std::string& name : heads().names()) {
    EXPECT_EQ(heads().at(name).concentrations, name == "evidential");
    EXPECT_EQ(heads().at(name).samples, name == "mc-dropout");
  }
}

// All options stand in one table, so that their names must differ.
TEST(Heads, SharesNoOptionWithABody) {
  for (const std::string& body : architectures().names()) {
    const json of_body = architectures().at(body).resolve(json::object());
    for (const std::string& head : heads().names()) {
      const json of_head = heads().at(head).resolve(json::object());
      for (const auto& [key, value] : of_head.items()) {
        EXPECT_FALSE(of_body.contains(key)) << body << " " << head << " " << key;
      }
    }
  }
}

TEST(Heads, GradientsEqualCentralDifferencesWithTheNoiseHeldFixed) {
  const Data data(kSizes, 2, 1);
  const PassNoise given{3, 1000};
  for (const json& options : heads_on_bodies()) {
    for (const PassNoise* noise : {static_cast<const PassNoise*>(nullptr), &given}) {
      const Network<double> network(small(options));
      std::vector<double> weights = initial(network);
      ThreadPool pool(1);
      BatchGradient<double> gradient(network, pool);
      NotedLoss<double> loss(5);
      gradient.run(weights.data(), data.view(), loss, 1.0, {}, noise);
      const std::vector<double> found = gradient.gradient();
      const auto value = [&] {
        gradient.run(weights.data(), data.view(), loss, 1.0, {}, noise);
        return std::accumulate(loss.values.begin(), loss.values.end(), 0.0);
      };
      for (std::size_t i = 0; i < weights.size(); i += 7) {
        const double h = 1e-5;
        const double before = weights[i];
        weights[i] = before + h;
        const double up = value();
        weights[i] = before - h;
        const double down = value();
        weights[i] = before;
        const double expected = (up - down) / (2 * h);
        ASSERT_NEAR(found[i], expected, 1e-6 * (1 + std::abs(expected))) << options << " weight " << i;
      }
    }
  }
}

TEST(Heads, NoiseBelongsToTheDataSet) {
  std::vector<std::int64_t> sizes;  // enough for several bundles
  for (std::int64_t i = 0; i < 50; ++i) sizes.push_back(20 + (i * 37) % 90);
  const Data data(sizes, 2, 1);
  for (const json& options : heads_on_bodies()) {
    const Network<double> network(small(options));
    const std::vector<double> weights = initial(network);
    ThreadPool pool(1);
    BatchGradient<double> gradient(network, pool);
    const auto values = [&](Ragged<const float> part, std::uint64_t seed, std::uint64_t item) {
      NotedLoss<double> loss(part.sets);
      std::fill(loss.coefficients.begin(), loss.coefficients.end(), 1.0);
      const PassNoise noise{seed, item};
      gradient.run(weights.data(), part, loss, 1.0, {}, &noise);
      return loss.values;
    };
    const std::vector<double> all = values(data.view(), 1, 10);
    EXPECT_EQ(all, values(data.view(), 1, 10)) << options;
    EXPECT_EQ(all != values(data.view(), 1, 11), is_random(options)) << options;
    EXPECT_EQ(all != values(data.view(), 2, 10), is_random(options)) << options;
    if (options["head"] == "mmd-vae") continue;  // whose data sets are compared with each other
    std::int64_t offsets[3];
    const std::vector<double> some = values(sub_batch(data.view(), 40, 2, offsets), 1, 50);
    EXPECT_NEAR(some[0], all[40], 1e-12) << options;
    EXPECT_NEAR(some[1], all[41], 1e-12) << options;
  }
}

TEST(Heads, AnswersAreProbabilitiesThatNeitherOrderNorCompanyChanges) {
  const Data data(kSizes, 2, 3);
  ThreadPool pool(1);
  for (const json& options : heads_on_bodies()) {
    const Network<double> network(small(options));
    const std::vector<double> weights = initial(network);
    const std::vector<double> together = answers(network, weights, data.view(), pool);
    for (std::int64_t b = 0; b < 5; ++b) {
      std::int64_t offsets[2];
      const std::vector<double> alone =
          answers(network, weights, sub_batch(data.view(), b, 1, offsets), pool);
      for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(alone[i], together[b * 6 + i], 1e-12) << options;
      if (network.config().head_kind().concentrations) continue;
      double sum = 0;
      for (std::size_t j = 0; j < 3; ++j) sum += std::exp(together[b * 6 + j]);
      EXPECT_NEAR(sum, 1, 1e-12) << options;
    }
    if (options["architecture"] != "set") continue;
    Data reversed = data;
    for (std::size_t b = 0; b + 1 < data.offsets.size(); ++b) {
      for (std::int64_t r = data.offsets[b]; r < data.offsets[b + 1]; ++r) {
        const std::int64_t mirror = data.offsets[b] + data.offsets[b + 1] - 1 - r;
        std::copy_n(data.x.data() + 2 * r, 2, reversed.x.data() + 2 * mirror);
      }
    }
    const std::vector<double> after = answers(network, weights, reversed.view(), pool);
    for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], together[i], 1e-11) << options;
  }
}

TEST(HeadsThreaded, BitsDoNotDependOnThreads) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < 50; ++i) sizes.push_back(4 + (i * 37) % 90);
  const Data data(sizes, 2, 6);
  const PassNoise noise{1, 50};
  for (const json& options : heads_on_bodies()) {
    const Network<float> network(small(options));
    const std::vector<float> weights = initial(network);
    std::vector<std::vector<float>> gradients;
    std::vector<std::vector<double>> answered;
    for (const int threads : {1, 7}) {
      ThreadPool pool(threads);
      BatchGradient<float> gradient(network, pool);
      NotedLoss<float> loss(50);
      gradient.run(weights.data(), data.view(), loss, 1.0 / 50, {}, &noise);
      gradients.push_back(gradient.gradient());
      answered.push_back(answers(network, weights, data.view(), pool));
    }
    EXPECT_EQ(gradients[0], gradients[1]) << options;
    EXPECT_EQ(answered[0], answered[1]) << options;
  }
}

TEST(Heads, AreSavedAndLoaded) {
  const Data data({3, 5}, 2, 7);
  ThreadPool pool(1);
  for (json options : heads_on_bodies()) {
    if (options["architecture"] != "set") continue;
    options["pooling"] = "mean";
    NetworkFile file;
    file.config = small(options);
    const Network<float> network(file.config);
    file.config = network.config();
    file.members.push_back(initial(network));
    file.columns = {"x", "y"};
    file.model_names = {"a", "b", "c"};
    file.model_prior = {0.5, 0.25, 0.25};
    file.parameter_names = {"s", "t"};
    file.parameter_mean = file.parameter_scale = {1, 1};
    file.parameter_mask.assign(3, {1, 1});
    file.golden = make_golden(file, data.view());
    const Safetensors contents = network_to_safetensors(file);
    const NetworkFile again = network_from_safetensors(contents, "n.occam");
    EXPECT_EQ(again.config.json(), file.config.json()) << options;
    EXPECT_EQ(again.members, file.members) << options;
    EXPECT_EQ(safetensors_bytes(network_to_safetensors(again)), safetensors_bytes(contents)) << options;
    EXPECT_EQ(answers(Network<float>(again.config), again.members[0], data.view(), pool),
              answers(network, file.members[0], data.view(), pool))
        << options;
    // The default head leaves no trace, and only it has a link.
    const json described = json::parse(contents.metadata.at("description"));
    const bool evidential = options["head"] == "evidential";
    EXPECT_EQ(described["network"].contains("head"), !evidential);
    EXPECT_EQ(described["network"]["options"].contains("head"), !evidential);
    EXPECT_EQ(described.contains("link"), evidential);
  }
}

// An answer is the mean over passes of training, one for each mask.
TEST(Heads, DropoutAnswersWithTheMeanOverMasks) {
  const Data data({4, 6}, 2, 9);
  const Network<double> network(
      small({{"head", "mc-dropout"}, {"dropout_samples", 150}, {"post_layers", 3}}));
  const std::vector<double> weights = initial(network);
  ThreadPool pool(1);
  const std::vector<double> answered = answers(network, weights, data.view(), pool);
  std::vector<double> packed(static_cast<std::size_t>(network.packed_size()));
  network.pack_all(weights.data(), packed.data());
  for (std::int64_t b = 0; b < 2; ++b) {
    std::int64_t offsets[2];
    const Ragged<const float> one = sub_batch(data.view(), b, 1, offsets);
    std::vector<double> sum(3), squares(3), log_p(3);
    for (std::uint64_t s = 0; s < 150; ++s) {
      Workspace workspace;
      const PassNoise noise{0x6f6363616d, s};
      const double* f = network.forward(packed.data(), one, workspace, true, &noise)->models.row(0);
      log_softmax({f, 3}, log_p);
      for (std::size_t j = 0; j < 3; ++j) {
        sum[j] += std::exp(log_p[j]) / 150;
        squares[j] += std::exp(2 * log_p[j]) / 150;
      }
    }
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t at = static_cast<std::size_t>(b) * 6 + j;
      EXPECT_NEAR(std::exp(answered[at]), sum[j], 1e-12);
      EXPECT_NEAR(answered[at + 3], std::sqrt((squares[j] - sum[j] * sum[j]) * 150 / 149), 1e-10);
      EXPECT_GT(answered[at + 3], 0.01);
    }
  }
}

TEST(Heads, RefuseBadOptions) {
  const auto message = [](const json& options) -> std::string {
    try {
      const Network<float> network(small(options));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_config) << options;
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message({{"head", "vea"}}).find("vae"), std::string::npos) << message({{"head", "vea"}});
  EXPECT_EQ(message({{"head", "softmax"}, {"latents", 3}}),
            "test: 'latents' is an option of the head vae or mmd-vae, but the head is softmax");
  EXPECT_NE(message({{"head", "mc-dropout"}, {"dropout_rate", 1}}).find("at most 0.95"), std::string::npos);
  EXPECT_NE(message({{"head", "mc-dropout"}, {"dropout_samples", 1}}).find("at least 2"), std::string::npos);
  EXPECT_NE(message({{"head", "mc-dropout"}, {"post_layers", 0}}).find("post_layers is 0"),
            std::string::npos);
  EXPECT_NE(message({{"head", "vae"}, {"latents", 0}}).find("at least 1"), std::string::npos);
  EXPECT_NE(message({{"head", "vae"}, {"latent_weight", -1}}).find("at least 0"), std::string::npos);
  EXPECT_EQ(message({{"head", "vae"}, {"post_layers", 0}, {"summary", 0}}), "accepted");
}

TEST(Heads, OptionsOfAHeadAreForgottenWithIt) {
  NetworkConfig config = small({{"head", "vae"}, {"latents", 7}});
  EXPECT_EQ(config.head["latents"], 7);
  config.set_options({{"latent_weight", 0.5}}, "t");
  EXPECT_EQ(config.head["latents"], 7);
  config.set_options({{"head", "mmd-vae"}}, "t");
  EXPECT_EQ(config.head["latents"], 5);
  config.set_options({{"head", "evidential"}}, "t");
  EXPECT_TRUE(config.head.empty());
}

TEST(Heads, BundlesHoldAsManyDataSetsAsAHeadNeeds) {
  BundlePlan plan;
  std::vector<std::int64_t> offsets;
  for (std::int64_t b = 0; b <= 30; ++b) offsets.push_back(500 * b);
  plan.cut(offsets.data(), 30, 256, 64);
  EXPECT_EQ(plan.size(), 30);
  plan.cut(offsets.data(), 30, 256, 64, 4);
  for (std::int64_t i = 0; i < plan.size(); ++i) EXPECT_GE(plan.first(i + 1) - plan.first(i), 4);
  EXPECT_EQ(plan.size(), 7);
  plan.cut(offsets.data(), 3, 256, 64, 4);  // no more than there are
  EXPECT_EQ(plan.size(), 1);
}

// Values and gradients of a whole network in training, noise and penalty included.
template <class T>
void expect_pytorch_head(const std::string& name, const std::string& head) {
  Reference<T> ref(name);
  NetworkConfig config;
  config.channels = 2;
  config.models = 3;
  config.standardisation = {ref.values("input_mean"), ref.values("input_scale"), ref.number("log_n_mean"),
                            ref.number("log_n_scale"), 1};
  config.set_options({{"architecture", "set"},
                      {"inv_width", 6},
                      {"after_width", 6},
                      {"equiv_width", 5},
                      {"moments", 0},
                      {"modules", 2},
                      {"pooling", "mean"},
                      {"post_width", 7},
                      {"summary", 4},
                      {"head", head},
                      {"encoder_width", 8},
                      {"encoder_layers", 2},
                      {"latents", 2},
                      {"latent_weight", ref.number("weight")}},
                     name);
  const Network<T> network(config);
  std::vector<T> weights(static_cast<std::size_t>(network.weight_count())), gradient(weights.size()),
      packed(static_cast<std::size_t>(network.packed_size()));
  for (const Tensor& tensor : network.layout().tensors()) {
    EXPECT_EQ(tensor.shape, ref.shape(tensor.name)) << tensor.name;
    const std::vector<T> part = ref.flat(tensor.name);
    std::copy(part.begin(), part.end(), weights.begin() + tensor.offset);
  }
  network.pack_all(weights.data(), packed.data());
  const PassNoise noise{1, 0};
  const std::vector<double> eps = ref.values("eps");
  for (std::int64_t b = 0; b < 3; ++b) {
    Rng rng = noise.stream(b);
    for (std::int64_t c = 0; c < 2; ++c) EXPECT_EQ(rng.normal(), eps[static_cast<std::size_t>(2 * b + c)]);
  }
  const std::vector<double> wide = ref.values("x");
  const std::vector<float> x(wide.begin(), wide.end());
  const auto offsets = ref.offsets();
  const Ragged<const float> data{{x.data(), offsets.back(), 2, 2}, offsets.data(), 3};
  Workspace workspace;
  ref.expect_equal(network.forward(packed.data(), data, workspace)->models, "y_mean");
  auto& tape = *network.forward(packed.data(), data, workspace, true, &noise);
  ref.expect_equal(tape.summary, "summary");
  ref.expect_equal(tape.last, "z");
  ref.expect_equal(tape.models, "y");
  const std::vector<double> penalty = ref.values("penalty");
  for (std::size_t b = 0; b < 3; ++b) {
    EXPECT_NEAR(tape.penalty[b], penalty[b], ref.tolerance() * (1 + std::abs(penalty[b])));
  }
  network.backward(packed.data(), tape, ref.matrix("dy"), {}, gradient.data(), workspace);
  for (const Tensor& tensor : network.layout().tensors()) {
    ref.expect_equal(gradient.data() + tensor.offset, "d_" + tensor.name);
  }
}

TEST(Heads, VariationalOnesEqualPyTorch) {
  for (const auto& [name, head] : {std::pair{"head_vae", "vae"}, std::pair{"head_mmd_vae", "mmd-vae"}}) {
    expect_pytorch_head<double>(name, head);
    expect_pytorch_head<float>(name, head);
  }
}

}  // namespace
}  // namespace occam
