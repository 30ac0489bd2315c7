#include "occam/simulate/reference_table.hpp"

#include <gtest/gtest.h>

#include "occam/io/npz.hpp"
#include "occam/io/test_support.hpp"
#include "occam/simulate/problem_file.hpp"

namespace occam {
namespace {

// What a table of two data sets with this `meta` gives.
std::string outcome(const ArrayView& meta) {
  const testing_support::TemporaryFolder folder;
  const std::vector<float> data = {1, 0, 1};
  const std::vector<std::int64_t> n = {1, 2}, model = {0, 1};
  NpzWriter writer(folder / "t.npz");
  writer.add("data", ArrayView::of<float>({3, 1}, data));
  writer.add("n", ArrayView::of<std::int64_t>({2}, n));
  writer.add("model", ArrayView::of<std::int64_t>({2}, model));
  writer.add("meta", meta);
  writer.commit();
  return testing_support::failure_of(
      [&] { ReferenceTable::read(folder / "t.npz", load_problem("beta-binomial")); });
}

template <class Byte>
std::string told(const std::string& text) {
  const std::vector<Byte> bytes(text.begin(), text.end());
  return outcome(ArrayView::of<Byte>({static_cast<std::int64_t>(bytes.size())}, bytes));
}

TEST(ReferenceTable, MetaIsReadWithCare) {
  EXPECT_EQ(told<std::uint8_t>(R"({"models": ["flat", "fair"]})"), "no error");
  EXPECT_EQ(told<std::int8_t>(R"({"models": ["flat", "fair"]})"), "no error");
  EXPECT_EQ(told<std::uint8_t>("3"), "no error");  // nothing about models
  EXPECT_NE(told<std::int8_t>(R"({"models": ["a"]})").find("it holds simulations of the models [\"a\"]"),
            std::string::npos);
  EXPECT_NE(told<std::uint8_t>(R"({"models": 7})").find("65: "), std::string::npos);
  // The stack of the parser's clean-up and of printing is limited.
  EXPECT_NE(told<std::uint8_t>(R"({"models": )" + std::string(100000, '[')).find("nested deeper"),
            std::string::npos);
  EXPECT_NE(told<std::uint8_t>("{").find("65: "), std::string::npos);
  const std::vector<double> numbers = {1, 2};  // another program's own
  EXPECT_EQ(outcome(ArrayView::of<double>({2}, numbers)), "no error");
}

}  // namespace
}  // namespace occam
