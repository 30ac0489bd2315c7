// The archive is never trusted: every offset and length is checked against the file before it is used,
// members may not overlap, and the memory an array takes is what its npy header says, which has to agree with
// the archive.
#include "occam/io/npz.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#if OCCAM_ZLIB
#include <zlib.h>
#endif

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr std::uint32_t kLocalMark = 0x04034b50;
constexpr std::uint32_t kCentralMark = 0x02014b50;
constexpr std::uint32_t kEndMark = 0x06054b50;
constexpr std::uint32_t kEnd64Mark = 0x06064b50;
constexpr std::uint32_t kLocator64Mark = 0x07064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::uint16_t kExtra64 = 1;
constexpr unsigned kEncrypted = 1u << 0;
constexpr unsigned kUtf8Names = 1u << 11;
constexpr unsigned kStored = 0;
constexpr unsigned kDeflated = 8;
constexpr std::uint64_t kBestDeflate = 1032;  // no deflate stream expands more
// Small archives can be made to expand without bound. An archive may expand to so many times its own size, or
// to so many bytes where that is more.
constexpr std::uint64_t kMostExpansion = 100;
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t{64} << 20;
constexpr unsigned kDate1980 = 0x21;  // 1 January 1980, the earliest there is
constexpr std::string_view kNpySuffix = ".npy";

template <class Number>
Number get(std::string_view bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

// Appends numbers as little-endian bytes.
class Packer {
 public:
  Packer() { bytes_.reserve(128); }
  Packer& u16(std::uint64_t value) { return put(static_cast<std::uint16_t>(value)); }
  Packer& u32(std::uint64_t value) { return put(static_cast<std::uint32_t>(value)); }
  Packer& u64(std::uint64_t value) { return put(value); }
  Packer& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class Number>
  Packer& put(Number value) {
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    bytes_.append(raw, sizeof(value));
    return *this;
  }
  std::string bytes_;
};

// CRC-32 (polynomial 0xedb88320), eight bytes a step. Our own, since archives are also written without zlib.
class Crc32 {
 public:
  void add(std::string_view bytes) {
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      word ^= state_;
      std::uint32_t next = 0;
      for (int i = 0; i < 8; ++i) next ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
      state_ = next;
    }
    for (; left > 0; ++at, --left)
      state_ = state_ >> 8 ^ kTables[0][(state_ ^ static_cast<unsigned char>(*at)) & 0xff];
  }
  std::uint32_t value() const { return ~state_; }

 private:
  using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
  static constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
      tables[0][i] = value;
    }
    for (std::size_t t = 1; t < 8; ++t) {
      for (std::size_t i = 0; i < 256; ++i)
        tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
    }
    return tables;
  }
  static const Tables kTables;
  std::uint32_t state_ = 0xffffffffu;
};
constexpr Crc32::Tables Crc32::kTables = Crc32::make_tables();

#if OCCAM_ZLIB
// Decompresses a raw deflate stream that is pulled from another source.
class Inflater {
 public:
  Inflater(ByteSource compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), input_(std::size_t{1} << 16) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw Error(ErrorKind::internal, "zlib does not start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t read(std::span<char> out) {
    const std::size_t wanted = std::min<std::size_t>(out.size(), std::size_t{1} << 30);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out == wanted && !done_) step();
    return wanted - stream_.avail_out;
  }

 private:
  void step() {
    if (stream_.avail_in == 0) {
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(compressed_(input_));
      if (stream_.avail_in == 0)
        throw Error(ErrorKind::bad_data, "{}: the compressed data are cut short", name_);
    }
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    done_ = status == Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      throw Error(ErrorKind::bad_data, "{}: broken compressed data ({})", name_,
                  stream_.msg != nullptr ? stream_.msg : "zlib error");
    }
  }

  ByteSource compressed_;
  std::string name_;
  std::vector<char> input_;
  z_stream stream_{};
  bool done_ = false;
};

ByteSource inflated(ByteSource compressed, std::string name) {
  const auto inflater = std::make_shared<Inflater>(std::move(compressed), std::move(name));
  return [inflater](std::span<char> out) { return out.empty() ? 0 : inflater->read(out); };
}
#else
ByteSource inflated(const ByteSource&, const std::string& name) {
  throw Error(
      ErrorKind::bad_data,
      "{}: compressed, and this program was built without zlib; save with np.savez, not np.savez_compressed",
      name);
}
#endif

