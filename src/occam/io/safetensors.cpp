#include "occam/io/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/file.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr std::uint64_t kLongestTensorHeader = kLongestJson;  // the reference implementation takes 100 MB
constexpr std::size_t kMostTensors = 20'000;                  // they are found one after the other
constexpr std::size_t kLengthBytes = 8;
constexpr const char* kSealKey = "checksum";
constexpr const char* kMetadataKey = "__metadata__";

// In the order of DType.
constexpr std::string_view kTensorTypes[] = {"F32", "F64", "I8",  "I16", "I32", "I64",
                                             "U8",  "U16", "U32", "U64", "BOOL"};

struct TensorEntry {
  std::string name;
  DType dtype = DType::float32;
  Shape shape;
  std::uint64_t begin = 0;  // in the data
  std::uint64_t end = 0;
};

// Reads the JSON header; `name_` is the file, for messages.
class TensorHeader {
 public:
  TensorHeader(std::string_view text, std::uint64_t data_bytes, std::string_view name)
      : data_bytes_(data_bytes), name_(name) {
    const nlohmann::json header = parse_json(text, fmt::format("{} (header)", name_), ErrorKind::bad_config);
    if (!header.is_object()) fail("its header is not a JSON object");
    if (header.size() > kMostTensors + 1) fail(fmt::format("it holds more than {} tensors", kMostTensors));
    for (const auto& [key, value] : header.items()) {
      if (key == kMetadataKey) {
        read_metadata(value);
      } else {
        entries_.push_back(read_entry(key, value));
      }
    }
    check_cover();
  }

