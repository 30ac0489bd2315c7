// What is compiled depends on the source and its own includes, our header, the flags, the compiler and the
// CPU; a hash of all these names the library, so that nothing stale is ever loaded and several programs may
// compile at once: each writes under a name of its own and renames.
#define OCCAM_HOST  // of simulator.h: only the plain C structure
#include "occam/simulate/own/compiled_family.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/io/child_process.hpp"
#include "occam/io/file.hpp"
#include "occam/simulate/own/helpers.hpp"
#include "occam/simulate/own/simulator.h"

namespace occam {
namespace {

constexpr const char* kEntry = "occam_simulate_v1";

std::vector<std::string> words_of(const char* variable, const std::string& otherwise) {
  const char* value = std::getenv(variable);
  const std::string text = value == nullptr || *value == '\0' ? otherwise : value;
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    if (space > at) words.push_back(text.substr(at, space - at));
    at = space + 1;
  }
  return words;
}

std::vector<std::string> compiler_flags() {
#if defined(__aarch64__)
  const char* native = "-mcpu=native";
#else
  const char* native = "-march=native";
#endif
  std::vector<std::string> flags = {"-std=c++20",          "-O3",     native,
                                    "-fno-math-errno",     "-shared", "-fPIC",
                                    "-fvisibility=hidden", "-Wall",   "-Wl,--no-undefined"};
  for (std::string& word : words_of("CXXFLAGS", "")) flags.push_back(std::move(word));
  return flags;
}

// Code for one CPU must not be loaded on another that shares the home folder.
std::string cpu_text() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (line.starts_with("model name") || line.starts_with("flags") || line.starts_with("Features") ||
        line.starts_with("CPU part")) {
      text += line + "\n";
    }
  }
  return text;
}

std::string quoted_include(const std::string& line) {
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return "";
  const auto word = line.find("include", hash);
  const auto open = line.find('"', hash);
  if (word == std::string::npos || open == std::string::npos || word > open) return "";
  const auto close = line.find('"', open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace

CompiledFamily::CompiledFamily(OwnModel own, std::string source)
    : OwnFamily(std::move(own)), source_(std::move(source)) {
  for (const Parameter& parameter : model().parameters) names_.push_back(parameter.name);
  for (const std::string& name : names_) name_texts_.push_back(name.c_str());
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path_of(source_), ignored)) {
    throw Error(ErrorKind::no_input,
                "simulator: there is no file '{}' in the folder of the problem file ({})", source_,
                model().folder);
  }
  add_source(source_);
}

// The file, and those of the user's own that it includes.
void CompiledFamily::add_source(const std::string& file) {
  const std::size_t before = files().size();
  depends_on(file);
  if (files().size() == before) return;  // seen
  std::ifstream text(path_of(file));
  for (std::string line; std::getline(text, line);) {
    const std::string name = quoted_include(line);
    if (name.empty()) continue;
    const std::string beside = (std::filesystem::path(file).parent_path() / name).lexically_normal().string();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path_of(beside), ignored)) add_source(beside);
  }
}

std::string CompiledFamily::compiled() const {
  const std::string headers = helper_folder();
  const std::vector<std::string> flags = compiler_flags();
  ChildOptions options;
  options.command = words_of("CXX", "c++");
  options.folder = model().folder;
  if (find_program(options.command.at(0), options.folder).empty()) {
    throw Error(ErrorKind::bad_config,
                "{}: there is no C++ compiler '{}'; install one (on Debian: apt-get install g++) or name "
                "yours in the "
                "environment variable CXX",
                label(), options.command[0]);
  }
  options.command.push_back("--version");
  const std::string version = run_program(options).second;
  options.command.pop_back();

  std::string content = fmt::format("{}\n{}\n{}\n{}\n{}\n", headers, fmt::join(options.command, " "), version,
                                    fmt::join(flags, " "), cpu_text());
  for (const auto& [file, hash] : files())
    content += fmt::format("{} {}\n", file, hexadecimal_hash(read_file(path_of(file))));
  const std::string library =
      fmt::format("{}/{}-{}.so", cache_folder(), std::filesystem::path(source_).stem().string(),
                  hexadecimal_hash(content));
  std::error_code ignored;
  if (std::filesystem::exists(library, ignored)) return library;

  static std::atomic<int> count{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", library, ::getpid(), count++);
  options.command.insert(options.command.end(), flags.begin(), flags.end());
  options.command.insert(options.command.end(), {"-I", headers, "-o", temporary, source_});
  const auto [code, said] = run_program(options);
  if (code != 0) {
    std::filesystem::remove(temporary, ignored);
    throw Error(ErrorKind::bad_config, "{}: '{}' does not compile; {} says", label(), source_,
                options.command[0])
        .with_detail(said);
  }
  std::filesystem::rename(temporary, library);
  return library;
}

CompiledFamily::Function CompiledFamily::function() const {
  if (const Function ready = function_.load(std::memory_order_acquire)) return ready;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  if (const Function ready = function_.load()) return ready;
  try {
    const std::string library = compiled();
    // Never closed: other threads may be inside, and a program simulates until its end.
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw Error(ErrorKind::bad_config, "{}: {}", label(), ::dlerror());
    const auto found = reinterpret_cast<Function>(::dlsym(handle, kEntry));
    if (found == nullptr) {
      throw Error(ErrorKind::bad_config, "{}: '{}' does not include <occam/simulator.h>", label(), source_);
    }
    function_.store(found, std::memory_order_release);
    return found;
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

std::int64_t CompiledFamily::simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                                      std::span<float> out) const {
  const Function call = function();
  const auto D = static_cast<std::int64_t>(model().columns.size());
  const std::span<float> cells = out.first(static_cast<std::size_t>(n * D));
  // A cell that is not written stays what it is here, and is found.
  std::fill(cells.begin(), cells.end(), std::numeric_limits<float>::quiet_NaN());
  std::array<char, 512> message{};
  occam_request_v1 request{};
  request.model = model().name.c_str();
  request.names = name_texts_.data();
  request.theta = theta.data();
  request.parameters = static_cast<std::int64_t>(theta.size());
  request.seed[0] = rng.bits64();
  request.seed[1] = rng.bits64();
  request.n = n;
  request.columns = D;
  request.out = cells.data();
  request.message = message.data();
  request.message_size = static_cast<std::int64_t>(message.size());
  const int answer = call(&request);
  if (answer < 0) throw Error(ErrorKind::bad_data, "{}: {}", label(), message.data());
  if (answer == 0) return 0;
  const std::int64_t rows = checked({theta, n, &rng, cells}, cells);
  if (rows == 0) {
    throw Error(ErrorKind::bad_data,
                "{}: simulate() returned true, but no cell of the data set holds a number", label());
  }
  return rows;
}

}  // namespace occam
