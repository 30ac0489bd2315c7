#include "occam/networks/network_file.hpp"

#include <random>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using nlohmann::json;

NetworkFile example() {
  NetworkFile file;
  file.config.channels = 2;
  file.config.models = 3;
  file.config.parameters = 1;
  file.config.standardisation = {{0.5, -1}, {2, 1}, 1.0, 0.5, 4};
  file.config.set_options(
      {{"inv_width", 5}, {"equiv_width", 4}, {"modules", 1}, {"post_width", 6}, {"summary", 3}}, "t");
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
  file.parameter_names = {"theta"};
  file.parameter_mean = {0.1};
  file.parameter_scale = {2};
  file.parameter_mask = {{1}, {0}, {1}};
  file.record = {{"steps", 12}, {"seed", 1}};
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, -1, -2};
  const std::int64_t offsets[] = {0, 3, 4};
  file.golden = make_golden(file, {{x.data(), 4, 2, 2}, offsets, 2});
  return file;
}

TEST(NetworkFile, RoundTripsBitForBit) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "n.occam";
  const NetworkFile file = example();
  write_network_file(path, file);
  const NetworkFile again = read_network_file(path);
  EXPECT_EQ(again.members, file.members);
  EXPECT_EQ(again.golden.outputs, file.golden.outputs);
  EXPECT_EQ(again.parameter_mask, file.parameter_mask);
  EXPECT_EQ(safetensors_bytes(network_to_safetensors(again)),
            safetensors_bytes(network_to_safetensors(file)));
}

TEST(NetworkFile, HoldsAnEnsembleAndVerifiesEveryMember) {
  NetworkFile file = example();
  file.members.push_back(file.members[0]);
  for (float& weight : file.members[1]) weight *= 0.5f;
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, -1, -2};
  const std::int64_t offsets[] = {0, 3, 4};
  file.golden = make_golden(file, {{x.data(), 4, 2, 2}, offsets, 2});
  EXPECT_EQ(file.golden.outputs.size(), 2u * 2 * 3);
  const NetworkFile again = network_from_safetensors(network_to_safetensors(file), "n.occam");
  EXPECT_EQ(again.members, file.members);
  NetworkFile wrong = file;
  for (float& weight : wrong.members[1])
    weight += 0.1f;  // a damage that the checksum of the new file would hide
  EXPECT_THROW(network_from_safetensors(network_to_safetensors(wrong), "n.occam"), Error);
}

std::string refusal(const Safetensors& contents) {
  try {
    network_from_safetensors(contents, "n.occam");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    return error.what();
  }
  return "accepted";
}

TEST(NetworkFile, RefusesWhatIsForeignNewerOrDamaged) {
  const Safetensors good = network_to_safetensors(example());
  const auto changed = [&](auto change) {
    Safetensors contents = good;
    change(contents);
    return refusal(contents);
  };
  EXPECT_EQ(refusal(good), "accepted");
  EXPECT_NE(changed([](Safetensors& s) { s.metadata.erase("format"); }).find("not a network of occam"),
            std::string::npos);
  EXPECT_NE(changed([](Safetensors& s) { s.metadata["format_version"] = "2"; }).find("format version is 2"),
            std::string::npos);
  EXPECT_NE(changed([](Safetensors& s) { s.metadata["description"] = "{"; }).find("not usable"),
            std::string::npos);
  EXPECT_NE(changed([](Safetensors& s) { s.metadata.erase("problem"); }).find("holds no 'problem'"),
            std::string::npos);
  const auto nudge = [](Safetensors& s) {
    for (auto& [name, array] : s.tensors) {
      if (name == "head.bias") reinterpret_cast<float*>(array.bytes.data())[1] += 0.1f;
    }
  };
  EXPECT_NE(changed(nudge).find("do not match their checksum"), std::string::npos);
  // A program that computes differently shows in the golden outputs, even where the bytes are right.
  const std::string damaged = changed([&](Safetensors& s) {
    nudge(s);
    s.metadata["checksum"] = tensor_checksum(s);
  });
  EXPECT_NE(damaged.find("golden outputs are not reproduced"), std::string::npos) << damaged;
  const std::string missing = changed([](Safetensors& s) { s.tensors.erase(s.tensors.begin()); });
  EXPECT_NE(missing, "accepted");
  const std::string infinite = changed([](Safetensors& s) {
    for (auto& [name, array] : s.tensors) {
      if (name == "post0.weight") reinterpret_cast<float*>(array.bytes.data())[0] = INFINITY;
    }
    s.metadata["checksum"] = tensor_checksum(s);
  });
  EXPECT_NE(infinite.find("'post0.weight' holds inf"), std::string::npos) << infinite;
}

TEST(NetworkFile, HostileDescriptionsAreRefused) {
  const Safetensors good = network_to_safetensors(example());
  const json description = json::parse(good.metadata.at("description"));
  const auto with = [&](const std::string& pointer, const json& value) {
    Safetensors contents = good;
    json changed = description;
    changed[json::json_pointer(pointer)] = value;
    contents.metadata["description"] = changed.dump();
    return refusal(contents);
  };
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, json>>{
           {"/network/channels", 0},
           {"/network/channels", -5},
           {"/network/channels", 1e300},
           {"/network/models", 1000000000},
           {"/network/parameters", -1},
           {"/network/body/inv_width", 100000000},
           {"/network/body/inv_width", "x"},
           {"/network/body/nonsense", 1},
           {"/network/options/architecture", "none"},
           {"/network/options/head", "none"},
           {"/network/options/head", "vae"},  // whose weights are not there
           {"/network/head", {{"latents", 3}}},
           {"/network/head", 5},
           {"/network/standardisation/scale", json::array({0, 1})},
           {"/network/standardisation/typical_n", 0},
           {"/link", "cube"},
           {"/models", json::array({"a"})},
           {"/model_prior", json::array({2, -1, 0})},
           {"/parameters/mask", json::array()},
           {"/n", "many"}}) {
    EXPECT_NE(with(pointer, value), "accepted") << pointer << " " << value;
  }
}

TEST(NetworkFile, MutatedFilesNeverCrash) {
  const std::string bytes = safetensors_bytes(network_to_safetensors(example()));
  std::mt19937 rng(7);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string broken = testing::mutated(bytes, rng);
    try {
      network_from_safetensors(parse_safetensors(broken, "f"), "f");
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);  // the rest changed free text
}

}  // namespace
}  // namespace occam