  std::map<std::string, std::string>& metadata() { return metadata_; }
  std::vector<TensorEntry>& entries() { return entries_; }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorKind::bad_config, "{}: not a usable safetensors file: {}", name_, what);
  }
  [[noreturn]] void fail(const std::string& tensor, std::string_view what) const {
    fail(fmt::format("tensor '{}': {}", shown(tensor), what));
  }

  void read_metadata(const nlohmann::json& value) {
    if (!value.is_object()) fail("__metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail(fmt::format("__metadata__: '{}' is not a string", shown(key)));
      metadata_[key] = text.get<std::string>();
    }
  }

  std::uint64_t natural(const std::string& tensor, const nlohmann::json& value, std::string_view what) const {
    if (!value.is_number_unsigned()) fail(tensor, fmt::format("{} is not a list of natural numbers", what));
    return value.get<std::uint64_t>();
  }

  TensorEntry read_entry(const std::string& key, const nlohmann::json& value) const {
    const bool complete = value.is_object() && value.size() == 3 && value.contains("dtype") &&
                          value.contains("shape") && value.contains("data_offsets");
    if (!complete) fail(key, "expected exactly dtype, shape and data_offsets");
    const auto& offsets = value["data_offsets"];
    if (!value["dtype"].is_string() || !value["shape"].is_array() || !offsets.is_array() ||
        offsets.size() != 2) {
      fail(key, "dtype, shape or data_offsets is of the wrong kind");
    }
    TensorEntry entry;
    entry.name = key;
    entry.dtype = read_dtype(key, value["dtype"].get_ref<const std::string&>());
    for (const auto& length : value["shape"]) {
      const std::uint64_t number = natural(key, length, "shape");
      if (number > static_cast<std::uint64_t>(INT64_MAX)) fail(key, "its shape is beyond any memory");
      entry.shape.push_back(static_cast<std::int64_t>(number));
    }
    entry.begin = natural(key, offsets[0], "data_offsets");
    entry.end = natural(key, offsets[1], "data_offsets");
    check_entry(entry);
    return entry;
  }

  DType read_dtype(const std::string& key, const std::string& word) const {
    const auto found = std::find(std::begin(kTensorTypes), std::end(kTensorTypes), word);
    if (found == std::end(kTensorTypes)) {
      fail(key, fmt::format("its type {} is not supported; save it as F32", shown(word)));
    }
    return static_cast<DType>(found - std::begin(kTensorTypes));
  }

  void check_entry(const TensorEntry& entry) const {
    const auto bytes = array_bytes(entry.shape, entry.dtype);
    if (!bytes) fail(entry.name, "its shape is beyond any memory");
    if (entry.begin > entry.end || entry.end > data_bytes_) {
      fail(entry.name, fmt::format("its data_offsets [{}, {}] lie outside the {} bytes of data", entry.begin,
                                   entry.end, data_bytes_));
    }
    if (entry.end - entry.begin != *bytes) {
      fail(entry.name,
           fmt::format("its data_offsets span {} bytes, its shape {} of {} takes {}", entry.end - entry.begin,
                       shown(shape_text(entry.shape), 100), dtype_name(entry.dtype), *bytes));
    }
  }

  // Sorts the tensors by place and sees that each starts where the one before ends.
  void check_cover() {
    std::sort(entries_.begin(), entries_.end(), [](const TensorEntry& a, const TensorEntry& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    std::uint64_t covered = 0;
    for (const TensorEntry& entry : entries_) {
      if (entry.begin < covered) fail(entry.name, "its data overlap those of another tensor");
      if (entry.begin > covered)
        fail(entry.name, fmt::format("a gap of {} bytes precedes it", entry.begin - covered));
      covered = entry.end;
    }
    if (covered != data_bytes_) fail(fmt::format("{} bytes belong to no tensor", data_bytes_ - covered));
  }

  std::uint64_t data_bytes_;
  std::string_view name_;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorEntry> entries_;
};

void require_tensor_text(const std::string& text) {
  if (!is_utf8(text)) throw Error(ErrorKind::usage, "safetensors: '{}' is not UTF-8", shown(text));
}

// The tensors in the order of their data. The reference implementation writes the same order.
std::vector<const std::pair<std::string, NdArray>*> tensors_in_file_order(const Safetensors& contents) {
  std::vector<const std::pair<std::string, NdArray>*> order;
  std::set<std::string_view> names;
  for (const auto& tensor : contents.tensors) {
    require_tensor_text(tensor.first);
    if (tensor.first == kMetadataKey || !names.insert(tensor.first).second) {
      throw Error(ErrorKind::usage, "safetensors: the tensor name '{}' is taken", shown(tensor.first));
    }
    ArrayView(tensor.second).check();
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const std::size_t size_a = dtype_size(a->second.dtype);
    const std::size_t size_b = dtype_size(b->second.dtype);
    // Empty tensors share their place with a neighbour; putting them first keeps the order recoverable.
    return std::tuple(size_b, !a->second.bytes.empty(), a->first) <
           std::tuple(size_a, !b->second.bytes.empty(), b->first);
  });
  return order;
}

std::string seal_of(const Safetensors& contents) {
  ByteHash hash;
  for (const auto& [key, text] : contents.metadata) {
    if (key != kSealKey) hash.add_piece(key).add_piece(text);
  }
  std::map<std::string_view, const NdArray*> by_name;
  for (const auto& [name, array] : contents.tensors) by_name[name] = &array;
  for (const auto& [name, array] : by_name) {
    hash.add_piece(name).add_piece(dtype_name(array->dtype)).add_number(array->shape.size());
    for (const std::int64_t length : array->shape) hash.add_number(static_cast<std::uint64_t>(length));
    hash.add(std::span<const std::byte>(array->bytes));
  }
  return hash.text();
}

}  // namespace

void seal(Safetensors& contents) {
  contents.metadata[kSealKey] = seal_of(contents);
}

bool seal_holds(const Safetensors& contents) {
  const auto found = contents.metadata.find(kSealKey);
  return found != contents.metadata.end() && found->second == seal_of(contents);
}

const NdArray* Safetensors::find(std::string_view name) const {
  for (const auto& [key, tensor] : tensors) {
    if (key == name) return &tensor;
  }
  return nullptr;
}

const NdArray& Safetensors::at(std::string_view name) const {
  if (const NdArray* tensor = find(name)) return *tensor;
  std::vector<std::string> names;
  for (const auto& [key, tensor] : tensors) names.push_back(shown(key));
  throw Error(ErrorKind::bad_config, "no tensor '{}'{}", name, did_you_mean(name, names));
}

