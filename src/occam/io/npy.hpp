// NumPy's npy format, versions 1 to 3: a magic string, a Python dict literal with type, order and shape, the
// data. Read: little-endian numbers and bools in C order; whatever else is refused with what was found and
// what to do. Format: numpy.lib.format (NEP 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "occam/io/file.hpp"
#include "occam/io/ndarray.hpp"

namespace occam {

struct NpyHeader {
  DType dtype = DType::float32;
  Shape shape;
  std::size_t header_bytes = 0;  // what precedes the data
  std::size_t data_bytes = 0;
};

// Reads the header from the front of `source`, which then stands at the data; takes at most 1 MiB.
// `name` is for messages. Error(bad_data) for anything that is not an array this program can use.
NpyHeader read_npy_header(const ByteSource& source, std::string_view name);

// Reads an array of which `source` has `size` bytes, header included. Memory is taken only when the header
// agrees with `size`. Error(bad_data) when it does not.
NdArray read_npy(const ByteSource& source, std::uint64_t size, std::string_view name);

NdArray parse_npy(std::string_view bytes, std::string_view name);

// Fails as read_file does for what is not readable.
NdArray read_npy(const std::string& path);

// The bytes that precede the data; their number is a multiple of 64. Same shape and type, same bytes.
std::string npy_header(DType dtype, const Shape& shape);

// Error(io) when writing fails.
void write_npy(const ByteSink& sink, const ArrayView& array);
void write_npy(const std::string& path, const ArrayView& array);

}  // namespace occam
