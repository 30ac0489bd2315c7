#include "occam/io/npy.hpp"

#include <charconv>
#include <new>
#include <optional>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kLongestNpyHeader = std::size_t{1} << 20;
constexpr std::size_t kMostDimensions = 64;  // NumPy's own limit
constexpr std::size_t kNpyAlignment = 64;

// Reads exactly out.size() bytes.
void read_exactly(const ByteSource& source, std::span<char> out, std::string_view name,
                  std::string_view what) {
  while (!out.empty()) {
    const std::size_t count = source(out);
    if (count == 0) throw Error(ErrorKind::bad_data, "{}: the file ends inside the {}", name, what);
    out = out.subspan(count);
  }
}

// The header's dict literal, for example
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class NpyDict {
 public:
  NpyDict(std::string_view text, std::string_view name) : rest_(text), all_(text), name_(name) { parse(); }

  const std::string& descr() const { return *descr_; }
  bool fortran_order() const { return *fortran_order_; }
  const Shape& shape() const { return *shape_; }

 private:
  void parse() {
    expect('{');
    while (!take('}')) {
      const std::string key = string_literal();
      expect(':');
      if (key == "descr" && !descr_) {
        descr_ = descr_literal();
      } else if (key == "fortran_order" && !fortran_order_) {
        fortran_order_ = bool_literal();
      } else if (key == "shape" && !shape_) {
        shape_ = tuple_literal();
      } else {
        broken();
      }
      if (take(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (!rest_.empty() || !descr_ || !fortran_order_ || !shape_) broken();
  }

  [[noreturn]] void broken() const {
    throw Error(ErrorKind::bad_data, "{}: broken npy header: {}", name_, shown(all_, 120));
  }

  void skip_space() {
    const auto first = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  bool take(char wanted) {
    skip_space();
    if (rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) broken();
  }

  std::string string_literal() {
    skip_space();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) broken();
    const auto close = rest_.find(rest_[0], 1);
    if (close == std::string_view::npos) broken();
    const std::string text(rest_.substr(1, close - 1));
    rest_.remove_prefix(close + 1);
    return text;
  }

  std::string descr_literal() {
    skip_space();
    if (!rest_.empty() && (rest_[0] == '[' || rest_[0] == '(')) {
      throw Error(
          ErrorKind::bad_data,
          "{}: a structured array (with named fields) cannot be read; save the fields as columns of one "
          "array, for example numpy.lib.recfunctions.structured_to_unstructured(a)",
          name_);
    }
    return string_literal();
  }

  bool bool_literal() {
    skip_space();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    broken();
  }

  Shape tuple_literal() {
    Shape shape;
    expect('(');
    while (!take(')')) {
      skip_space();
      std::int64_t length = 0;
      const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
      if (status != std::errc{} || length < 0 || shape.size() == kMostDimensions) broken();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      take('L');  // long integers of Python 2
      shape.push_back(length);
      if (take(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  std::string_view rest_;
  std::string_view all_;
  std::string_view name_;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

struct NpyType {
  std::string_view code;
  DType dtype;
};
constexpr NpyType kNpyTypes[] = {{"f4", DType::float32}, {"f8", DType::float64}, {"i1", DType::int8},
                                 {"i2", DType::int16},   {"i4", DType::int32},   {"i8", DType::int64},
                                 {"u1", DType::uint8},   {"u2", DType::uint16},  {"u4", DType::uint32},
                                 {"u8", DType::uint64},  {"b1", DType::boolean}};

std::string_view npy_type_words(char kind) {
  switch (kind) {
    case 'O':
      return "Python objects";
    case 'S':
    case 'a':
    case 'U':
      return "strings";
    case 'c':
      return "complex numbers";
    case 'M':
    case 'm':
      return "dates or time spans";
    case 'V':
      return "raw bytes";
    case 'f':
      return "floating-point numbers of an unusual size";
    default:
      return "an unknown type";
  }
}

// "<f4", "|b1", "=i8": byte order, kind, size. One-byte types have no byte order.
DType npy_dtype(std::string_view descr, std::string_view name) {
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  const std::string_view code = has_order ? descr.substr(1) : descr;
  for (const NpyType& type : kNpyTypes) {
    if (code != type.code) continue;
    if (descr[0] == '>' && dtype_size(type.dtype) > 1) {
      throw Error(ErrorKind::bad_data, "{}: big-endian numbers ('{}') cannot be read; save a.astype(np.{})",
                  name, descr, dtype_name(type.dtype));
    }
    return type.dtype;
  }
  throw Error(ErrorKind::bad_data, "{}: an array of {} ('{}') cannot be read; save a.astype(np.float32)",
              name, npy_type_words(code.empty() ? ' ' : code[0]), shown(descr));
}

// With at most one length above 1 both orders are the same.
bool order_matters(const Shape& shape) {
  int long_axes = 0;
  for (const std::int64_t length : shape) {
    if (length == 0) return false;
    long_axes += length > 1;
  }
  return long_axes > 1;
}

}  // namespace

NpyHeader read_npy_header(const ByteSource& source, std::string_view name) {
  char magic[8];
  read_exactly(source, magic, name, "npy header");
  if (std::string_view(magic, 6) != kNpyMagic) throw Error(ErrorKind::bad_data, "{}: not an npy file", name);
  const int version = static_cast<unsigned char>(magic[6]);
  if (version < 1 || version > 3) {
    throw Error(ErrorKind::bad_data, "{}: npy version {}; known are 1 to 3", name, version);
  }
  unsigned char size_bytes[4] = {};
  const std::size_t size_length = version == 1 ? 2 : 4;
  read_exactly(source, std::span(reinterpret_cast<char*>(size_bytes), size_length), name, "npy header");
  const std::size_t length = size_bytes[0] | size_bytes[1] << 8 | size_bytes[2] << 16 |
                             static_cast<std::size_t>(size_bytes[3]) << 24;
  if (length > kLongestNpyHeader) {
    throw Error(ErrorKind::bad_data, "{}: an npy header of {} bytes; at most {} are read", name, length,
                kLongestNpyHeader);
  }
  std::string text(length, '\0');
  read_exactly(source, text, name, "npy header");
  const NpyDict dict(text, name);

  NpyHeader header;
  header.dtype = npy_dtype(dict.descr(), name);
  header.shape = dict.shape();
  header.header_bytes = sizeof(magic) + size_length + length;
  if (dict.fortran_order() && order_matters(header.shape)) {
    throw Error(ErrorKind::bad_data, "{}: the array is in Fortran order; save np.ascontiguousarray(a)", name);
  }
  const auto bytes = array_bytes(header.shape, header.dtype);
  if (!bytes) {
    throw Error(ErrorKind::bad_data, "{}: the shape {} is beyond any memory", name,
                shown(shape_text(header.shape), 200));
  }
  header.data_bytes = *bytes;
  return header;
}

NdArray read_npy(const ByteSource& source, std::uint64_t size, std::string_view name) {
  NpyHeader header = read_npy_header(source, name);
  const std::uint64_t available = size < header.header_bytes ? 0 : size - header.header_bytes;
  if (header.data_bytes != available) {
    throw Error(ErrorKind::bad_data, "{}: {} of shape {} take {} bytes, but {} follow the header", name,
                dtype_name(header.dtype), shown(shape_text(header.shape), 200), header.data_bytes, available);
  }
  NdArray array{header.dtype, std::move(header.shape), {}};
  try {
    array.bytes.resize(header.data_bytes);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::bad_data, "{}: an array of {} bytes does not fit in memory", name,
                header.data_bytes);
  }
  read_exactly(source, {reinterpret_cast<char*>(array.bytes.data()), array.bytes.size()}, name, "data");
  return array;
}

NdArray parse_npy(std::string_view bytes, std::string_view name) {
  const std::size_t size = bytes.size();
  const auto source = [&bytes](std::span<char> out) {
    const std::size_t count = bytes.copy(out.data(), out.size());
    bytes.remove_prefix(count);
    return count;
  };
  return read_npy(source, size, name);
}

NdArray read_npy(const std::string& path) {
  InputFile file(path);
  if (!file.is_regular()) return parse_npy(read_file(path), path);
  return read_npy([&file](std::span<char> out) { return file.read(out); }, file.size(), path);
}

std::string npy_header(DType dtype, const Shape& shape) {
  std::string_view code;
  for (const NpyType& type : kNpyTypes) {
    if (type.dtype == dtype) code = type.code;
  }
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                 dtype_size(dtype) == 1 ? '|' : '<', code, shape_text(shape));
  const std::size_t preamble = kNpyMagic.size() + 4;
  const std::size_t unpadded = preamble + dict.size() + 1;
  dict.append((kNpyAlignment - unpadded % kNpyAlignment) % kNpyAlignment, ' ');
  dict += '\n';
  if (dict.size() > 0xffff || shape.size() > kMostDimensions) {
    throw Error(ErrorKind::internal, "an array of {} dimensions cannot be written as npy", shape.size());
  }
  std::string header(kNpyMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

void write_npy(const ByteSink& sink, const ArrayView& array) {
  array.check();
  sink(npy_header(array.dtype, array.shape));
  sink({reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
}

void write_npy(const std::string& path, const ArrayView& array) {
  AtomicFile file(path);
  write_npy(file.sink(), array);
  file.commit();
}

}  // namespace occam
