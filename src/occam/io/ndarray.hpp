// NdArray: elements of one numeric type with a shape, in C (row-major) order, little-endian. What npy, npz
// and safetensors files hold; conversions to the types computed with are explicit and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace occam {

enum class DType : std::uint8_t {
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,  // one byte, 0 or 1
};

std::size_t dtype_size(DType dtype);       // bytes per element
std::string_view dtype_name(DType dtype);  // as NumPy spells it: "float32"

using Shape = std::vector<std::int64_t>;

std::string shape_text(const Shape& shape);  // "(3, 4)", "(3,)", "()"

// Bytes of an array, or nothing when a length is negative or the product exceeds the address space.
std::optional<std::size_t> array_bytes(const Shape& shape, DType dtype);

template <class Element>
constexpr DType dtype_of() {
  static_assert(std::is_arithmetic_v<Element>);
  if constexpr (std::is_same_v<Element, bool>) return DType::boolean;
  if constexpr (std::is_floating_point_v<Element>)
    return sizeof(Element) == 4 ? DType::float32 : DType::float64;
  constexpr int log2_size = sizeof(Element) == 1   ? 0
                            : sizeof(Element) == 2 ? 1
                            : sizeof(Element) == 4 ? 2
                                                   : 3;
  return static_cast<DType>(static_cast<int>(std::is_signed_v<Element> ? DType::int8 : DType::uint8) +
                            log2_size);
}

struct NdArray;

// An array that someone else owns, for writing without a copy.
struct ArrayView {
  DType dtype = DType::float32;
  Shape shape;
  std::span<const std::byte> bytes;

  ArrayView() = default;
  ArrayView(const NdArray& array);  // NOLINT: an array is a view of itself

  // Throws Error(internal) when the shape does not match the number of elements.
  template <class Element>
  static ArrayView of(Shape shape, std::span<const Element> elements) {
    ArrayView view;
    view.dtype = dtype_of<Element>();
    view.shape = std::move(shape);
    view.bytes = std::as_bytes(elements);
    view.check();
    return view;
  }

  // Throws Error(internal) unless the shape and the bytes agree.
  void check() const;
};

struct NdArray {
  DType dtype = DType::float32;
  Shape shape;
  std::vector<std::byte> bytes;

  // A copy of the elements. Throws Error(internal) when the shape does not match their number.
  template <class Element>
  static NdArray of(Shape shape, std::span<const Element> elements) {
    return copy(ArrayView::of(std::move(shape), elements));
  }
  static NdArray copy(const ArrayView& view);

  std::size_t size() const { return bytes.size() / dtype_size(dtype); }  // elements

  // The elements themselves. Throws Error(internal) when they are of another type.
  template <class Element>
  std::span<const Element> view() const {
    require(dtype_of<Element>());
    return {reinterpret_cast<const Element*>(bytes.data()), size()};
  }

  // Bytes, signed or not, are how text is kept in arrays.
  bool is_text() const { return dtype == DType::uint8 || dtype == DType::int8; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

  // Converted copies. A value the result cannot hold is Error(bad_data): a fraction or a number beyond 64
  // bits in as_int64, a finite number beyond float's range in as_float. (Rounding to the nearest float is no
  // error.)
  std::vector<double> as_double() const;
  std::vector<float> as_float() const;
  std::vector<std::int64_t> as_int64() const;

  bool operator==(const NdArray&) const = default;

 private:
  void require(DType wanted) const;
};

}  // namespace occam