namespace {

[[noreturn]] void refuse_file(std::string_view name, const std::string& what) {
  throw Error(ErrorKind::bad_config, "{}: not a usable safetensors file: {}", name, what);
}

// How long the header is of a file of `size` bytes that starts like this.
std::uint64_t header_length(std::string_view start, std::uint64_t size, std::string_view name) {
  if (size < kLengthBytes) refuse_file(name, fmt::format("it has {} bytes", size));
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), kLengthBytes);
  if (length > kLongestTensorHeader) refuse_file(name, "it does not start with the length of a header");
  if (length > size - kLengthBytes)
    refuse_file(name, fmt::format("its header of {} bytes is cut short at {}", length, size - kLengthBytes));
  return length;
}

// `read(offset, out)` fills `out` from the data behind the header.
template <class Read>
Safetensors contents_of(TensorHeader& header, Read&& read) {
  Safetensors contents;
  contents.metadata = std::move(header.metadata());
  for (TensorEntry& entry : header.entries()) {
    NdArray array{entry.dtype, std::move(entry.shape), std::vector<std::byte>(entry.end - entry.begin)};
    read(entry.begin, std::span(reinterpret_cast<char*>(array.bytes.data()), array.bytes.size()));
    contents.tensors.emplace_back(std::move(entry.name), std::move(array));
  }
  return contents;
}

}  // namespace

Safetensors parse_safetensors(std::string_view bytes, std::string_view name) {
  const std::uint64_t length = header_length(bytes, bytes.size(), name);
  bytes.remove_prefix(kLengthBytes);
  const std::string_view data = bytes.substr(length);
  TensorHeader header(bytes.substr(0, length), data.size(), name);
  return contents_of(header, [&](std::uint64_t offset, std::span<char> out) {
    std::copy_n(data.data() + offset, out.size(), out.data());
  });
}

// The header first: a file may claim to be larger than any memory.
Safetensors read_safetensors(const std::string& path) {
  const InputFile file(path);
  if (!file.is_regular()) return parse_safetensors(read_file(path), path);
  std::string start(std::min<std::uint64_t>(file.size(), kLengthBytes), '\0');
  file.read_at(0, start);
  std::string text(header_length(start, file.size(), path), '\0');
  file.read_at(kLengthBytes, text);
  const std::uint64_t before = kLengthBytes + text.size();
  TensorHeader header(text, file.size() - before, path);
  return contents_of(header,
                     [&](std::uint64_t offset, std::span<char> out) { file.read_at(before + offset, out); });
}

std::string safetensors_bytes(const Safetensors& contents) {
  using Ordered = nlohmann::ordered_json;
  Ordered header = Ordered::object();
  for (const auto& [key, text] : contents.metadata) {
    require_tensor_text(key);
    require_tensor_text(text);
    // An object from the start: one that becomes one on its first use is broken when memory runs out then.
    if (!header.contains(kMetadataKey)) header[kMetadataKey] = Ordered::object();
    header[kMetadataKey][key] = text;
  }
  const auto order = tensors_in_file_order(contents);
  std::size_t offset = 0;
  for (const auto* tensor : order) {
    const NdArray& array = tensor->second;
    const std::size_t end = offset + array.bytes.size();
    header[tensor->first] = {{"dtype", kTensorTypes[static_cast<std::size_t>(array.dtype)]},
                             {"shape", array.shape},
                             {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLongestTensorHeader)
    throw Error(ErrorKind::usage, "safetensors: the metadata are too long");
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes.reserve(kLengthBytes + text.size() + offset);
  bytes += text;
  for (const auto* tensor : order) {
    bytes.append(reinterpret_cast<const char*>(tensor->second.bytes.data()), tensor->second.bytes.size());
  }
  return bytes;
}

void write_safetensors(const std::string& path, const Safetensors& contents) {
  write_file_atomic(path, safetensors_bytes(contents));
}

}  // namespace occam
