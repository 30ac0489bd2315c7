#include "occam/networks/network_file.hpp"

#include <cmath>
#include <fstream>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"
#include "occam/networks/structure_json.hpp"
#include "occam/networks/test_support.hpp"

namespace occam {
namespace {

using nlohmann::json;
using testing_support::example_network;
using testing_support::mutated;
using testing_support::sealed;
using testing_support::with_element;
using testing_support::with_json;
using testing_support::with_metadata;
using testing_support::with_tensor;
using testing_support::without_tensor;

std::string refusal(const Safetensors& contents) {
  try {
    network_from_safetensors(contents, "n.occam");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    return error.what();
  }
  return "accepted";
}

TEST(NetworkFile, RoundTripsBitForBit) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder / "n.occam";
  const NetworkFile file = example_network();
  write_network_file(path, file);
  const NetworkFile again = read_network_file(path);
  EXPECT_EQ(again.members, file.members);
  EXPECT_EQ(again.golden.outputs, file.golden.outputs);
  EXPECT_EQ(again.parameter_mask, file.parameter_mask);
  EXPECT_EQ(safetensors_bytes(network_to_safetensors(again)),
            safetensors_bytes(network_to_safetensors(file)));
}

TEST(NetworkFile, EstimatesOfTamedParametersAreBroughtBack) {
  NetworkFile file = example_network();  // mean .1, scale 2
  EXPECT_DOUBLE_EQ(file.parameter_estimate(0, 0.5), 1.1);
  file.parameter_inputs = {{Transformation::log, 1e-6, 1, false, {}, 0}};
  EXPECT_DOUBLE_EQ(file.parameter_estimate(0, 0.5), std::exp(1.1));
  const NetworkFile again = network_from_safetensors(network_to_safetensors(file), "n.occam");
  EXPECT_EQ(again.parameter_inputs, file.parameter_inputs);
}

// They would forge lines of what is printed.
TEST(NetworkFile, NamesOfSeveralLinesAreRefused) {
  const Safetensors good = network_to_safetensors(example_network());
  for (const char* name : {"a\nvalidation loss   0.01", "a\x1b[2J", "a\r", "a\xe2\x80\xae"}) {
    for (const char* pointer : {"/models/0", "/columns/0", "/parameters/names/0"}) {
      const std::string said = refusal(with_json(good, "description", pointer, name));
      EXPECT_NE(said.find("holds control characters"), std::string::npos) << pointer << " " << said;
      EXPECT_EQ(said.find('\n'), std::string::npos);
    }
    EXPECT_NE(refusal(with_metadata(good, "problem_name", name)).find("control"), std::string::npos);
  }
}

TEST(NetworkFile, HoldsAnEnsembleAndVerifiesEveryMember) {
  NetworkFile file = example_network();
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

TEST(NetworkFile, RefusesWhatIsForeignNewerOrDamaged) {
  const Safetensors good = network_to_safetensors(example_network());
  EXPECT_EQ(refusal(good), "accepted");
  const auto says = [](const Safetensors& contents, const std::string& what) {
    const std::string got = refusal(contents);
    EXPECT_NE(got.find(what), std::string::npos) << got;
    EXPECT_TRUE(got.starts_with("n.occam: ")) << got;
  };
  says(with_metadata(good, "format", "other"), "not a network of occam");
  says(with_metadata(good, "format_version", "3"), "format version is 3");
  says(with_metadata(good, "description", "{"), "not JSON");
  Safetensors without = good;
  without.metadata.erase("problem");
  says(sealed(without), "holds no 'problem'");
  const float before = good.at("head.bias").view<float>()[1];
  Safetensors nudged = with_element(good, "head.bias", 1, before + 0.1f);
  // A program that computes differently shows in the golden outputs, even where the bytes are right.
  says(nudged, "golden outputs are not reproduced");
  nudged.metadata["checksum"] = good.metadata.at("checksum");
  says(nudged, "do not match their checksum");
  nudged.metadata.erase("checksum");
  says(nudged, "do not match their checksum");
  says(without_tensor(good, "head.bias"), "no tensor 'head.bias'");
  says(with_element(good, "post0.weight", 0, INFINITY), "'post0.weight' holds inf");
}

TEST(NetworkFile, KeepsItsLabels) {
  NetworkFile file = example_network();
  EXPECT_EQ(network_to_safetensors(file).metadata.at("description").find("\"labels\":["), std::string::npos);
  for (const LabelGroups& labels : {LabelGroups{{1}}, LabelGroups{{0}, {1}}, LabelGroups{{0, 1}}}) {
    file.labels = labels;
    EXPECT_EQ(network_from_safetensors(network_to_safetensors(file), "n.occam").labels, labels);
  }
}

// Whatever bit of the metadata flips, the file is refused: an answer cannot change unnoticed.
TEST(NetworkFile, OneChecksumCoversTheMetadata) {
  const Safetensors good = network_to_safetensors(example_network());
  int tried = 0;
  for (const auto& [key, text] : good.metadata) {
    for (std::size_t at = 0; at < text.size(); at += 7, ++tried) {
      Safetensors damaged = good;
      damaged.metadata[key][at] = static_cast<char>(text[at] ^ 1);
      EXPECT_NE(refusal(damaged), "accepted") << key << " " << at;
    }
  }
  EXPECT_GT(tried, 100);
  Safetensors renamed = good;
  renamed.tensors.front().second.shape.push_back(1);
  EXPECT_NE(refusal(renamed), "accepted");
}

// A file of version 1, written by occam 0.1: its checksum leaves out the metadata.
TEST(NetworkFile, FilesOfVersionOneAreRead) {
  const std::string path = OCCAM_TEST_DATA "/networks/version1.occam";
  const Safetensors contents = read_safetensors(path);
  EXPECT_EQ(contents.metadata.at("format_version"), "1");
  const NetworkFile file = network_from_safetensors(contents, "n.occam");
  EXPECT_EQ(file.problem_name, "beta-binomial");
  Safetensors damaged = contents;
  damaged.tensors.front().second.bytes[0] ^= std::byte{1};
  EXPECT_NE(refusal(damaged).find("do not match their checksum"), std::string::npos);
  // The checks of structure do not depend on the version.
  Safetensors hostile = contents;
  json description = json::parse(hostile.metadata.at("description"));
  description["models"].push_back("more");
  hostile.metadata["description"] = description.dump();
  EXPECT_NE(refusal(hostile).find("model names"), std::string::npos);
}

TEST(NetworkFile, HostileDescriptionsAreRefused) {
  const Safetensors good = network_to_safetensors(example_network());
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, json>>{
           {"/network", 3},
           {"/network/channels", 0},
           {"/network/channels", -5},
           {"/network/channels", 1e300},
           {"/network/models", 1000000000},
           {"/network/models", 3.5},
           {"/network/parameters", -1},
           {"/network/body/inv_width", 100000000},
           {"/network/body/inv_width", 8192},  // whose weights are not there
           {"/network/body/inv_width", "x"},
           {"/network/body/nonsense", 1},
           {"/network/options/architecture", "none"},
           {"/network/options/post_width", 8192},
           {"/network/options/head", "none"},
           {"/network/options/head", "vae"},  // whose weights are not there
           {"/network/options", json::array()},
           {"/network/head", {{"latents", 3}}},
           {"/network/head", 5},
           {"/network/standardisation/scale", json::array({0, 1})},
           {"/network/standardisation/typical_n", 0},
           {"/network/standardisation", "none"},
           {"/link", "cube"},
           {"/link", 1},
           {"/members", 2},
           {"/members", -1},
           {"/members", 1.5},
           {"/members", "one"},
           {"/models", json::array({"a"})},
           {"/models", json::array({"a", "b", "b"})},
           {"/models", json::array({1, 2, 3})},
           {"/columns", json::array({"x", ""})},
           {"/labels", json::array({2})},
           {"/labels", json::array({-1})},
           {"/labels", json::array({0.5})},
           {"/labels", "x"},
           {"/labels", json::array({json::array({0, 2})})},
           {"/labels", json::array({json::array({0, 0})})},
           {"/labels", json::array({0, json::array({1, 0})})},
           {"/labels", json::array({json::array()})},
           {"/model_prior", json::array({2, -1, 0})},
           {"/model_prior", json::array({nullptr, 1, 0})},
           {"/model_prior", 1},
           {"/parameters", json::array()},
           {"/parameters/mask", json::array()},
           {"/parameters/mask", {{1e308}, {0}, {1}}},
           {"/parameters/mask", {{2}, {0}, {1}}},
           {"/parameters/mean", json::array({"x"})},
           {"/parameters/scale", json::array({0})},
           {"/parameters/inputs", json::array({1, 2})},
           {"/parameters/inputs", inputs_json({{}, {}})},  // of two, where there is one
           {"/ranges", json::array({json::array({1, 2})})},
           {"/ranges/0", json::array({3, 2, 1, 0})},
           {"/ordered", "no"},
           {"/network/missing", json::array({2})},
           {"/network/missing", json::array({1})},  // of which the rest of the file knows nothing
           {"/network/missing", "y"},
           {"/n", "many"},
           {"/n", json::array({1.5, 9})},
           {"/n", json::array({1, 1e300})},
           {"/n", json::array({0, 9})},
           {"/n", json::array({9, 1})}}) {
    EXPECT_NE(refusal(with_json(good, "description", pointer, value)), "accepted") << pointer << " " << value;
  }
}

TEST(NetworkFile, WrongTypesInTheRecordAreRefused) {
  const Safetensors good = network_to_safetensors(example_network());
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, json>>{{"steps", "many"},
                                                 {"steps", 1.5},
                                                 {"seed", json::object()},
                                                 {"source", 3},
                                                 {"program", json::array()},
                                                 {"table", 1},
                                                 {"options", 4},
                                                 {"validation_loss", "low"},
                                                 {"seconds", true},
                                                 {"extended", 1},
                                                 {"extended", {{"models", {1}}}}}) {
    EXPECT_NE(refusal(with_json(good, "record", "/" + key, value)), "accepted") << key << " " << value;
  }
  EXPECT_NE(refusal(with_metadata(good, "record", "[1]")), "accepted");
  // A loss that was not finite is written as null.
  const Safetensors none = with_json(good, "record", "/validation_loss", nullptr);
  EXPECT_FALSE(network_from_safetensors(none, "n.occam").record.contains("validation_loss"));
}

