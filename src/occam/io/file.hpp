// Whole files in, and files out that are either complete or not there: written under a temporary name in the
// same folder, synced, then renamed. Paths are plain strings (a std::filesystem::path converts by itself).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace occam {

// Takes the next piece of a byte stream; throws Error(io) when it cannot.
using ByteSink = std::function<void(std::string_view)>;

// Fills the front of the buffer with the next bytes and returns how many; 0 only at the end.
using ByteSource = std::function<std::size_t(std::span<char>)>;

// The file's bytes. Error(no_input) when it does not exist, Error(io) when it cannot be read or is a folder.
std::string read_file(const std::string& path);

// A file open for reading. The constructor and the reading functions fail as read_file does.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  // False for pipes, terminals and devices: they have no size and only read() works.
  bool is_regular() const { return regular_; }
  std::uint64_t size() const { return size_; }

  // The next bytes, in order; returns how many, 0 only at the end.
  std::size_t read(std::span<char> out);
  // Exactly out.size() bytes from `offset`; safe to call from several threads. A file that ends before is
  // Error(io).
  void read_at(std::uint64_t offset, std::span<char> out) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  bool regular_ = false;
  std::uint64_t size_ = 0;
};

// Of several processes that do the same work, one writes what comes of it. In one that has called this, the
// functions and classes that write take what they are given and leave nothing, on standard output neither;
// but for what each needs for itself, such as in a cache.
void leave_writing_to_another();
bool writes_files();
enum class Written { by_one, by_each };

// Throws Error(io) when a file could not be written to `path` as things stand: its folder is missing or not
// writable, or `path` is a folder. For the start of long work, so that it does not fail at the end.
void require_writable(const std::string& path);

// A file under construction. Nothing appears under `path` before commit(); without commit() the destructor
// removes what was written. A symbolic link is followed, so its target is replaced and the link stays.
// Special files (/dev/null, /dev/stdout, a named pipe) are written directly. All failures are Error(io) with
// the path and the reason of the system.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path, Written written = Written::by_one);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes);
  // A sink that writes here; it must not outlive this object.
  ByteSink sink();

  // Flush, sync to disk, rename to `path`, sync the folder. To be called once, last.
  void commit();

  const std::string& path() const { return path_; }

 private:
  void open_temporary();
  void flush();
  void write_through(std::string_view bytes);
  void sync();

  std::string path_;       // as given, for messages
  std::string target_;     // links resolved
  std::string temporary_;  // empty when written directly
  std::string buffer_;
  int descriptor_ = -1;
  bool committed_ = false;
  bool silent_ = false;  // another process writes it
};

// AtomicFile in one call.
void write_file_atomic(const std::string& path, std::string_view bytes, Written written = Written::by_one);

}  // namespace occam
