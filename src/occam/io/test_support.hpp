// For tests that touch files: a folder that removes itself, the error a call throws, and mutations of bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <random>
#include <stdlib.h>
#include <string>

#include "occam/core/error.hpp"

namespace occam::testing_support {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "occam-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(ErrorKind::io, "cannot make '{}'", pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  std::size_t count_files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::string path_;
};

// The Error that `call` throws; empty when it throws none. Other exceptions pass through and fail the test.
template <class Call>
std::optional<Error> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

// "kind 65: message", or "no error": one string to compare in a test.
template <class Call>
std::string failure_of(Call&& call) {
  const auto error = error_of(call);
  if (!error) return "no error";
  return fmt::format("{}: {}", exit_code(error->kind()), error->what());
}

// `bytes` damaged as files are: bits flipped, bytes overwritten, pieces cut out, doubled or truncated.
inline std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (std::size_t change = 1 + below(4); change > 0 && !bytes.empty(); --change) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(16, bytes.size() - at));
    switch (below(7)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        for (std::size_t i = 0; i < length; ++i) bytes[at + i] = static_cast<char>(0xff);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 5:
        bytes.resize(at);
        break;
      default:
        bytes[at] = ",\"'\n\r{}[]():0919-.enN\\"[below(23)];
        break;
    }
  }
  return bytes;
}

}  // namespace occam::testing_support
