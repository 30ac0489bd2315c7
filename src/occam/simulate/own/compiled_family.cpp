#define OCCAM_HOST  // of simulator.h: only the plain C structures
#include "occam/simulate/own/compiled_family.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/simulate/own/compiler.hpp"
#include "occam/simulate/own/protocol.hpp"
#include "occam/simulate/own/simulator.h"
#include "occam/simulate/own/worker_pool.hpp"

namespace occam {
namespace {

// Data sets that are handed over together: enough to make the way there and back cheap, few enough to keep
// all threads busy and to stay in a cache. Numbers do not depend on it: each data set has its own seeds.
constexpr double kWorth_s = 1e-3;
constexpr double kMostSets = 64;
constexpr std::size_t kLargestBytes = std::size_t{1} << 20;

// One byte says that the data are there.
class Done final : public Answer {
 public:
  void add(std::string_view bytes) override { count_ += bytes.size(); }
  bool complete() const override { return count_ > 0; }

 private:
  std::size_t count_ = 0;
};

// Gives out places in the shared memory, each aligned for numbers.
class Places {
 public:
  std::int64_t next(std::size_t bytes) {
    const std::size_t place = end_;
    end_ += (bytes + 63) / 64 * 64;
    return static_cast<std::int64_t>(place);
  }
  std::size_t end() const { return end_; }

 private:
  std::size_t end_ = (sizeof(occam_work_v1) + 63) / 64 * 64;
};

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

CompiledFamily::CompiledFamily(OwnModel own, std::string source, WorkerPools& pools)
    : OwnFamily(std::move(own)), source_(std::move(source)) {
  for (const Parameter& parameter : model().parameters) names_ += parameter.name + '\0';
  for (const Column& column : model().columns) column_names_ += column.name + '\0';
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path_of(source_), ignored)) {
    throw Error(ErrorKind::no_input,
                "simulator: there is no file '{}' in the folder of the problem file ({})", source_,
                model().folder);
  }
  add_source(source_);
  pool_ = shared_pool(pools, fmt::format("{}\n{}", model().folder, source_),
                      [request = CompileRequest{model().folder, source_, files()}] {
                        WorkerOptions options;
                        options.program.command = {compiled_worker(request)};
                        options.program.folder = request.folder;
                        options.shares_memory = true;
                        return options;
                      });
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

void CompiledFamily::refuse(const SimulationRequest& request, std::string_view what) const {
  throw Error(ErrorKind::bad_data, "{}: {}, at {}", label(), what, request_text(request));
}

std::int64_t CompiledFamily::group() const {
  const double s = seconds_per_set_.load(std::memory_order_relaxed);
  return static_cast<std::int64_t>(std::clamp(kWorth_s / s, 1.0, kMostSets));
}

std::int64_t CompiledFamily::simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                                      std::span<float> out) const {
  SimulationRequest request{theta, n, &rng, out};
  simulate_many({&request, 1});
  return request.rows;
}

void CompiledFamily::simulate_many(std::span<SimulationRequest> requests) const {
  const std::size_t row_bytes = model().columns.size() * sizeof(float);
  while (!requests.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < requests.size() && (count == 0 || bytes < kLargestBytes); ++count)
      bytes += static_cast<std::size_t>(requests[count].n) * row_bytes;
    simulate_together(requests.first(count));
    requests = requests.subspan(count);
  }
}

