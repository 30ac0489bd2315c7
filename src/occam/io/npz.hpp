// NumPy's npz format: a zip archive with one npy file per array. Reading takes stored and deflated members,
// ZIP64 and data descriptors, checks every CRC, and reads one array at a time. An archive may expand to 100
// times its own size, or to 64 MiB where that is more. Writing stores (no
// compression) and is deterministic: same arrays, same bytes. Formats: APPNOTE.TXT 6.3 (PKWARE), numpy.savez.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "occam/io/file.hpp"
#include "occam/io/npy.hpp"

namespace occam {

// An archive open for reading. Opening reads the list of members only; all faults of the archive are
// Error(bad_data), also those that show later. Reading is safe from several threads.
class NpzReader {
 public:
  // Fails as read_file does for what is not readable.
  explicit NpzReader(const std::string& path);
  // From memory; `name` is for messages.
  NpzReader(std::string bytes, std::string name);

  // The arrays, in the order of the archive and without ".npy". Members that are no arrays are left out.
  const std::vector<std::string>& names() const { return names_; }
  bool has(std::string_view name) const;

  // One array, CRC checked. Error(bad_data) that suggests the nearest name when there is no such array.
  NdArray read(std::string_view name) const;
  // Its type and shape alone.
  NpyHeader header(std::string_view name) const;

 private:
  struct Member {
    std::string name;  // in the archive, with ".npy"
    unsigned flags = 0;
    unsigned method = 0;
    std::uint32_t crc = 0;
    std::uint64_t compressed = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // of the local header
  };
  struct Directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t count = 0;
  };
  using ReadAt = std::function<void(std::uint64_t offset, std::span<char> out)>;

  void open();
  Directory find_directory() const;
  Directory zip64_directory(std::uint64_t locator_offset) const;
  Member parse_member(std::string_view& rest) const;
  void check_overlaps(const std::vector<Member>& members) const;
  void check_expansion(const std::vector<Member>& members) const;
  void add_array(Member member);
  std::string bytes_at(std::uint64_t offset, std::uint64_t size) const;
  const Member& member(std::string_view name) const;
  ByteSource stored_bytes(const Member& member) const;
  ByteSource content(const Member& member) const;
  std::string label(const Member& member) const;
  [[noreturn]] void broken(std::string_view what) const;

  std::string name_;
  ReadAt read_at_;
  std::uint64_t size_ = 0;
  std::uint64_t directory_offset_ = 0;
  std::vector<std::string> names_;
  std::vector<Member> members_;  // as names_
  std::unordered_map<std::string, std::size_t> index_;
};

// An archive under construction: arrays go out one by one, and nothing of them is kept in memory.
class NpzWriter {
 public:
  // Into a file that appears at commit(). Throws as AtomicFile does.
  explicit NpzWriter(const std::string& path);
  // Into any sink. `limit` is the largest number written in 32 bits: tests lower it to have small ZIP64
  // files.
  explicit NpzWriter(ByteSink sink, std::uint64_t limit = 0xfffffffe);

  // Throws Error(usage) when the name is empty, not UTF-8, or taken.
  void add(const std::string& name, const ArrayView& array);

  // Writes the list of members, and commits the file if there is one. To be called once, last.
  void commit();

 private:
  void put(std::string_view bytes);

  std::unique_ptr<AtomicFile> file_;
  ByteSink sink_;
  std::uint64_t limit_;
  std::uint64_t offset_ = 0;
  std::string directory_;
  std::uint64_t count_ = 0;
  std::unordered_set<std::string> names_;
};

}  // namespace occam
