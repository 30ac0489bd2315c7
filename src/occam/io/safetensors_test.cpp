#include "occam/io/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using testing_support::failure_of;
using testing_support::mutated;
using testing_support::TemporaryFolder;

Safetensors some_tensors() {
  Safetensors contents;
  contents.metadata = {{"format", "occam 1"}, {"note", "Lévy \"x\"\n"}};
  contents.tensors = {{"double", NdArray::of<double>({2}, std::vector<double>{0.5, -1})},
                      {"index", NdArray::of<std::int64_t>({}, std::vector<std::int64_t>{-3})},
                      {"weights", NdArray::of<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})},
                      {"empty", NdArray::of<std::uint8_t>({0, 5}, {})},
                      {"flags", NdArray::of<std::uint8_t>({3}, std::vector<std::uint8_t>{1, 0, 255})}};
  return contents;
}

std::string with_tensor_header(const std::string& header, std::size_t data_bytes) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

std::string tensor_failure(const std::string& bytes) {
  return failure_of([&] { parse_safetensors(bytes, "x"); });
}

std::string tensor_header_failure(const std::string& header, std::size_t data_bytes) {
  const std::string failure = tensor_failure(with_tensor_header(header, data_bytes));
  const std::string start = "78: x: not a usable safetensors file: ";
  return failure.starts_with(start) ? failure.substr(start.size()) : failure;
}

TEST(Safetensors, RoundTripsThroughAFile) {
  const TemporaryFolder folder;
  const Safetensors contents = some_tensors();
  write_safetensors(folder / "net.occam", contents);
  const Safetensors back = read_safetensors(folder / "net.occam");
  EXPECT_EQ(back, contents);
  EXPECT_EQ(back.at("weights").as_float()[4], 5.0f);
  EXPECT_EQ(back.find("none"), nullptr);
  EXPECT_EQ(failure_of([&] { back.at("wieghts"); }), "78: no tensor 'wieghts' (did you mean 'weights'?)");
  EXPECT_EQ(failure_of([] { read_safetensors("/nonexistent"); }).substr(0, 3), "66:");
}

TEST(Safetensors, IsDeterministicAndAligned) {
  Safetensors contents = some_tensors();
  const std::string bytes = safetensors_bytes(contents);
  std::reverse(contents.tensors.begin(), contents.tensors.end());
  EXPECT_EQ(safetensors_bytes(contents), bytes);
  EXPECT_EQ(safetensors_bytes(parse_safetensors(bytes, "x")), bytes);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
}

TEST(Safetensors, WritesTheDocumentedBytes) {
  Safetensors contents;
  contents.metadata = {{"k", "v"}};
  contents.tensors = {{"w", NdArray::of<float>({1}, std::vector<float>{1})}};
  std::string header = R"({"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(safetensors_bytes(contents), with_tensor_header(header, 0) + std::string("\0\0\x80\x3f", 4));
  EXPECT_EQ(safetensors_bytes({}), with_tensor_header("{}      ", 0));
  EXPECT_EQ(parse_safetensors(safetensors_bytes({}), "x"), Safetensors{});
}

TEST(Safetensors, RefusesNamesItCannotWrite) {
  const NdArray one = NdArray::of<float>({1}, std::vector<float>{1});
  for (const Safetensors& contents :
       {Safetensors{{}, {{"a", one}, {"a", one}}}, Safetensors{{}, {{"__metadata__", one}}},
        Safetensors{{}, {{"\xff", one}}}, Safetensors{{{"a", "\xff"}}, {}}}) {
    EXPECT_EQ(failure_of([&] { safetensors_bytes(contents); }).substr(0, 3), "64:");
  }
}

