#include "occam/simulate/own/program_family.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/simulate/own/helpers.hpp"
#include "occam/simulate/own/worker_pool.hpp"

namespace occam {
namespace {

constexpr int kSeedShift = 11;  // seeds have 53 bits, so that every language can hold them in a double

bool looks_like_a_script(const std::string& word) {
  static const std::vector<std::string> endings = {".py", ".R",  ".r",  ".jl", ".m",
                                                   ".sh", ".pl", ".js", ".lua"};
  return !word.starts_with('-') &&
         std::any_of(endings.begin(), endings.end(),
                     [&](const std::string& ending) { return word.ends_with(ending); });
}

// What a worker finds in its environment: our helpers, and libraries held to one thread each, since there is
// one worker per core.
std::vector<std::pair<std::string, std::string>> worker_environment() {
  const std::string helpers = helper_folder();
  std::vector<std::pair<std::string, std::string>> environment = {{"OCCAM_HELPERS", helpers}};
  const char* path = std::getenv("PYTHONPATH");
  environment.emplace_back("PYTHONPATH", path == nullptr || *path == '\0' ? helpers : helpers + ":" + path);
  for (const char* name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "JULIA_NUM_THREADS"}) {
    if (std::getenv(name) == nullptr) environment.emplace_back(name, "1");
  }
  return environment;
}

}  // namespace

ProgramFamily::ProgramFamily(OwnModel own, std::vector<std::string> command, WorkerPools& pools)
    : OwnFamily(std::move(own)) {
  for (const Parameter& parameter : model().parameters) names_.push_back(parameter.name);
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (i == 0 && word.find('/') == std::string::npos) continue;  // searched in the PATH
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path_of(word), ignored)) {
      depends_on(word);
    } else if (looks_like_a_script(word) || i == 0) {
      throw Error(ErrorKind::no_input,
                  "simulator: there is no file '{}' in the folder of the problem file ({})", word,
                  model().folder);
    }
  }
  const std::string key = fmt::format("{}\n{}", model().folder, fmt::join(command, "\n"));
  for (const auto& [known, pool] : pools) {
    if (known == key) pool_ = pool;
  }
  if (pool_ != nullptr) return;
  ChildOptions options;
  options.command = std::move(command);
  options.folder = model().folder;
  pool_ = std::make_shared<WorkerPool>(std::move(options), worker_environment);
  pools.emplace_back(key, pool_);
}

std::int64_t ProgramFamily::simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                                     std::span<float> out) const {
  SimulationRequest request{theta, n, &rng, out};
  simulate_many({&request, 1});
  return request.rows;
}

void ProgramFamily::simulate_many(std::span<SimulationRequest> requests) const {
  const std::size_t D = model().columns.size();
  std::int64_t rows = 0;
  std::vector<std::uint64_t> seeds;
  for (const SimulationRequest& request : requests) {
    rows += request.n;
    seeds.push_back(request.rng->bits64() >> kSeedShift);
  }
  AnswerReader answer(rows, static_cast<std::int64_t>(D));
  try {
    pool_->ask(request_line(model().name, static_cast<std::int64_t>(D), names_, requests, seeds), answer,
               model().timeout_s);
  } catch (const Error& error) {
    throw Error(error.kind(), "{}: {}", label(), error.what()).with_detail(error.detail());
  }
  std::span<const float> rest = answer.values();
  for (SimulationRequest& request : requests) {
    const auto values = rest.first(static_cast<std::size_t>(request.n) * D);
    rest = rest.subspan(values.size());
    std::copy(values.begin(), values.end(), request.out.begin());
    request.rows = checked(request, values);
  }
}

}  // namespace occam