TEST(NetworkFile, DeepJsonIsRefused) {
  const Safetensors good = network_to_safetensors(example_network());
  const std::string deep(100000, '[');
  for (const char* key : {"description", "record", "scope"})
    EXPECT_NE(refusal(with_metadata(good, key, deep)).find("nested deeper"), std::string::npos) << key;
}

TEST(NetworkFile, GoldenOutputsMustBeThereAndFit) {
  const Safetensors good = network_to_safetensors(example_network());
  const auto n = [&](std::vector<std::int64_t> sizes) {
    const auto count = static_cast<std::int64_t>(sizes.size());
    return refusal(
        with_tensor(good, "golden.n", NdArray::of<std::int64_t>({count}, std::span(std::as_const(sizes)))));
  };
  EXPECT_EQ(n({3, 1}), "accepted");
  for (const auto& sizes : std::vector<std::vector<std::int64_t>>{
           {}, {4}, {0, 4}, {-1, 5}, {3, 2}, {INT64_MAX, 1}, {INT64_MAX, INT64_MAX}, {2, 1, 1}}) {
    EXPECT_NE(n(sizes), "accepted");
  }
  for (const char* name : {"golden.data", "golden.n", "golden.outputs"}) {
    EXPECT_NE(refusal(without_tensor(good, name)), "accepted") << name;
    const NdArray empty{good.at(name).dtype, {0}, {}};
    EXPECT_NE(refusal(with_tensor(good, name, empty)), "accepted") << name;
  }
  // Without any data set there would be nothing to verify.
  Safetensors none = with_tensor(good, "golden.data", {DType::float32, {0, 2}, {}});
  none = with_tensor(none, "golden.n", {DType::int64, {0}, {}});
  none = with_tensor(none, "golden.outputs", {DType::float32, {0, 3}, {}});
  EXPECT_NE(refusal(none), "accepted");
  EXPECT_NE(refusal(with_element(good, "golden.outputs", 0, INFINITY)), "accepted");
  EXPECT_NE(refusal(with_element(good, "golden.data", 0, NAN)), "accepted");
}

