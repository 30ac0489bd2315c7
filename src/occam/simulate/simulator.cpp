#include "occam/simulate/simulator.hpp"

#include <algorithm>
#include <atomic>
#include <string>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/stop.hpp"
#include "occam/data/labels.hpp"
#include "occam/simulate/call_text.hpp"
#include "occam/simulate/usable.hpp"

namespace occam {
namespace {

constexpr std::int64_t kLargestShare = 256;  // data sets that a rank gets at a time, where they may be slow

constexpr double kMostValues = 2e9;  // in memory at a time: 8 GB

constexpr std::int64_t kFewestRows = 256;  // of a task, below which lanes of vectors run empty

void check_options(const SimulatorOptions& options, const Problem& problem) {
  const auto must = [](bool ok, std::string_view name, std::int64_t value, std::string_view expected) {
    if (!ok) throw Error(ErrorKind::usage, "{}: {} is not {}", name, value, expected);
  };
  must(options.batch >= 1, "batch", options.batch, "at least 1");
  must(options.group >= 1, "group", options.group, "at least 1");
  must(options.max_failures >= 1, "max_failures", options.max_failures, "at least 1");
  const std::int64_t model = options.model.value_or(0);
  must(model >= 0 && model < problem.J(), "model", model, fmt::format("an index in 0..{}", problem.J() - 1));
  const std::int64_t n = options.n.value_or(1);
  must(n >= 1 && n <= SizeDistribution::kLargest, "n", n,
       fmt::format("between 1 and {}", SizeDistribution::kLargest));
}

// Before memory is taken for so many data sets.
void require_room(std::size_t sets, double rows, std::int64_t columns) {
  if (rows * static_cast<double>(columns) <= kMostValues) return;
  throw Error(ErrorKind::bad_config,
              "{} data sets of {:.0f} rows on average, which are simulated together, hold more than {:.0f} "
              "values; ask for smaller ones",
              sets, rows / static_cast<double>(sets), kMostValues);
}

// A stream for something beside the simulation of a data set. The purpose of the simulation goes into the
// item, so that training and test data do not share it.
Rng stream_of(std::uint64_t seed, Purpose what, Purpose purpose, std::int64_t item) {
  return {seed, what, static_cast<std::uint64_t>(purpose) << 56 | static_cast<std::uint64_t>(item)};
}

std::string parameters_text(const Model& model, std::span<const double> theta) {
  std::string text;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    text += fmt::format("{}{} = {}", i > 0 ? ", " : "", model.parameters()[i].name, number_text(theta[i]));
  }
  return text;
}

}  // namespace

void lose_values(const Problem& problem, std::uint64_t seed, Purpose purpose, std::int64_t item,
                 MutableData data) {
  if (problem.missing().empty()) return;
  Rng rng = stream_of(seed, Purpose::missing, purpose, item);
  take_away(problem.missing(), rng, data);
  if (problem.design() == nullptr) return;
  Rng stream = stream_of(seed, Purpose::design, purpose, item);
  problem.design()->take_away(stream, data);
}

void lose_values(const Problem& problem, std::uint64_t seed, Purpose purpose, std::int64_t first,
                 Batch& batch) {
  for (std::int64_t b = 0; b < batch.size(); ++b)
    lose_values(problem, seed, purpose, first + b,
                {batch.mutable_data(b).data(), batch[b].n, batch.columns()});
}

Simulator::Simulator(Problem problem, std::uint64_t seed, Purpose purpose, SimulatorOptions options)
    : problem_(std::move(problem)), seed_(seed), purpose_(purpose), options_(options) {
  labels_ = label_groups(problem_.columns());
  check_options(options_, problem_);
  std::vector<const Family*> families;
  for (const Model& model : problem_.models()) {
    const auto found = std::find(families.begin(), families.end(), &model.family());
    family_of_model_.push_back(found - families.begin());
    if (found == families.end()) families.push_back(&model.family());
  }
}

void Simulator::simulate(std::int64_t batch_number, ThreadPool& pool, Batch& out) {
  prepare(batch_number, pool, out);
  pool.for_each(task_count(), [this](std::int64_t task, int) { run_task(task); });
  finish();
}

