#include "occam/core/from_chars.hpp"

#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>

#include <gtest/gtest.h>

namespace occam {
namespace {

struct Read {
  double value = 7;  // stays where nothing is read
  std::size_t length = 0;
  std::errc status{};
};

Read read(std::string_view text) {
  Read result;
  const auto [end, status] = from_chars(text.data(), text.data() + text.size(), result.value);
  result.length = static_cast<std::size_t>(end - text.data());
  result.status = status;
  return result;
}

// The same with every standard library.
TEST(FromChars, RoundsCorrectly) {
  EXPECT_EQ(read("0.1").value, 0.1);
  EXPECT_EQ(read("-17e3").value, -17000.0);
  EXPECT_EQ(read("9007199254740993").value, 9007199254740992.0);  // half way: to the even one
  EXPECT_EQ(read("1.7976931348623157e308").value, std::numeric_limits<double>::max());
  EXPECT_EQ(read("5e-324").value, std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(read("-0").value));
  EXPECT_EQ(read("0e999").value, 0.0);
  EXPECT_EQ(read("0e999").status, std::errc{});
}

TEST(FromChars, StopsWhereTheNumberEnds) {
  EXPECT_EQ(read("1.5x").length, 3u);
  EXPECT_EQ(read("1.5x").value, 1.5);
  for (const char* text : {"", "x", "+1", " 1", "-", "."}) {
    EXPECT_EQ(read(text).status, std::errc::invalid_argument) << text;
    EXPECT_EQ(read(text).value, 7) << text;
  }
}

TEST(FromChars, KnowsWhatIsOutOfRange) {
  for (const char* text : {"1e400", "-1e400", "1e-400", "-0.0001e-400"}) {
    EXPECT_EQ(read(text).status, std::errc::result_out_of_range) << text;
    EXPECT_EQ(read(text).length, std::string_view(text).size()) << text;
    EXPECT_EQ(read(text).value, 7) << text;
  }
  EXPECT_EQ(read("-inf").value, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(read("inf").status, std::errc{});
  EXPECT_TRUE(std::isnan(read("nan").value));
}

// Which tells numbers too small for a double, nearly zero, from those too large.
TEST(FromChars, LongDoublesHoldWhatIsTooSmall) {
  const std::string_view tiny = "1e-400";
  long double value = 7;
  EXPECT_EQ(from_chars(tiny.data(), tiny.data() + tiny.size(), value).ec, std::errc{});
  EXPECT_EQ(static_cast<double>(value), 0.0);
}

TEST(FromChars, ReadsIntegers) {
  const std::string_view text = "42,";
  int value = 0;
  EXPECT_EQ(from_chars(text.data(), text.data() + text.size(), value).ptr, text.data() + 2);
  EXPECT_EQ(value, 42);
}

}  // namespace
}  // namespace occam
