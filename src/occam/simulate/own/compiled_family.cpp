#define OCCAM_HOST  // of simulator.h: only the plain C structures
#include "occam/simulate/own/compiled_family.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
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
  std::size_t end_ = (sizeof(occam_work_v2) + 63) / 64 * 64;
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

// A data set as it is handed to a worker.
struct CompiledFamily::Handed {
  std::span<const double> theta;  // (P)
  std::int64_t n = 0;
  const float* rows = nullptr;  // (n, D): the data, or the design that is given; null for none
  std::array<std::uint64_t, 2> seeds = {};
};

namespace {

// As many of the data sets as go together.
std::size_t together(std::span<const std::int64_t> n, std::size_t row_bytes) {
  std::size_t count = 0;
  for (std::size_t bytes = 0; count < n.size() && (count == 0 || bytes < kLargestBytes); ++count)
    bytes += static_cast<std::size_t>(n[count]) * row_bytes;
  return count;
}

// What a worker has left in its memory.
class Made {
 public:
  explicit Made(Worker& worker) : memory_(worker.memory().bytes().data()) {
    std::memcpy(&work_, memory_, sizeof(work_));
  }
  template <class T>
  const T* array(std::int64_t occam_work_v2::*place) const {
    return reinterpret_cast<const T*>(memory_ + work_.*place);
  }
  std::int64_t at() const { return work_.at; }
  std::string_view message() const {
    return {work_.message, ::strnlen(work_.message, sizeof(work_.message))};
  }

 private:
  const std::byte* memory_;
  occam_work_v2 work_;
};

}  // namespace

void CompiledFamily::simulate_many(std::span<SimulationRequest> requests) const {
  std::vector<std::int64_t> n;
  for (const SimulationRequest& request : requests) n.push_back(request.n);
  for (std::size_t done = 0; done < requests.size();) {
    const std::size_t count = together(std::span(n).subspan(done), model().columns.size() * sizeof(float));
    simulate_together(requests.subspan(done, count));
    done += count;
  }
}

void CompiledFamily::simulate_together(std::span<SimulationRequest> requests) const {
  const std::size_t D = model().columns.size();
  const bool designed = requests.front().designed;
  std::vector<Handed> handed;
  for (const SimulationRequest& request : requests) {
    Handed one{request.theta, request.n, designed ? request.out.data() : nullptr, {}};
    for (std::uint64_t& seed : one.seeds) seed = request.rng->bits64();
    handed.push_back(one);
  }
  const auto where = [&](std::size_t b) { return request_text(requests[b]); };
  const Deadline clock(model().timeout_s);
  std::unique_ptr<Worker> worker = work(OCCAM_SIMULATE, handed, designed, where);
  seconds_per_set_.store((clock.elapsed_s() + 1e-9) / static_cast<double>(requests.size()),
                         std::memory_order_relaxed);

  const Made made(*worker);
  const std::int64_t* const answers = made.array<std::int64_t>(&occam_work_v2::answers);
  const float* values = made.array<float>(&occam_work_v2::out);
  const std::vector<std::size_t> answered = answered_columns(model().columns, designed);
  const auto refuse = [&](std::size_t b, std::string_view what) {
    throw Error(ErrorKind::bad_data, "{}: {}, at {}", label(), what, where(b));
  };
  for (std::size_t b = 0; b < requests.size(); ++b) {
    const std::span<float> rows = requests[b].out.first(static_cast<std::size_t>(requests[b].n) * D);
    for (std::size_t row = 0; row < rows.size(); row += D) {
      for (const std::size_t column : answered) rows[row + column] = values[row + column];
    }
    values += rows.size();
    if (answers[b] < 0) refuse(b, made.message());
    requests[b].rows = answers[b] == 0 ? 0 : checked(requests[b], rows);
    if (answers[b] != 0 && requests[b].rows == 0)
      refuse(b, "simulate() returned true, but no cell of the data set holds a number");
  }
  pool_->give_back(std::move(worker));
}

std::optional<double> CompiledFamily::log_evidence(std::span<const Prior> priors, DataView data) const {
  double evidence = 0;
  if (!log_evidences(priors, {&data, 1}, {&evidence, 1})) return std::nullopt;
  return evidence;
}

bool CompiledFamily::log_evidences(std::span<const Prior> priors, std::span<const DataView> data,
                                   std::span<double> out) const {
  std::vector<std::int64_t> n;
  for (const DataView& one : data) n.push_back(one.n);
  for (std::size_t done = 0; done < data.size();) {
    const std::size_t count = together(std::span(n).subspan(done), model().columns.size() * sizeof(float));
    if (!evidences_together(priors, data.subspan(done, count), out.subspan(done, count))) return false;
    done += count;
  }
  return true;
}