// Replaces sizes and offset that stand in the ZIP64 extra field; each is there only if the 32-bit one is
// full.
bool apply_extra64(std::string_view extra, std::uint64_t& size, std::uint64_t& compressed,
                   std::uint64_t& offset) {
  while (extra.size() >= 4) {
    const auto id = get<std::uint16_t>(extra, 0);
    const std::size_t length = get<std::uint16_t>(extra, 2);
    if (4 + length > extra.size()) return false;
    std::string_view field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != kExtra64) continue;
    for (std::uint64_t* value : {&size, &compressed, &offset}) {
      if (*value != 0xffffffffu) continue;
      if (field.size() < 8) return false;
      *value = get<std::uint64_t>(field, 0);
      field.remove_prefix(8);
    }
    return true;
  }
  return true;
}

}  // namespace

NpzReader::NpzReader(const std::string& path) : name_(path) {
  auto file = std::make_shared<InputFile>(path);
  if (!file->is_regular()) throw Error(ErrorKind::bad_data, "{}: npz is read from regular files only", path);
  size_ = file->size();
  read_at_ = [file](std::uint64_t offset, std::span<char> out) { file->read_at(offset, out); };
  open();
}

NpzReader::NpzReader(std::string bytes, std::string name) : name_(std::move(name)), size_(bytes.size()) {
  const auto shared = std::make_shared<const std::string>(std::move(bytes));
  // bytes_at has checked the range.
  read_at_ = [shared](std::uint64_t offset, std::span<char> out) {
    shared->copy(out.data(), out.size(), offset);
  };
  open();
}

void NpzReader::broken(std::string_view what) const {
  throw Error(ErrorKind::bad_data, "{}: broken npz archive: {}", name_, what);
}

std::string NpzReader::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset) broken("it points beyond its end");
  std::string bytes(size, '\0');
  read_at_(offset, bytes);
  return bytes;
}

NpzReader::Directory NpzReader::zip64_directory(std::uint64_t locator_offset) const {
  const std::string locator = bytes_at(locator_offset, kLocator64Bytes);
  const std::string end = bytes_at(get<std::uint64_t>(locator, 8), kEnd64Bytes);
  if (get<std::uint32_t>(end, 0) != kEnd64Mark) broken("the ZIP64 record is not where it should be");
  return {get<std::uint64_t>(end, 48), get<std::uint64_t>(end, 40), get<std::uint64_t>(end, 32)};
}

// The record that ends the archive is searched from the back: up to 64 KiB of comment may follow it.
NpzReader::Directory NpzReader::find_directory() const {
  const std::uint64_t tail_size = std::min<std::uint64_t>(size_, kEndBytes + 0xffff);
  const std::uint64_t tail_offset = size_ - tail_size;
  const std::string tail = bytes_at(tail_offset, tail_size);
  for (std::size_t back = kEndBytes; back <= tail.size(); ++back) {
    const std::size_t at = tail.size() - back;
    if (get<std::uint32_t>(tail, at) != kEndMark || get<std::uint16_t>(tail, at + 20) != back - kEndBytes)
      continue;
    const std::uint64_t offset = tail_offset + at;
    if (offset >= kLocator64Bytes) {
      const std::string locator = bytes_at(offset - kLocator64Bytes, kLocator64Bytes);
      if (get<std::uint32_t>(locator, 0) == kLocator64Mark) return zip64_directory(offset - kLocator64Bytes);
    }
    if (get<std::uint16_t>(tail, at + 4) != 0) broken("it is one part of several");
    return {get<std::uint32_t>(tail, at + 16), get<std::uint32_t>(tail, at + 12),
            get<std::uint16_t>(tail, at + 10)};
  }
  throw Error(ErrorKind::bad_data, "{}: not an npz archive, or cut short (no zip directory found)", name_);
}

NpzReader::Member NpzReader::parse_member(std::string_view& rest) const {
  if (rest.size() < kCentralBytes || get<std::uint32_t>(rest, 0) != kCentralMark)
    broken("its directory is damaged");
  Member member;
  member.flags = get<std::uint16_t>(rest, 8);
  member.method = get<std::uint16_t>(rest, 10);
  member.crc = get<std::uint32_t>(rest, 16);
  member.compressed = get<std::uint32_t>(rest, 20);
  member.size = get<std::uint32_t>(rest, 24);
  member.offset = get<std::uint32_t>(rest, 42);
  const std::size_t name_length = get<std::uint16_t>(rest, 28);
  const std::size_t extra_length = get<std::uint16_t>(rest, 30);
  const std::size_t all = kCentralBytes + name_length + extra_length + get<std::uint16_t>(rest, 32);
  if (rest.size() < all) broken("its directory is damaged");
  member.name = rest.substr(kCentralBytes, name_length);
  if (!apply_extra64(rest.substr(kCentralBytes + name_length, extra_length), member.size, member.compressed,
                     member.offset)) {
    broken("its directory is damaged");
  }
  rest.remove_prefix(all);
  const std::uint64_t header_bytes = kLocalBytes + name_length;
  if (member.offset > directory_offset_ || member.compressed > directory_offset_ ||
      member.offset + header_bytes + member.compressed > directory_offset_) {
    broken("it points beyond its end");
  }
  return member;
}

