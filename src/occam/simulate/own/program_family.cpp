#include "occam/simulate/own/program_family.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/simulate/own/helpers.hpp"
#include "occam/simulate/own/protocol.hpp"
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
  pool_ = shared_pool(pools, fmt::format("{}\n{}", model().folder, fmt::join(command, "\n")),
                      [command, folder = model().folder] {
                        WorkerOptions options;
                        options.program.command = command;
                        options.program.folder = folder;
                        options.program.environment = worker_environment();
                        return options;
                      });
}

std::int64_t ProgramFamily::simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                                     std::span<float> out) const {
  SimulationRequest request{theta, n, &rng, out};
  simulate_many({&request, 1});
  return request.rows;
}

void ProgramFamily::simulate_many(std::span<SimulationRequest> requests) const {
  const std::size_t D = model().columns.size();
  const std::vector<std::size_t> places =
      answered_columns(model().columns, !requests.empty() && requests.front().designed);
  std::int64_t rows = 0;
  std::vector<std::uint64_t> seeds;
  for (const SimulationRequest& request : requests) {
    rows += request.n;
    seeds.push_back(request.rng->bits64() >> kSeedShift);
  }
  AnswerReader answer(rows, static_cast<std::int64_t>(places.size()));
  try {
    std::unique_ptr<Worker> worker = pool_->take();
    worker->ask(request_line(model().name, model().columns, names_, requests, seeds), answer,
                model().timeout_s);
    pool_->give_back(std::move(worker));
  } catch (const Error& error) {
    throw Error(error.kind(), "{}: {}", label(), error.what()).with_detail(error.detail());
  }
  const float* value = answer.values().data();
  for (SimulationRequest& request : requests) {
    const std::span<float> cells = request.out.first(static_cast<std::size_t>(request.n) * D);
    for (std::size_t row = 0; row < cells.size(); row += D) {
      for (const std::size_t place : places) cells[row + place] = *value++;
    }
    request.rows = checked(request, cells);
  }
}

void ProgramFamily::end_programs() const {
  try {
    pool_->end();
  } catch (const Error& error) {
    throw Error(error.kind(), "{}: {}", label(), error.what()).with_detail(error.detail());
  }
}

void end_programs(const Problem& problem) {
  for (const Model& model : problem.models()) {
    if (const auto* family = dynamic_cast<const ProgramFamily*>(&model.family())) family->end_programs();
  }
}

}  // namespace occam
