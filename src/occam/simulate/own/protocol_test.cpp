// Requests as they are documented; answers whole, in pieces, in both forms; whatever else a program may
// print.
#include "occam/simulate/own/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/npy.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

std::string npy(const Shape& shape, const std::vector<float>& values) {
  std::string bytes;
  write_npy([&](std::string_view piece) { bytes += piece; },
            ArrayView::of<float>(shape, std::span<const float>(values)));
  return bytes;
}

std::vector<float> read_answer(const std::string& bytes, std::int64_t rows, std::int64_t columns,
                               std::size_t piece = std::string::npos) {
  AnswerReader answer(rows, columns);
  for (std::size_t at = 0; at < bytes.size(); at += std::min(piece, bytes.size())) {
    answer.add(std::string_view(bytes).substr(at, piece));
  }
  EXPECT_TRUE(answer.complete()) << bytes.size();
  return {answer.values().begin(), answer.values().end()};
}

std::string refusal(const std::string& bytes, std::int64_t rows, std::int64_t columns) {
  return testing_support::failure_of([&] { AnswerReader(rows, columns).add(bytes); });
}

TEST(Protocol, ARequestIsOneLineOfJson) {
  const std::vector<double> a = {0.1, 2}, b = {0.3, -1e-300};
  const std::vector<SimulationRequest> requests = {{a, 5}, {b, 7}};
  const std::vector<std::uint64_t> seeds = {9007199254740991u, 3};
  const std::string line =
      request_line("fair", {{"a", ""}, {"b", ""}, {"c", ""}}, {"theta", "mu"}, requests, seeds);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(nlohmann::json::parse(line),
            (nlohmann::json{{"occam", 1},
                            {"model", "fair"},
                            {"columns", 3},
                            {"names", {"a", "b", "c"}},
                            {"n", {5, 7}},
                            {"seed", 9007199254740991u},
                            {"seeds", {9007199254740991u, 3}},
                            {"parameters", {{"theta", {0.1, 0.3}}, {"mu", {2.0, -1e-300}}}}}));
}

TEST(Protocol, AnswersComeInBothFormsAndInAnyPieces) {
  const std::vector<float> values = {1, 2.5f, -3, 4e-30f, 5, 6};
  const std::string text = "1,2.5\r\n -3 , 4e-30\n5,6\n";
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
    EXPECT_EQ(read_answer(npy({3, 2}, values), 3, 2, piece), values);
    EXPECT_EQ(read_answer(text, 3, 2, piece), values);
  }
  EXPECT_EQ(read_answer(npy({6}, values), 6, 1), values);
  EXPECT_TRUE(std::isnan(read_answer("NA\n", 1, 1)[0]));
  EXPECT_TRUE(std::isnan(read_answer("nan\n", 1, 1)[0]));
  EXPECT_TRUE(std::isinf(read_answer("-inf\n", 1, 1)[0]));
}

TEST(Protocol, WhatIsNoAnswerIsSaid) {
  const auto expect = [](const std::string& got, const std::string& part) {
    EXPECT_TRUE(got.starts_with("65: ")) << got;
    EXPECT_NE(got.find(part), std::string::npos) << got;
  };
  expect(refusal("hello\n", 2, 1), "row 1 of its answer is 'hello': not a number");
  expect(refusal("1\n2,3\n", 2, 1), "row 2 of its answer is '2,3': more than 1 columns");
  expect(refusal("1\n", 2, 2), "1 of 2 columns");
  expect(refusal("1\n2\n3\n", 2, 1), "more than the 2 rows");
  expect(refusal("1e300\n", 1, 1), "too large");
  expect(refusal("error: no such model\n", 1, 1), "it says: no such model");
  expect(refusal(std::string(5000, 'x'), 1, 1), "a line of more than");
  expect(refusal(npy({3, 2}, std::vector<float>(6)), 2, 3), "shape (3, 2), expected (2, 3)");
  expect(refusal(npy({2, 3}, std::vector<float>(6)) + "x", 2, 3), "more than the 2 rows");
  // A header that lies about its own length, and one that claims more data than was asked for.
  expect(refusal(std::string("\x93NUMPY\x02\0\xff\xff\xff\x7f", 12), 1, 1), "claims 2147483659 bytes");
  expect(refusal(npy_header(DType::float64, {std::int64_t{1} << 60, 2}), 2, 2), "beyond any memory");
  expect(refusal(npy_header(DType::float64, {std::int64_t{1} << 40, 2}), 2, 2), "expected (2, 2)");
}

// Damaged answers, in pieces: an error, or an answer of the right size, or a wait for more; never another
// exception, and never more memory than a few times what was asked for.
TEST(Protocol, NothingAProgramPrintsDoesHarm) {
  std::mt19937 random(1);
  const std::string good[] = {npy({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), "1,2\n3,4\n5,6\n7,8\n", "error: x\n"};
  int complete = 0;
  for (int i = 0; i < 30000; ++i) {
    const std::string bytes = testing_support::mutated(good[i % 3], random);
    AnswerReader answer(4, 2);
    try {
      const std::size_t piece = 1 + random() % 40;
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        answer.add(std::string_view(bytes).substr(at, piece));
      }
      if (!answer.complete()) continue;
      ASSERT_EQ(answer.values().size(), 8u);
      ++complete;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::bad_data) << error.what();
    }
  }
  EXPECT_GT(complete, 300);
}

}  // namespace
}  // namespace occam
