// A batch of ragged data sets, and small networks of every kind, for the tests of what all networks promise.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/networks/network.hpp"
#include "occam/nn/pool.hpp"

namespace occam::testing_support {

using nlohmann::json;

struct Data {
  std::vector<float> x;
  std::vector<std::int64_t> offsets = {0};
  std::int64_t channels;

  Data(std::vector<std::int64_t> sizes, std::int64_t columns, std::uint64_t seed) : channels(columns) {
    Rng rng(seed, Purpose::test, 0);
    for (const std::int64_t n : sizes) offsets.push_back(offsets.back() + n);
    x.resize(offsets.back() * channels);
    for (float& value : x) value = static_cast<float>(rng.normal());
  }
  Ragged<const float> view() const {
    return {{x.data(), offsets.back(), channels, channels},
            offsets.data(),
            static_cast<std::int64_t>(offsets.size()) - 1};
  }
};

inline NetworkConfig small(const json& options) {
  NetworkConfig config;
  config.channels = 2;
  config.models = 3;
  config.parameters = 2;
  config.standardisation = {{0.1, -0.2}, {1.5, 0.7}, 2.0, 0.8, 8.0};
  json table = {{"post_width", 7}, {"post_layers", 2}, {"summary", 5}};
  table.update(options);
  config.set_options(table, "test");
  return config;
}

inline std::vector<json> set_options() {
  std::vector<json> all;
  for (const std::string& pooling : pooling_names()) {
    all.push_back({{"architecture", "set"},
                   {"modules", 1},
                   {"inv_width", 6},
                   {"after_width", 7},
                   {"equiv_width", 5},
                   {"pooling", pooling}});
  }
  all.push_back(
      {{"architecture", "set"}, {"inv_width", 17}, {"after_width", 6}, {"log_n", false}, {"post_layers", 0}});
  all.push_back({{"architecture", "set"}, {"inv_width", 6}, {"growth", false}});
  all.push_back({{"architecture", "set"},
                 {"modules", 1},
                 {"equiv_layers", 1},
                 {"inv_layers", 1},
                 {"after_layers", 1},
                 {"after_width", 6},
                 {"summary", 0}});
  all.push_back({{"architecture", "set"}, {"inv_width", 6}, {"moments", 3}, {"moment_blocks", 4}});
  all.push_back({{"architecture", "set"}, {"inv_width", 6}, {"modules", 1}, {"factor", false}});
  return all;
}

inline std::vector<json> all_options() {
  std::vector<json> all = set_options();
  const json conv = {{"filters", {4, 3}}, {"kernels", {3, 2}}, {"strides", {1, 2}}};
  for (const char* pooling : {"mean", "max"}) {
    json both = {{"architecture", "sequence"}, {"lstm", 5}, {"pooling", pooling}};
    both.update(conv);
    all.push_back(both);
  }
  json only_conv = {{"architecture", "sequence"}, {"lstm", 0}, {"growth", false}};
  only_conv.update(conv);
  all.push_back(only_conv);
  all.push_back({{"architecture", "sequence"},
                 {"lstm", 18},
                 {"filters", json::array()},
                 {"kernels", json::array()},
                 {"strides", json::array()}});
  return all;
}

inline const std::vector<std::int64_t> kSizes = {9, 4, 12, 7, 4};

template <class T>
std::vector<T> initial(const Network<T>& network, std::uint64_t seed = 1) {
  std::vector<T> weights(network.weight_count());
  network.layout().template initialise<T>(weights, seed, 0);
  Rng rng(seed, Purpose::weights, 99);  // biases too: nothing may hide behind zeros
  for (T& weight : weights) weight += static_cast<T>(0.1 * rng.normal());
  return weights;
}

}  // namespace occam::testing_support
