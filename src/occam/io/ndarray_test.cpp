#include "occam/io/ndarray.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using testing_support::failure_of;

template <class Element>
NdArray array_of(std::vector<Element> values) {
  return NdArray::of<Element>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(NdArray, KnowsItsElementTypes) {
  EXPECT_EQ(dtype_of<float>(), DType::float32);
  EXPECT_EQ(dtype_of<double>(), DType::float64);
  EXPECT_EQ(dtype_of<std::int8_t>(), DType::int8);
  EXPECT_EQ(dtype_of<std::int64_t>(), DType::int64);
  EXPECT_EQ(dtype_of<std::uint8_t>(), DType::uint8);
  EXPECT_EQ(dtype_of<std::uint32_t>(), DType::uint32);
  EXPECT_EQ(dtype_of<bool>(), DType::boolean);
  EXPECT_EQ(dtype_name(DType::uint16), "uint16");
  EXPECT_EQ(dtype_name(DType::boolean), "bool");
  EXPECT_EQ(dtype_size(DType::uint16), 2u);
  EXPECT_EQ(dtype_size(DType::boolean), 1u);
}

TEST(NdArray, ConvertsEveryType) {
  const std::vector<double> expected = {0, 1, 100};
  EXPECT_EQ(array_of<float>({0, 1, 100}).as_double(), expected);
  EXPECT_EQ(array_of<std::int8_t>({0, 1, 100}).as_double(), expected);
  EXPECT_EQ(array_of<std::uint16_t>({0, 1, 100}).as_double(), expected);
  EXPECT_EQ(array_of<std::int32_t>({0, 1, 100}).as_double(), expected);
  EXPECT_EQ(array_of<std::uint64_t>({0, 1, 100}).as_double(), expected);
  EXPECT_EQ(array_of<double>({-0.5, 2}).as_float(), (std::vector<float>{-0.5f, 2.0f}));
  EXPECT_EQ(array_of<double>({-3, 2}).as_int64(), (std::vector<std::int64_t>{-3, 2}));
  EXPECT_EQ(array_of<std::int8_t>({-3, 2}).as_int64(), (std::vector<std::int64_t>{-3, 2}));
  const NdArray flags{DType::boolean, {3}, {std::byte{0}, std::byte{1}, std::byte{7}}};
  EXPECT_EQ(flags.as_int64(), (std::vector<std::int64_t>{0, 1, 1}));
}

TEST(NdArray, RefusesValuesThatDoNotFit) {
  EXPECT_EQ(failure_of([] {
              array_of<double>({1, 2.5}).as_int64();
            }),
            "65: element 1 is 2.5, which int64 cannot hold");
  EXPECT_EQ(failure_of([] { array_of<double>({1e300}).as_float(); }),
            "65: element 0 is 1e+300, which float32 cannot hold");
  for (const double value : {9223372036854775808.0, -1e30, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(array_of<double>({value}).as_int64(), Error) << value;
  }
  EXPECT_THROW(array_of<std::uint64_t>({1ull << 63}).as_int64(), Error);
  EXPECT_EQ(array_of<double>({-9223372036854775808.0}).as_int64()[0],
            std::numeric_limits<std::int64_t>::min());
}

TEST(NdArray, ViewsAreTyped) {
  const NdArray array = array_of<float>({1, 2});
  EXPECT_EQ(array.view<float>()[1], 2.0f);
  EXPECT_THROW(array.view<double>(), Error);
  EXPECT_THROW(NdArray::of<float>({3}, std::vector<float>{1, 2}), Error);
}

TEST(NdArray, SizesAreCheckedForOverflow) {
  EXPECT_EQ(array_bytes({}, DType::float64), 8u);
  EXPECT_EQ(array_bytes({2, 3}, DType::float32), 24u);
  EXPECT_EQ(array_bytes({2, 0}, DType::float32), 0u);
  EXPECT_EQ(array_bytes({-1}, DType::uint8), std::nullopt);
  EXPECT_EQ(array_bytes({std::int64_t{1} << 61}, DType::float64), std::nullopt);
  EXPECT_EQ(array_bytes({std::int64_t{1} << 40, 0, std::int64_t{1} << 40}, DType::uint8), std::nullopt);
  EXPECT_EQ(shape_text({}), "()");
  EXPECT_EQ(shape_text({3}), "(3,)");
  EXPECT_EQ(shape_text({3, 4}), "(3, 4)");
}

}  // namespace
}  // namespace occam
