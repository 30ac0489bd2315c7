#include "occam/io/ndarray.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

static_assert(std::endian::native == std::endian::little, "npy and safetensors bytes are used as they are");

// Calls `use(Element{})` with the element type that `dtype` stands for (bool arrives as unsigned char, since
// a file may hold bytes other than 0 and 1).
template <class Use>
auto with_element_type(DType dtype, Use&& use) {
  switch (dtype) {
    case DType::float32:
      return use(float{});
    case DType::float64:
      return use(double{});
    case DType::int8:
      return use(std::int8_t{});
    case DType::int16:
      return use(std::int16_t{});
    case DType::int32:
      return use(std::int32_t{});
    case DType::int64:
      return use(std::int64_t{});
    case DType::uint8:
      return use(std::uint8_t{});
    case DType::uint16:
      return use(std::uint16_t{});
    case DType::uint32:
      return use(std::uint32_t{});
    case DType::uint64:
      return use(std::uint64_t{});
    case DType::boolean:
      break;
  }
  return use(static_cast<unsigned char>(0));
}

template <class To, class From>
[[noreturn]] void throw_conversion(From value, std::size_t index, std::string_view to) {
  throw Error(ErrorKind::bad_data, "element {} is {}, which {} cannot hold", index, value, to);
}

template <class To, class From>
To convert_element(From value, std::size_t index) {
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
    const float result = static_cast<float>(value);
    if (std::isinf(result) && std::isfinite(value)) throw_conversion<To>(value, index, "float32");
    return result;
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr From limit = 9223372036854775808.0;  // 2^63: exact in both float types
    if (!(value >= -limit && value < limit) || std::trunc(value) != value) {
      throw_conversion<To>(value, index, "int64");
    }
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<To> && std::is_same_v<From, std::uint64_t>) {
    if (value > static_cast<From>(std::numeric_limits<To>::max()))
      throw_conversion<To>(value, index, "int64");
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class To>
std::vector<To> converted(const NdArray& array) {
  std::vector<To> result(array.size());
  with_element_type(array.dtype, [&](auto example) {
    using From = decltype(example);
    const std::byte* source = array.bytes.data();
    for (std::size_t i = 0; i < result.size(); ++i, source += sizeof(From)) {
      From value;
      std::memcpy(&value, source, sizeof(From));
      if (array.dtype == DType::boolean) value = static_cast<From>(value != From{0});
      result[i] = convert_element<To>(value, i);
    }
  });
  return result;
}

}  // namespace

std::size_t dtype_size(DType dtype) {
  return with_element_type(dtype, [](auto example) { return sizeof(example); });
}

std::string_view dtype_name(DType dtype) {
  constexpr std::string_view kNames[] = {"float32", "float64", "int8",   "int16",  "int32", "int64",
                                         "uint8",   "uint16",  "uint32", "uint64", "bool"};
  return kNames[static_cast<std::size_t>(dtype)];
}

std::string shape_text(const Shape& shape) {
  if (shape.size() == 1) return fmt::format("({},)", shape[0]);
  return fmt::format("({})", fmt::join(shape, ", "));
}

std::optional<std::size_t> array_bytes(const Shape& shape, DType dtype) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  for (const std::int64_t length : shape) {
    // Zero lengths are left out here, so that a product that overflows is refused wherever the zero stands.
    if (length < 0 || (length > 0 && __builtin_mul_overflow(bytes, length, &bytes))) return std::nullopt;
  }
  for (const std::int64_t length : shape) {
    if (length == 0) return 0;
  }
  return static_cast<std::size_t>(bytes);
}

ArrayView::ArrayView(const NdArray& array) : dtype(array.dtype), shape(array.shape), bytes(array.bytes) {}

void ArrayView::check() const {
  if (array_bytes(shape, dtype) != bytes.size()) {
    throw Error(ErrorKind::internal, "an array of {} with shape {} was given {} bytes", dtype_name(dtype),
                shape_text(shape), bytes.size());
  }
}

NdArray NdArray::copy(const ArrayView& view) {
  return {view.dtype, view.shape, std::vector<std::byte>(view.bytes.begin(), view.bytes.end())};
}

void NdArray::require(DType wanted) const {
  if (dtype != wanted) {
    throw Error(ErrorKind::internal, "an array of {} was used as {}", dtype_name(dtype), dtype_name(wanted));
  }
}

std::vector<double> NdArray::as_double() const {
  return converted<double>(*this);
}

std::vector<float> NdArray::as_float() const {
  return converted<float>(*this);
}

std::vector<std::int64_t> NdArray::as_int64() const {
  return converted<std::int64_t>(*this);
}

}  // namespace occam