Batch Simulator::simulate(std::int64_t batch_number, ThreadPool& pool) {
  Batch out;
  simulate(batch_number, pool, out);
  return out;
}

void Simulator::simulate_range(std::int64_t first, std::int64_t count, ThreadPool& pool, Batch& out,
                               const std::function<void(std::int64_t done)>& tell) {
  prepare_range(first, count, pool, out);
  run_tasks(pool, tell);
  finish();
}

// Of other ranks it is taken that they are as fast: they are not asked before the end.
void Simulator::run_tasks(ThreadPool& pool, const std::function<void(std::int64_t done)>& tell) {
  const auto count = static_cast<std::int64_t>(rows_.size());
  const std::int64_t ranks = pool.ranks().size();
  std::atomic<std::int64_t> done{0};
  pool.for_each(task_count(), [&](std::int64_t call, int worker) {
    loop_.run(call, [&](std::int64_t number) {
      const Task& task = tasks_[static_cast<std::size_t>(number)];
      simulate(task);
      done += task.end - task.begin;
    });
    if (worker == 0 && tell) tell(std::min(count, ranks * done));
  });
}

void Simulator::prepare(std::int64_t batch_number, const ThreadPool& pool, Batch& out) {
  if (batch_number < 0) throw Error(ErrorKind::usage, "batch number {} is negative", batch_number);
  prepare_range(batch_number * options_.batch, options_.batch, pool, out);
}

// The cheap serial part: model and N of every data set, hence the place of its rows.
void Simulator::prepare_range(std::int64_t first, std::int64_t count, const ThreadPool& pool, Batch& out) {
  if (first < 0 || count < 0) {
    throw Error(ErrorKind::usage, "data sets {}..{}: a first index and a count of at least 0 are needed",
                first, first + count - 1);
  }
  out_ = &out;
  device_ = pool.loop_device();
  first_ = first;
  out.reset(problem_.D(), problem_.P(), problem_.J());
  rngs_.clear();
  theta_offsets_.clear();
  std::int64_t thetas = 0;
  asked_.clear();
  double rows = 0;
  for (std::int64_t b = 0; b < count; ++b) {
    const std::int64_t item = first + b;
    Rng& rng = rngs_.emplace_back(seed_, purpose_, static_cast<std::uint64_t>(item));
    // Model and N are drawn even where the options fix them, so that fixing one changes nothing else.
    const std::int64_t drawn = problem_.sample_model(rng);
    const std::int64_t j = options_.model.value_or(drawn);
    const std::int64_t n = draw_size(rng, item);
    asked_.push_back({static_cast<std::int32_t>(j), n, problem_.max_rows(j, n)});
    rows += static_cast<double>(asked_.back().rows);
    theta_offsets_.push_back(thetas);
    thetas += static_cast<std::int64_t>(problem_.models()[static_cast<std::size_t>(j)].parameters().size());
  }
  require_room(asked_.size(), rows, problem_.D());
  for (const Asked& one : asked_) out.append(one.model, one.n, one.rows);
  thetas_.resize(static_cast<std::size_t>(thetas));
  rows_.assign(static_cast<std::size_t>(count), 0);
  failures_.assign(static_cast<std::size_t>(count), 0);
  cut_into_tasks(pool);
}

std::int64_t Simulator::draw_size(Rng& rng, std::int64_t item) const {
  std::int64_t n = 0;
  if (problem_.one_n_per_batch()) {
    Rng shared = stream_of(seed_, Purpose::batch_size, purpose_, item / options_.batch);
    n = problem_.size().sample(shared);
  } else {
    n = problem_.size().sample(rng);
  }
  if (problem_.design() != nullptr) {
    Rng stream = stream_of(seed_, Purpose::design, purpose_, item);
    n = problem_.design()->size(stream, n);
  }
  return options_.n.value_or(n);
}