bool CompiledFamily::evidences_together(std::span<const Prior> priors, std::span<const DataView> data,
                                        std::span<double> out) const {
  std::vector<double> fixed;
  for (const Prior& prior : priors)
    fixed.push_back(prior.is_fixed() ? prior.argument(0) : std::numeric_limits<double>::quiet_NaN());
  std::vector<Handed> handed;
  for (const DataView& one : data) handed.push_back({fixed, one.n, one.data, {}});
  // With the first row, by which it is found again in a file.
  const auto where = [&](std::size_t b) {
    const std::span<const float> row(data[b].data, model().columns.size());
    return fmt::format("data with n = {} and first row {}", data[b].n, fmt::join(row, ", "));
  };
  std::unique_ptr<Worker> worker = work(OCCAM_EVIDENCE, handed, true, where);

  const Made made(*worker);
  const std::int64_t* const answers = made.array<std::int64_t>(&occam_work_v2::answers);
  const double* const evidences = made.array<double>(&occam_work_v2::evidences);
  bool known = true;
  for (std::size_t b = 0; b < data.size(); ++b) {
    if (answers[b] < 0)
      throw Error(ErrorKind::bad_data, "{}: log_evidence: {}, at {}", label(), made.message(), where(b));
    known = known && answers[b] > 0;
    out[b] = evidences[b];
    if (known && !(out[b] < std::numeric_limits<double>::infinity())) {
      throw Error(ErrorKind::bad_data,
                  "{}: log_evidence() returned {}, at {}; expected a logarithm, -infinity where the model "
                  "cannot make the data",
                  label(), out[b], where(b));
    }
  }
  pool_->give_back(std::move(worker));
  if (!known) refuse_other_evidence();
  return known;
}

// A function of that name with other arguments is another function, and would never be called.
void CompiledFamily::refuse_other_evidence() const {
  if (read_file(path_of(source_)).find("double log_evidence(") == std::string::npos) return;
  throw Error(
      ErrorKind::bad_config,
      "{}: its log_evidence() has other arguments than expected; write it as double log_evidence(const "
      "occam::Parameters& p, const occam::Data& data)",
      label());
}

// Has a worker do the task. What goes wrong is told with the data set that it happened at.
std::unique_ptr<Worker> CompiledFamily::work(int task, std::span<const Handed> sets, bool designed,
                                             const std::function<std::string(std::size_t)>& where) const {
  const std::size_t B = sets.size();
  const std::size_t P = model().parameters.size();
  const std::size_t D = model().columns.size();
  std::size_t cells = 0;
  for (const Handed& one : sets) cells += static_cast<std::size_t>(one.n) * D;

  occam_work_v2 work{};
  Places places;
  work.task = task;
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
  work.evidences = places.next(B * sizeof(double));
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
  auto* given = reinterpret_cast<char*>(at(work.design));
  std::fill_n(given, D, designed ? 1 : 0);
  for (const std::size_t column : answered_columns(model().columns, designed)) given[column] = 0;
  auto* rows = reinterpret_cast<float*>(at(work.out));
  auto* theta = reinterpret_cast<double*>(at(work.theta));
  auto* seeds = reinterpret_cast<std::uint64_t*>(at(work.seeds));
  auto* n = reinterpret_cast<std::int64_t*>(at(work.n));
  for (const Handed& one : sets) {
    theta = std::copy(one.theta.begin(), one.theta.end(), theta);
    seeds = std::copy(one.seeds.begin(), one.seeds.end(), seeds);
    *n++ = one.n;
    if (one.rows != nullptr) rows = std::copy_n(one.rows, static_cast<std::size_t>(one.n) * D, rows);
  }
  try {
    Done done;
    worker->ask(".", done, model().timeout_s);
  } catch (const Error& error) {
    // The memory may hold anything after a crash.
    const std::int64_t b = Made(*worker).at();
    const bool known = b >= 0 && b < work.sets;
    throw Error(error.kind(), "{}: {}{}, at {}", label(), task == OCCAM_EVIDENCE ? "log_evidence: " : "",
                error.what(), known ? where(static_cast<std::size_t>(b)) : "unknown parameters")
        .with_detail(error.detail());
  }
  return worker;
}

}  // namespace occam
