#include "occam/core/build.hpp"

#include <fstream>
#include <sys/utsname.h>
#include <thread>

#include <fmt/format.h>

#include "occam/core/commit.hpp"
#include "occam/core/version.hpp"

namespace occam {
namespace {

// Linux on x86-64 names the processor; on arm64 it gives numbers that nobody reads.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

std::string program_text() {
  const std::string commit = kCommit;
  return fmt::format("occam {}{}{}", kVersion, commit.empty() ? "" : ", commit ", commit);
}

std::string machine_text() {
  utsname system{};
  const bool known = uname(&system) == 0;
  const std::string processor = processor_name();
  return fmt::format("{} cores, {}{}{}, {}", std::thread::hardware_concurrency(),
                     known ? static_cast<const char*>(system.machine) : "unknown",
                     processor.empty() ? "" : ", ", processor,
                     known ? static_cast<const char*>(system.sysname) : "unknown system");
}

}  // namespace occam