// How many data sets a task takes. What is dear has groups of its own: those simulated together may share
// random numbers. The others are cut so that every thread of every rank gets several tasks, and none is left
// with a large one at the end. What may be slow is cut into ever smaller ones: so ranks end at about the same
// time, however long each data set takes.
std::int64_t Simulator::group_of(const Family& family, std::int64_t left, std::int64_t n,
                                 const ThreadPool& pool) const {
  constexpr std::int64_t kTasks = 4;   // for each thread
  constexpr std::int64_t kShares = 4;  // of what is left, for each thread
  if (family.dear()) return family.group();
  const std::int64_t most = std::max(options_.group, family.group());
  if (family.may_be_slow()) {
    if (pool.ranks().is_alone()) return most;
    return std::clamp<std::int64_t>(left / (kShares * pool.workers()), 1, kLargestShare);
  }
  const std::int64_t fewest = std::min(most, (kFewestRows + n - 1) / n);
  const auto count = static_cast<std::int64_t>(rows_.size());
  return std::clamp(count / (kTasks * pool.workers()), fewest, most);
}

// Where a task ends that a device simulates: every call waits for the device, so there are few of them, and
// about equal numbers of rows in each. Of much there are several, so that cores prepare one while the device
// runs another.
std::int64_t Simulator::end_on_device(std::int64_t begin, const ThreadPool& pool) const {
  constexpr std::int64_t kRows = 32768;  // of a task, at least
  constexpr std::int64_t kTasks = 8;     // at most, for each rank
  std::int64_t all = 0;
  for (const std::int64_t n : out_->sizes()) all += n;
  const std::int64_t most = std::min(pool.workers(), kTasks * pool.ranks().size());
  const std::int64_t tasks = std::clamp<std::int64_t>(all / kRows, 1, most);
  std::int64_t end = begin, rows = 0;
  const auto count = static_cast<std::int64_t>(order_.size());
  while (end < count && rows < (all + tasks - 1) / tasks) rows += out_->sizes()[order_[end++]];
  return end;
}

// Data sets of one family go together, long ones first: lanes of a group then end at about the same time, and
// no thread starts on a long task when the others are done.
void Simulator::cut_into_tasks(const ThreadPool& pool) {
  const auto count = static_cast<std::int64_t>(rows_.size());
  const auto family = [&](std::int64_t b) {
    return family_of_model_[static_cast<std::size_t>(out_->models()[b])];
  };
  order_.resize(static_cast<std::size_t>(count));
  for (std::int64_t b = 0; b < count; ++b) order_[b] = b;
  std::sort(order_.begin(), order_.end(), [&](std::int64_t b, std::int64_t c) {
    if (family(b) != family(c)) return family(b) < family(c);
    if (out_->sizes()[b] != out_->sizes()[c]) return out_->sizes()[b] > out_->sizes()[c];
    return b < c;
  });
  requests_.resize(static_cast<std::size_t>(count));
  tasks_.clear();
  bool slow = false;
  for (std::int64_t begin = 0; begin < count;) {
    std::int64_t end = begin + 1;
    const Family& own = problem_.models()[static_cast<std::size_t>(out_->models()[order_[begin]])].family();
    const std::int64_t group = device_ != nullptr && own.has_device_code()
                                   ? end_on_device(begin, pool) - begin
                                   : group_of(own, count - begin, out_->sizes()[order_[begin]], pool);
    slow = slow || own.may_be_slow();
    while (end < count && end - begin < group && family(order_[end]) == family(order_[begin])) ++end;
    tasks_.push_back({begin, end});
    begin = end;
  }
  loop_.begin(pool.ranks(), static_cast<std::int64_t>(tasks_.size()), slow);
}

// Draws the parameters of data set b and notes the free ones in the batch.
void Simulator::draw_parameters(std::int64_t b) {
  const std::int64_t j = out_->models()[b];
  const Model& model = problem_.models()[static_cast<std::size_t>(j)];
  const std::span<double> theta{thetas_.data() + theta_offsets_[b], model.parameters().size()};
  model.sample_parameters(rngs_[b], theta);
  const std::span<double> noted = out_->mutable_parameters(b);
  const std::span<const std::int64_t> slots = problem_.slots(j);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] >= 0) noted[static_cast<std::size_t>(slots[i])] = theta[i];
  }
}