// Members that share bytes are how small archives are made to expand without bound.
void NpzReader::check_overlaps(const std::vector<Member>& members) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  ranges.reserve(members.size());
  for (const Member& member : members) {
    ranges.emplace_back(member.offset, member.offset + kLocalBytes + member.name.size() + member.compressed);
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) broken("its members overlap");
  }
}

void NpzReader::check_expansion(const std::vector<Member>& members) const {
  const std::uint64_t limit = std::max(kAlwaysAllowed, kMostExpansion * size_);
  std::uint64_t total = 0;
  for (const Member& member : members) {
    const bool plain = (member.flags & kEncrypted) == 0;
    if (plain && member.method == kStored && member.size != member.compressed)
      broken("a stored member has two sizes");
    if (plain && member.method == kDeflated && member.size / kBestDeflate > member.compressed)
      broken("a member claims an impossible size");
    if (member.size <= limit - total) {
      total += member.size;
      continue;
    }
    throw Error(
        ErrorKind::bad_data,
        "{}: its {} bytes expand to more than {}; archives may expand {} times, or to {} MiB; save it "
        "with np.savez, not np.savez_compressed",
        name_, size_, limit, kMostExpansion, kAlwaysAllowed >> 20);
  }
}

void NpzReader::add_array(Member member) {
  if (!member.name.ends_with(kNpySuffix)) return;
  std::string name = member.name.substr(0, member.name.size() - kNpySuffix.size());
  if (!index_.emplace(name, names_.size()).second) {
    broken(fmt::format("the array '{}' is there twice", shown(name)));
  }
  names_.push_back(std::move(name));
  members_.push_back(std::move(member));
}

void NpzReader::open() {
  const Directory directory = find_directory();
  directory_offset_ = directory.offset;
  const std::string bytes = bytes_at(directory.offset, directory.size);
  if (directory.count > directory.size / kCentralBytes) broken("its directory is damaged");
  std::vector<Member> members;
  members.reserve(directory.count);
  std::string_view rest = bytes;
  for (std::uint64_t i = 0; i < directory.count; ++i) members.push_back(parse_member(rest));
  if (!rest.empty()) broken("its directory is damaged");
  check_overlaps(members);
  check_expansion(members);
  for (Member& member : members) add_array(std::move(member));
}

bool NpzReader::has(std::string_view name) const {
  return index_.contains(std::string(name));
}

const NpzReader::Member& NpzReader::member(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found != index_.end()) return members_[found->second];
  // The list of an archive of thousands would bury the message.
  std::vector<std::string> known;
  for (std::size_t i = 0; i < std::min<std::size_t>(names_.size(), 1000); ++i)
    known.push_back(shown(names_[i]));
  const std::string nearest = nearest_name(name, known);
  if (known.size() > 20) known.resize(20);
  throw Error(ErrorKind::bad_data, "{}: no array '{}'{}", name_, name,
              nearest.empty() ? did_you_mean(name, known) : fmt::format(" (did you mean '{}'?)", nearest));
}

std::string NpzReader::label(const Member& member) const {
  return fmt::format("{}: array '{}'", name_,
                     shown(std::string_view(member.name).substr(0, member.name.size() - kNpySuffix.size())));
}

// The member's bytes as they stand in the archive. Sizes come from the directory: the local header need not
// have them (data descriptors), so only its length and its name matter here.
ByteSource NpzReader::stored_bytes(const Member& member) const {
  const std::string local = bytes_at(member.offset, kLocalBytes);
  if (get<std::uint32_t>(local, 0) != kLocalMark) broken("a member is not where the directory says");
  const std::uint64_t name_length = get<std::uint16_t>(local, 26);
  if (bytes_at(member.offset + kLocalBytes, name_length) != member.name) broken("two names for one member");
  const std::uint64_t begin = member.offset + kLocalBytes + name_length + get<std::uint16_t>(local, 28);
  if (begin > directory_offset_ || member.compressed > directory_offset_ - begin)
    broken("it points beyond its end");
  return [this, at = begin, left = member.compressed](std::span<char> out) mutable {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left));
    if (count > 0) read_at_(at, out.first(count));
    at += count;
    left -= count;
    return count;
  };
}

// The member's own bytes, decompressed.
ByteSource NpzReader::content(const Member& member) const {
  if ((member.flags & kEncrypted) != 0) {
    throw Error(ErrorKind::bad_data, "{}: encrypted; save it without a password", label(member));
  }
  if (member.method == kStored) return stored_bytes(member);
  if (member.method != kDeflated) {
    throw Error(ErrorKind::bad_data,
                "{}: zip method {} is unknown; save with np.savez or np.savez_compressed", label(member),
                member.method);
  }
  return inflated(stored_bytes(member), label(member));
}

