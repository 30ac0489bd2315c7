#include "archive.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "occam/io/npy.hpp"

namespace occam::fuzz {
namespace {

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      entries[i] = c;
    }
    return entries;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<std::uint8_t>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

// Numbers of a zip archive: little-endian; a lie now and then.
class Fields {
 public:
  explicit Fields(Choices* lies) : lies_(lies) {}

  void add(std::uint64_t value, int bytes) {
    if (lies_ != nullptr && !lies_->empty() && lies_->byte() % 16 == 1) value = lie(value);
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  }

  std::string text;

 private:
  std::uint64_t lie(std::uint64_t value) {
    constexpr std::array<std::uint64_t, 8> kLies = {0,      1,          8,          0x7fffffff,
                                                    0xffff, 0xfffffffe, 0xffffffff, 0x80};
    const std::size_t choice = lies_->below(kLies.size() + 4);
    if (choice < kLies.size()) return kLies[choice];
    return choice % 2 == 0 ? value + 1 : value - 1;
  }

  Choices* lies_;
};

std::string deflated_bytes(std::string_view bytes) {
  constexpr std::size_t kBlock = 0xffff;
  std::string out;
  do {
    const std::string_view block = bytes.substr(0, kBlock);
    bytes.remove_prefix(block.size());
    Fields fields(nullptr);
    fields.add(bytes.empty() ? 1 : 0, 1);  // last block or not, not compressed
    fields.add(block.size(), 2);
    fields.add(~block.size(), 2);
    out += fields.text;
    out += block;
  } while (!bytes.empty());
  return out;
}

}  // namespace

std::string archive(const std::vector<Member>& members, bool deflated, Choices* lies) {
  std::string out;
  std::string directory;
  for (const Member& member : members) {
    const std::string stored = deflated ? deflated_bytes(member.bytes) : member.bytes;
    const std::uint64_t offset = out.size();
    const auto add_common = [&](Fields& f) {
      f.add(20, 2);  // version
      f.add(0, 2);   // flags
      f.add(deflated ? 8 : 0, 2);
      f.add(0, 4);  // time
      f.add(crc32(member.bytes), 4);
      f.add(stored.size(), 4);
      f.add(member.bytes.size(), 4);
      f.add(member.name.size(), 2);
      f.add(0, 2);  // extra field
    };
    Fields local(lies);
    local.add(0x04034b50, 4);
    add_common(local);
    out += local.text + member.name + stored;
    Fields central(lies);
    central.add(0x02014b50, 4);
    central.add(20, 2);
    add_common(central);
    central.add(0, 2);  // comment
    central.add(0, 2);  // disk
    central.add(0, 2);
    central.add(0, 4);
    central.add(offset, 4);
    directory += central.text + member.name;
  }
  Fields end(lies);
  end.add(0x06054b50, 4);
  end.add(0, 4);
  end.add(members.size(), 2);
  end.add(members.size(), 2);
  end.add(directory.size(), 4);
  end.add(out.size(), 4);
  end.add(0, 2);
  return out + directory + end.text;
}

std::string chosen_npy(DType dtype, const Shape& shape, Choices& choices) {
  constexpr std::array<double, 8> kOdd = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 0.5, 9223372036854775808.0,
                                          -1};
  std::string text = npy_header(dtype, shape);
  const std::size_t bytes = array_bytes(shape, dtype).value_or(0);
  for (std::size_t i = 0; i < bytes / dtype_size(dtype); ++i) {
    const std::uint8_t byte = choices.byte();
    const double value = byte < 0xf8 ? byte % 4 : kOdd[byte - 0xf8u];
    std::array<char, 8> element{};
    if (dtype == DType::float64)
      std::memcpy(element.data(), &value, 8);
    else if (dtype == DType::float32) {
      const float single = std::abs(value) > 1e38 ? static_cast<float>(INFINITY) : static_cast<float>(value);
      std::memcpy(element.data(), &single, 4);
    } else {
      const std::int64_t whole = byte < 0xf8   ? byte % 4
                                 : byte < 0xfc ? std::numeric_limits<std::int64_t>::max() - byte
                                               : -byte;
      std::memcpy(element.data(), &whole, 8);
    }
    text.append(element.data(), dtype_size(dtype));
  }
  return text;
}

Shape chosen_shape(Shape right, Choices& choices) {
  const std::uint8_t choice = choices.byte();
  if (choice < 0xe0) return right;
  if (choice < 0xe8)
    right.push_back(1);
  else if (choice < 0xf0 && !right.empty())
    right.pop_back();
  else if (!right.empty())
    right[choices.below(right.size())] = static_cast<std::int64_t>(choices.below(8));
  return right;
}

DType chosen_dtype(DType right, Choices& choices) {
  const std::uint8_t choice = choices.byte();
  return choice < 0xd0 ? right : static_cast<DType>(choice % 11);
}

}  // namespace occam::fuzz