// Whether a request gave usable data; counts it where not.
bool Simulator::accept(std::int64_t b, const SimulationRequest& request) {
  const Model& model = problem_.models()[static_cast<std::size_t>(out_->models()[b])];
  if (request.rows > 0) {
    rows_[b] = request.rows;
    if (!options_.complete) {
      lose_values(problem_, seed_, purpose_, first_ + b, {request.out.data(), request.rows, problem_.D()});
    }
    return true;
  }
  if (++failures_[b] < options_.max_failures) return false;
  throw Error(
      ErrorKind::bad_data,
      "model '{}' gave no usable data in {} draws from its prior (n = {}; the last parameters were {}); "
      "check its priors",
      model.name(), options_.max_failures, request.n, parameters_text(model, request.theta));
}

void Simulator::run_task(std::int64_t call) {
  loop_.run(call, [this](std::int64_t task) { simulate(tasks_[static_cast<std::size_t>(task)]); });
}

void Simulator::simulate(const Task& task) {
  const auto [begin, end] = task;
  const Family& family = problem_.models()[static_cast<std::size_t>(out_->models()[order_[begin]])].family();
  for (std::int64_t i = begin; problem_.design() != nullptr && i < end; ++i) {
    Rng stream = stream_of(seed_, Purpose::design, purpose_, first_ + order_[i]);
    const std::int64_t n = out_->sizes()[order_[i]], D = problem_.D();
    const std::span<float> rows = out_->mutable_data(order_[i]);
    problem_.design()->fill(stream, n, rows);
    number_labels({rows.data(), n, D, D}, labels_);  // simulators count with them
  }
  // order_[begin, end) holds the data sets still to be simulated first; those done are swapped behind them.
  for (std::int64_t left = end; left > begin;) {
    end_if_stopped();
    for (std::int64_t i = begin; i < left; ++i) {
      const std::int64_t b = order_[i];
      draw_parameters(b);
      const std::size_t P =
          problem_.models()[static_cast<std::size_t>(out_->models()[b])].parameters().size();
      requests_[i] = {{thetas_.data() + theta_offsets_[b], P},
                      out_->sizes()[b],
                      &rngs_[b],
                      out_->mutable_data(b),
                      0,
                      problem_.design() != nullptr};
    }
    simulate_usable(family, problem_.D(), labels_,
                    {requests_.data() + begin, static_cast<std::size_t>(left - begin)}, device_);
    std::int64_t failed = begin;
    for (std::int64_t i = begin; i < left; ++i) {
      if (!accept(order_[i], requests_[i])) std::swap(order_[failed++], order_[i]);
    }
    left = failed;
  }
}

// The data sets of a task are named: those drawn again have changed places.
void Simulator::pack(const Task& task, ByteWriter& to) const {
  for (std::int64_t i = task.begin; i < task.end; ++i) {
    const std::int64_t b = order_[i];
    to.put(b);
    to.put(rows_[b]);
    to.put(failures_[b]);
    to.put(out_->parameters(b));
    to.put((*out_)[b].values().first(static_cast<std::size_t>(rows_[b] * problem_.D())));
  }
}

void Simulator::unpack(const Task& task, ByteReader& from) {
  for (std::int64_t i = task.begin; i < task.end; ++i) {
    const auto b = from.take<std::int64_t>();
    rows_[b] = from.take<std::int64_t>();
    failures_[b] = from.take<std::int64_t>();
    from.take(out_->mutable_parameters(b));
    from.take(out_->mutable_data(b).first(static_cast<std::size_t>(rows_[b] * problem_.D())));
  }
}

void Simulator::finish() {
  loop_.finish(
      [this](std::int64_t task, ByteWriter& to) { pack(tasks_[static_cast<std::size_t>(task)], to); },
      [this](std::int64_t task, ByteReader& from) { unpack(tasks_[static_cast<std::size_t>(task)], from); });
  const std::span<std::int64_t> failed = out_->mutable_failed_draws();
  for (std::size_t b = 0; b < rows_.size(); ++b) failed[out_->models()[b]] += failures_[b];
  out_->shrink(rows_);
  out_ = nullptr;
}

}  // namespace occam