NdArray NpzReader::read(std::string_view name) const {
  const Member& found = member(name);
  const ByteSource bytes = content(found);
  Crc32 crc;
  const auto checked = [&](std::span<char> out) {
    const std::size_t count = bytes(out);
    crc.add({out.data(), count});
    return count;
  };
  NdArray array = read_npy(checked, found.size, label(found));
  char more[1];
  if (checked(more) != 0) broken("a member is longer than the directory says");
  if (crc.value() != found.crc)
    throw Error(ErrorKind::bad_data, "{}: damaged (CRC does not match)", label(found));
  return array;
}

NpyHeader NpzReader::header(std::string_view name) const {
  const Member& found = member(name);
  NpyHeader header = read_npy_header(content(found), label(found));
  if (found.size < header.header_bytes || found.size - header.header_bytes != header.data_bytes) {
    throw Error(ErrorKind::bad_data, "{}: its shape {} does not match its {} bytes", label(found),
                shown(shape_text(header.shape), 200), found.size);
  }
  return header;
}

NpzWriter::NpzWriter(const std::string& path) : NpzWriter(ByteSink{}) {
  file_ = std::make_unique<AtomicFile>(path);
  sink_ = file_->sink();
}

NpzWriter::NpzWriter(ByteSink sink, std::uint64_t limit) : sink_(std::move(sink)), limit_(limit) {}

void NpzWriter::put(std::string_view bytes) {
  sink_(bytes);
  offset_ += bytes.size();
}

void NpzWriter::add(const std::string& name, const ArrayView& array) {
  array.check();
  const std::string file_name = name + std::string(kNpySuffix);
  if (name.empty() || file_name.size() > 0xffff || !is_utf8(name) || name.find('\0') != std::string::npos) {
    throw Error(ErrorKind::usage, "'{}' cannot name an array of an npz file", shown(name));
  }
  if (!names_.insert(name).second)
    throw Error(ErrorKind::usage, "two arrays of an npz file are named '{}'", shown(name));
  const std::string header = npy_header(array.dtype, array.shape);
  const std::string_view data(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  Crc32 crc;
  crc.add(header);
  crc.add(data);

  const std::uint64_t size = header.size() + data.size();
  const std::uint64_t offset = offset_;
  const bool large = size > limit_;
  const bool far = offset > limit_;
  const bool ascii =
      std::all_of(name.begin(), name.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
  const auto common = [&](Packer& packer) {  // the fields both headers share
    packer.u16(large || far ? 45 : 20).u16(ascii ? 0 : kUtf8Names).u16(kStored).u16(0).u16(kDate1980);
    packer.u32(crc.value())
        .u32(large ? 0xffffffffu : size)
        .u32(large ? 0xffffffffu : size)
        .u16(file_name.size());
  };
  Packer local;
  local.u32(kLocalMark);
  common(local);
  local.u16(large ? 20 : 0).text(file_name);
  if (large) local.u16(kExtra64).u16(16).u64(size).u64(size);
  put(local.bytes());
  put(header);
  put(data);

  const unsigned extra = (large ? 16 : 0) + (far ? 8 : 0);
  Packer central;
  central.u32(kCentralMark).u16(3 << 8 | 45);  // made by Unix, so that the permissions below count
  common(central);
  central.u16(extra > 0 ? extra + 4 : 0)
      .u16(0)
      .u16(0)
      .u16(0)
      .u32(0100644ull << 16)
      .u32(far ? 0xffffffffu : offset);
  central.text(file_name);
  if (extra > 0) central.u16(kExtra64).u16(extra);
  if (large) central.u64(size).u64(size);
  if (far) central.u64(offset);
  directory_ += central.bytes();
  ++count_;
}

void NpzWriter::commit() {
  const std::uint64_t start = offset_;
  const std::uint64_t size = directory_.size();
  put(directory_);
  Packer end;
  const bool large = start > limit_ || size > limit_ || count_ > std::min<std::uint64_t>(limit_, 0xfffe);
  if (large) {
    end.u32(kEnd64Mark).u64(kEnd64Bytes - 12).u16(3 << 8 | 45).u16(45).u32(0).u32(0);
    end.u64(count_).u64(count_).u64(size).u64(start);
    end.u32(kLocator64Mark).u32(0).u64(start + size).u32(1);
  }
  const std::uint64_t count16 = large ? 0xffff : count_;
  end.u32(kEndMark).u16(0).u16(0).u16(count16).u16(count16);
  end.u32(large ? 0xffffffffu : size).u32(large ? 0xffffffffu : start).u16(0);
  put(end.bytes());
  if (file_) file_->commit();
}

}  // namespace occam