void CompiledFamily::simulate_together(std::span<SimulationRequest> requests) const {
  const std::size_t B = requests.size();
  const std::size_t P = model().parameters.size();
  const std::size_t D = model().columns.size();
  std::size_t cells = 0;
  for (const SimulationRequest& request : requests) cells += static_cast<std::size_t>(request.n) * D;

  occam_work_v1 work{};
  Places places;
  work.sets = static_cast<std::int64_t>(B);
  work.parameters = static_cast<std::int64_t>(P);
  work.columns = static_cast<std::int64_t>(D);
  work.model = places.next(model().name.size() + 1);
  work.names = places.next(names_.size());
  work.column_names = places.next(column_names_.size());
  work.design = places.next(D);
  work.theta = places.next(B * P * sizeof(double));
  work.seeds = places.next(2 * B * sizeof(std::uint64_t));
  work.n = places.next(B * sizeof(std::int64_t));
  work.answers = places.next(B * sizeof(std::int64_t));
  work.out = places.next(cells * sizeof(float));

  std::unique_ptr<Worker> worker;
  try {
    worker = pool_->take();
    worker->memory().grow(places.end());
  } catch (const Error& error) {
    throw Error(error.kind(), "{}: {}", label(), error.what()).with_detail(error.detail());
  }
  std::byte* const memory = worker->memory().bytes().data();
  const auto at = [memory](std::int64_t place) { return memory + place; };
  work.bytes = static_cast<std::int64_t>(worker->memory().bytes().size());
  std::memcpy(memory, &work, sizeof(work));
  std::memcpy(at(work.model), model().name.c_str(), model().name.size() + 1);
  std::memcpy(at(work.names), names_.data(), names_.size());
  std::memcpy(at(work.column_names), column_names_.data(), column_names_.size());
  const bool designed = requests.front().designed;
  const std::vector<std::size_t> answered = answered_columns(model().columns, designed);
  auto* given = reinterpret_cast<char*>(at(work.design));
  std::fill_n(given, D, designed ? 1 : 0);
  for (const std::size_t column : answered) given[column] = 0;
  auto* design = reinterpret_cast<float*>(at(work.out));
  auto* theta = reinterpret_cast<double*>(at(work.theta));
  auto* seeds = reinterpret_cast<std::uint64_t*>(at(work.seeds));
  auto* n = reinterpret_cast<std::int64_t*>(at(work.n));
  for (const SimulationRequest& request : requests) {
    theta = std::copy(request.theta.begin(), request.theta.end(), theta);
    *seeds++ = request.rng->bits64();
    *seeds++ = request.rng->bits64();
    *n++ = request.n;
    if (designed) design = std::copy_n(request.out.data(), static_cast<std::size_t>(request.n) * D, design);
  }

  ask(*worker, requests);

  const auto* answers = reinterpret_cast<const std::int64_t*>(at(work.answers));
  const auto* values = reinterpret_cast<const float*>(at(work.out));
  for (std::size_t b = 0; b < B; ++b) {
    const std::span<float> rows = requests[b].out.first(static_cast<std::size_t>(requests[b].n) * D);
    for (std::size_t row = 0; row < rows.size(); row += D) {
      for (const std::size_t column : answered) rows[row + column] = values[row + column];
    }
    values += rows.size();
    if (answers[b] < 0) {
      const auto* message = reinterpret_cast<const occam_work_v1*>(memory)->message;
      refuse(requests[b], {message, ::strnlen(message, sizeof(work.message))});
    }
    requests[b].rows = answers[b] == 0 ? 0 : checked(requests[b], rows);
    if (answers[b] != 0 && requests[b].rows == 0)
      refuse(requests[b], "simulate() returned true, but no cell of the data set holds a number");
  }
  pool_->give_back(std::move(worker));
}

// Has the worker do what lies in its memory. What goes wrong is told with the parameters that it happened at.
void CompiledFamily::ask(Worker& worker, std::span<const SimulationRequest> requests) const {
  try {
    Done done;
    const Deadline clock(model().timeout_s);
    worker.ask(".", done, model().timeout_s);
    seconds_per_set_.store((clock.elapsed_s() + 1e-9) / static_cast<double>(requests.size()),
                           std::memory_order_relaxed);
  } catch (const Error& error) {
    occam_work_v1 work;
    std::memcpy(&work, worker.memory().bytes().data(), sizeof(work));
    // The memory may hold anything after a crash.
    const bool known = work.at >= 0 && work.at < static_cast<std::int64_t>(requests.size());
    const std::string where =
        known ? request_text(requests[static_cast<std::size_t>(work.at)]) : std::string("unknown parameters");
    throw Error(error.kind(), "{}: {}, at {}", label(), error.what(), where).with_detail(error.detail());
  }
}

}  // namespace occam
