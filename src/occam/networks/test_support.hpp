// For tests that need a network file: a small valid one, and the same with something changed. Changes are
// sealed again, so that they get past the checksum as a forger's would: what is tested is what stands behind
// it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "occam/networks/network_file.hpp"

namespace occam::testing_support {

inline nlohmann::json small_network() {
  return {{"inv_width", 5}, {"after_width", 5}, {"equiv_width", 4},
          {"modules", 1},   {"post_width", 6},  {"summary", 3}};
}

// A small network for two columns and three models, with random weights.
inline NetworkFile example_network() {
  NetworkFile file;
  file.config.channels = 2;
  file.config.models = 3;
  file.config.parameters = 1;
  file.config.standardisation = {{0.5, -1}, {2, 1}, 1.0, 0.5, 4};
  file.config.set_options(small_network(), "test");
  const Network<float> network(file.config);
  file.config = network.config();
  file.members.emplace_back(static_cast<std::size_t>(network.weight_count()));
  network.layout().initialise<float>(file.members[0], 1, 0);
  file.problem_name = "example";
  file.problem = "name = \"example\"";
  file.fingerprint = "0123456789abcdef";
  file.columns = {"x", "y"};
  file.model_names = {"a", "b", "c"};
  file.model_prior = {0.5, 0.25, 0.25};
  file.largest_n = 9;
  file.ranges = {{-3, 3, -2, 2}, {0, 1, 0, 1}};
  file.parameter_names = {"theta"};
  file.parameter_mean = {0.1};
  file.parameter_scale = {2};
  file.parameter_mask = {{1}, {0}, {1}};
  file.record = {{"steps", 12}, {"seed", 1}, {"validation_loss", 0.5}, {"program", "test"}};
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, -1, -2};
  const std::int64_t offsets[] = {0, 3, 4};
  file.golden = make_golden(file, {{x.data(), 4, 2, 2}, offsets, 2});
  return file;
}

inline Safetensors sealed(Safetensors contents) {
  seal(contents);
  return contents;
}

inline Safetensors with_metadata(Safetensors contents, const std::string& key, const std::string& text) {
  contents.metadata[key] = text;
  return sealed(std::move(contents));
}

// One value of a JSON text in the metadata (`description`, `record`, `scope`), by its pointer ("/n/0").
inline Safetensors with_json(Safetensors contents, const std::string& key, const std::string& pointer,
                             const nlohmann::json& value) {
  nlohmann::json changed = nlohmann::json::parse(contents.metadata.at(key));
  changed[nlohmann::json::json_pointer(pointer)] = value;
  return with_metadata(std::move(contents), key, changed.dump());
}

inline Safetensors with_tensor(Safetensors contents, const std::string& name, NdArray array) {
  for (auto& [known, tensor] : contents.tensors) {
    if (known == name) tensor = std::move(array);
  }
  return sealed(std::move(contents));
}

inline Safetensors without_tensor(Safetensors contents, const std::string& name) {
  std::erase_if(contents.tensors, [&](const auto& tensor) { return tensor.first == name; });
  return sealed(std::move(contents));
}

// An element of a tensor of floats.
inline Safetensors with_element(Safetensors contents, const std::string& name, std::size_t index,
                                float value) {
  for (auto& [known, tensor] : contents.tensors) {
    if (known == name) reinterpret_cast<float*>(tensor.bytes.data())[index] = value;
  }
  return sealed(std::move(contents));
}

}  // namespace occam::testing_support