TEST(NetworkFile, MutatedFilesNeverCrash) {
  const std::string bytes = safetensors_bytes(network_to_safetensors(example_network()));
  std::mt19937 rng(7);
  int refused = 0;
  int sound = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string broken = mutated(bytes, rng);
    try {
      Safetensors contents = parse_safetensors(broken, "f");
      sound += broken != bytes && !contents.metadata.empty() ? 1 : 0;
      if (i % 2 == 0) seal(contents);  // so that what stands behind the checksum is reached as well
      network_from_safetensors(contents, "f");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_config) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);  // the rest changed free text
  EXPECT_GT(sound, 50);
}

// A file that claims a large network takes memory for what it holds. Address space is limited to what the
// test has now and a little more, so that the claim alone would fail as std::bad_alloc, which is no Error.
TEST(NetworkFile, ClaimsTakeNoMemory) {
  Safetensors small = network_to_safetensors(example_network());
  for (const char* option : {"inv_width", "equiv_width"})
    small = with_json(small, "description", std::string("/network/body/") + option, 8192);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  std::ifstream status("/proc/self/statm");
  std::uint64_t pages = 0;
  status >> pages;
  const rlimit tight{pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (std::uint64_t{64} << 20),
                     before.rlim_max};
#if defined(OCCAM_ADDRESS_SANITIZER) || defined(OCCAM_THREAD_SANITIZER)
  const std::string got = refusal(small);  // a sanitizer needs its own terabytes
#else
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const std::string got = refusal(small);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
#endif
  (void)tight;
  EXPECT_NE(got.find("has shape"), std::string::npos) << got;
}

// Statistics are taken of every column for each of them.
TEST(NetworkFile, CountlessColumnsOfLabelsAreRefused) {
  Structure structure;
  for (std::int64_t c = 0; c < 64; ++c) structure.labels.columns.push_back(c);
  EXPECT_NO_THROW(check_structure(structure, 1000));
  structure.labels.columns.push_back(64);
  EXPECT_THROW(check_structure(structure, 1000), Error);
}

}  // namespace
}  // namespace occam
