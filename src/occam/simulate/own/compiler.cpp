// What is compiled depends on the source and its own includes, our files, the flags, the compiler and the
// CPU; a hash of all these names the program, so that nothing stale is ever used and several runs may compile
// at once: each works in a folder of its own and renames.
#include "occam/simulate/own/compiler.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/io/child_process.hpp"
#include "occam/io/file.hpp"
#include "occam/io/temporary.hpp"
#include "occam/simulate/own/helpers.hpp"

namespace occam {
namespace {

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
  // A forgotten `return true` would run on into whatever code comes next.
  std::vector<std::string> flags = {
      "-std=c++20", "-O3", native, "-fno-math-errno", "-Wall", "-Werror=return-type", "-DOCCAM_WORKER"};
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

double compiler_timeout_s() {
  constexpr double kDefault_s = 600;
  const char* value = std::getenv("OCCAM_COMPILER_TIMEOUT_S");
  const double seconds = value == nullptr ? kDefault_s : std::strtod(value, nullptr);
  return seconds > 0 ? seconds : kDefault_s;
}

// The compiler with no arguments yet.
ChildOptions compiler(const CompileRequest& request) {
  ChildOptions options;
  options.command = words_of("CXX", "c++");
  options.folder = request.folder;
  if (!find_program(options.command.at(0), options.folder).empty()) return options;
  throw Error(
      ErrorKind::bad_config,
      "there is no C++ compiler '{}'; install one (on Debian: apt-get install g++) or name yours in the "
      "environment variable CXX",
      options.command[0]);
}

void compile(ChildOptions options, const CompileRequest& request, const std::string& program) {
  // Its temporary files go there too, so that nothing stays behind when it is ended.
  const TemporaryFolder folder(program);
  const std::string made = folder.path() + "/worker";
  options.environment.emplace_back("TMPDIR", folder.path());
  options.command.insert(options.command.end(), {"-o", made, request.source});
  options.command.push_back(fmt::format("{}/{}", helper_folder(), kWorkerSource));
  const auto run = [&] {
    try {
      return run_program(options, compiler_timeout_s());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_config) throw;
      throw Error(ErrorKind::bad_config, "'{}' was not compiled: {} (OCCAM_COMPILER_TIMEOUT_S)",
                  request.source, error.what())
          .with_detail(error.detail());
    }
  };
  const auto [code, said] = run();
  if (code != 0 && said.find("undefined reference to `occam_simulate_v1'") != std::string::npos) {
    throw Error(ErrorKind::bad_config, "'{}' does not include <occam/simulator.h>", request.source);
  }
  if (code != 0) {
    throw Error(ErrorKind::bad_config, "'{}' does not compile; {} says", request.source, options.command[0])
        .with_detail(said);
  }
  std::filesystem::rename(made, program);
}

}  // namespace

std::string compiled_worker(const CompileRequest& request) {
  ChildOptions options = compiler(request);
  const std::string headers = helper_folder();
  const std::vector<std::string> flags = compiler_flags();
  ChildOptions version = options;
  version.command.push_back("--version");
  std::string content =
      fmt::format("{}\n{}\n{}\n{}\n{}\n", headers, fmt::join(options.command, " "),
                  run_program(version, compiler_timeout_s()).second, fmt::join(flags, " "), cpu_text());
  for (const auto& [file, hash] : request.files) content += fmt::format("{} {}\n", file, hash);
  const std::string program =
      fmt::format("{}/{}-{}.worker", cache_folder(), std::filesystem::path(request.source).stem().string(),
                  hexadecimal_hash(content));
  std::error_code ignored;
  if (std::filesystem::exists(program, ignored)) return program;
  options.command.insert(options.command.end(), flags.begin(), flags.end());
  options.command.insert(options.command.end(), {"-I", headers});
  compile(std::move(options), request, program);
  return program;
}

}  // namespace occam