TEST(Safetensors, RefusesHostileHeaders) {
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  EXPECT_EQ(tensor_header_failure(one("F32", "[2]", "[0,8]"), 8), "no error");
  EXPECT_EQ(tensor_header_failure(one("F16", "[2]", "[0,4]"), 4),
            "tensor 'w': its type F16 is not supported; save it as F32");
  EXPECT_EQ(tensor_header_failure(one("F32", "[3]", "[0,8]"), 8),
            "tensor 'w': its data_offsets span 8 bytes, its shape (3,) of float32 takes 12");
  EXPECT_EQ(tensor_header_failure(one("F32", "[2]", "[0,8]"), 4),
            "tensor 'w': its data_offsets [0, 8] lie outside the 4 bytes of data");
  EXPECT_EQ(tensor_header_failure(one("F32", "[2]", "[8,0]"), 8),
            "tensor 'w': its data_offsets [8, 0] lie outside the 8 bytes of data");
  EXPECT_EQ(tensor_header_failure(one("F32", "[2]", "[0,8]"), 9), "1 bytes belong to no tensor");
  EXPECT_EQ(tensor_header_failure(one("F32", "[2]", "[2,10]"), 10),
            "tensor 'w': a gap of 2 bytes precedes it");
  EXPECT_EQ(tensor_header_failure(one("F32", "[4611686018427387904,4]", "[0,0]"), 0),
            "tensor 'w': its shape is beyond any memory");
  EXPECT_EQ(tensor_header_failure(one("F32", "[18446744073709551615]", "[0,0]"), 0),
            "tensor 'w': its shape is beyond any memory");
  for (const char* shape : {"[-1]", "[1.5]", "[\"1\"]", "[null]", "[[1]]"}) {
    EXPECT_EQ(tensor_header_failure(one("F32", shape, "[0,4]"), 4),
              "tensor 'w': shape is not a list of natural numbers");
  }
  const std::string two =
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})";
  EXPECT_EQ(tensor_header_failure(two, 6), "tensor 'b': its data overlap those of another tensor");
  EXPECT_EQ(tensor_header_failure(R"({"w":{"dtype":"U8","shape":[0]}})", 0),
            "tensor 'w': expected exactly dtype, shape and data_offsets");
  EXPECT_EQ(tensor_header_failure(R"({"__metadata__":{"a":1}})", 0), "__metadata__: 'a' is not a string");
  EXPECT_EQ(tensor_header_failure("[]", 0), "its header is not a JSON object");
}

TEST(Safetensors, RefusesBrokenFrames) {
  EXPECT_EQ(tensor_failure(""), "78: x: not a usable safetensors file: it has 0 bytes");
  EXPECT_EQ(tensor_failure(std::string(8, '\xff')),
            "78: x: not a usable safetensors file: it does not start with the length of a header");
  EXPECT_EQ(tensor_failure(std::string("\x10\0\0\0\0\0\0\0{}", 10)),
            "78: x: not a usable safetensors file: its header of 16 bytes is cut short at 2");
  const std::string entry = R"("w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(tensor_failure(with_tensor_header("{" + entry + "," + entry + "}", 0)),
            "78: x (header): the key 'w' is given twice");
  EXPECT_EQ(tensor_failure(with_tensor_header("{\"\xff\":1}", 0)).find("78: x (header):1:"), 0u);
  EXPECT_EQ(tensor_failure(with_tensor_header(std::string(100000, '['), 0)),
            "78: x (header): nested deeper than 100 levels");
  EXPECT_EQ(tensor_failure(with_tensor_header("", 0)).find("78: x (header):1:1: not JSON"), 0u);
}

// A file with a hole takes no room, and reading it would take more than there is.
TEST(Safetensors, AFileIsHeldAgainstItsHeaderBeforeItIsRead) {
  const TemporaryFolder folder;
  const std::string path = folder / "hole.occam";
  write_file_atomic(path, with_tensor_header(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4));
  EXPECT_EQ(read_safetensors(path).at("w").shape, Shape{4});
  std::filesystem::resize_file(path, std::uintmax_t{1} << 42);
  const auto error = testing_support::error_of([&] { read_safetensors(path); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::bad_config) << error->what();
  EXPECT_NE(std::string(error->what()).find("bytes belong to no tensor"), std::string::npos) << error->what();
}

TEST(Safetensors, DamagedFilesAreReadOrRefused) {
  const std::string good = safetensors_bytes(some_tensors());
  std::mt19937 random(1);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) refused += tensor_failure(mutated(good, random)) != "no error";
  EXPECT_GT(refused, 1500);
  EXPECT_LT(refused, 3000);
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(tensor_failure(good.substr(0, length)), "no error") << length;
  }
}

}  // namespace
}  // namespace occam
