// What all fuzz targets share. A target is a file x_fuzz.cpp that defines LLVMFuzzerTestOneInput for one
// reader. With clang it becomes a program of libFuzzer; with any compiler the targets together form
// `fuzz_burst` (burst.cpp).
//
// A reader may refuse an input by an Error of the kinds that its header promises. Whatever else happens is a
// finding: other exceptions, internal errors, what the sanitizers report, too much memory or time, a program
// started (no_execution.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace occam::fuzz {

// Ends the program with the reason, so that the fuzzer keeps the input.
[[noreturn]] void finding(std::string_view why);

inline void require(bool holds, std::string_view promise) {
  if (!holds) finding(promise);
}

// Runs `body`. False where it refused the input by an Error of one of these kinds.
template <class Body>
bool accepted(std::initializer_list<ErrorKind> kinds, Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    for (const ErrorKind kind : kinds) {
      if (error.kind() == kind) return false;
    }
    finding(fmt::format("an error of a kind that is not promised ({}): {}", exit_code(error.kind()),
                        error.what()));
  }
}

// The bytes of an input as small choices, taken from the front. Zeros when they are used up.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  explicit Choices(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte();
  std::size_t below(std::size_t count);  // 0 where count is 0
  std::string_view text(std::size_t length);
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// The text in pieces of a few bytes, as it might come from a pipe. The text must outlive the source.
ByteSource in_pieces(std::string_view text, std::size_t piece);

// A file in memory (where the system has such a folder) that is written anew for each input, for readers that
// take a path. Removed at the end of the program.
class Scratch {
 public:
  explicit Scratch(const std::string& ending);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& holding(std::string_view bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace occam::fuzz
