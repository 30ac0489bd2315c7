// All fuzz targets as one plain program, for any compiler: runs the corpus, then mutations of it drawn from a
// fixed seed.
//   fuzz_burst CORPUS [EXECUTIONS [TARGET...]]     EXECUTIONS of each target (a tenth of whole networks)
// OCCAM_FUZZ_SEED draws others. An input that ends in a finding is written to `finding-TARGET` in the present
// folder.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#if defined(OCCAM_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

#include "fuzz.hpp"
#include "occam/io/test_support.hpp"
#include "targets.hpp"

namespace {

using occam::fuzz::Target;

std::string present_target;
std::string present_input;

void keep_input() {
  const std::string path = "finding-" + present_target;
  if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(present_input.data(), 1, present_input.size(), file);
    std::fclose(file);
    std::fprintf(stderr, "the input of %zu bytes is in %s\n", present_input.size(), path.c_str());
  }
}

#if !defined(OCCAM_ADDRESS_SANITIZER)
void keep_input_and_end(int number) {
  keep_input();
  std::_Exit(128 + number);
}
#endif

void run(const Target& target, std::string input) {
  present_target = target.name;
  present_input = std::move(input);
  target.run(reinterpret_cast<const std::uint8_t*>(present_input.data()), present_input.size());
}

std::vector<std::string> corpus_of(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const std::string& path : paths) inputs.push_back(occam::read_file(path));
  return inputs;
}

std::size_t burst(const Target& target, const std::string& corpus, std::size_t executions) {
  const std::vector<std::string> inputs = corpus_of(corpus + "/" + target.name);
  for (const std::string& input : inputs) run(target, input);
  const char* seed = std::getenv("OCCAM_FUZZ_SEED");
  std::mt19937 random(seed == nullptr ? 1u : static_cast<unsigned>(std::strtoul(seed, nullptr, 10)));
  for (std::size_t k = 0; k < executions; ++k) {
    const std::string& base = inputs[random() % inputs.size()];
    run(target, occam::testing_support::mutated(base, random));
  }
  return inputs.size() + executions;
}

}  // namespace

// Whatever a file claims, no reader may take more memory than this at once.
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=256:allocator_may_return_null=0:handle_abort=1:detect_leaks=1";
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fuzz_burst CORPUS [EXECUTIONS [TARGET...]]\n");
    return 64;
  }
#if defined(OCCAM_ADDRESS_SANITIZER)
  __sanitizer_set_death_callback(keep_input);
#else
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(number, keep_input_and_end);
#endif
  const std::size_t executions = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2000;
  const std::vector<std::string> wanted(argv + std::min(argc, 3), argv + argc);
  for (const Target& target : occam::fuzz::kTargets) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), target.name) == wanted.end()) continue;
    std::printf("%-12s", target.name);
    std::fflush(stdout);
    // Under sanitizers one of these takes as long as a hundred of the others; `make fuzz` runs them in full.
    const std::string name = target.name;
    const bool slow = name == "network" || name == "checkpoint";
    std::printf(" %zu executions\n", burst(target, argv[1], slow ? executions / 10 : executions));
  }
}
