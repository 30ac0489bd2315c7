#include "occam/engine/cpu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "occam/nn/denormals.hpp"

namespace occam {
namespace {

template <class To, class From>
std::vector<To> converted(const std::vector<From>& values) {
  return {values.begin(), values.end()};
}

template <class From, class To>
void copy_rows(Matrix<From> from, std::int64_t first, std::vector<To>& to) {
  for (std::int64_t b = 0; b < from.rows && from.data != nullptr; ++b) {
    std::transform(from.row(b), from.row(b) + from.columns, to.begin() + (first + b) * from.columns,
                   [](auto x) { return static_cast<To>(x); });
  }
}

// Where rows of data sets with about as many observations each end.
std::vector<std::int64_t> parts_by_rows(Ragged<const float> data, int parts) {
  std::vector<std::int64_t> ends;
  const std::int64_t* const offsets = data.offsets;
  for (int r = 1; r <= parts; ++r) {
    const std::int64_t rows = part(offsets[data.sets], r, parts);
    ends.push_back(std::lower_bound(offsets, offsets + data.sets, rows) - offsets);
  }
  ends.back() = data.sets;
  return ends;
}

// What belongs to `sets` data sets, of which rank r has those up to ends[r].
template <class Value>
void complete(Communicator& ranks, std::size_t sets, std::vector<std::int64_t> ends,
              std::vector<Value>& values) {
  if (values.empty()) return;
  for (std::int64_t& end : ends) end *= static_cast<std::int64_t>(values.size() / sets);
  ranks.complete_values(values, ends);
}

}  // namespace

template <class T>
CpuEngine<T>::CpuEngine(const NetworkConfig& config, ThreadPool& pool)
    : network_(config), pool_(pool), gradient_(network_, pool) {}

template <class T>
void CpuEngine<T>::learn(LearningPlan plan, LearningState state, std::int64_t step) {
  plan_ = std::move(plan);
  loss_.emplace(network_, plan_);
  AdamOptions options;
  options.clip_norm = plan_.clip;
  adam_.emplace(network_.weight_count(), options);
  adam_->first_moment() = converted<T>(state.first_moment);
  adam_->second_moment() = converted<T>(state.second_moment);
  adam_->set_step(step);
  muon_.reset();
  if (plan_.optimiser == Optimiser::muon) muon_.emplace(network_.layout());
  if (muon_ && !pool_.ranks().is_alone()) share_matrices();
  muon_memory_.resize(static_cast<std::size_t>(pool_.threads()));
  weights_ = converted<T>(state.weights);
  average_ = converted<T>(state.average);
  momentum_ = converted<T>(state.momentum);
  report_ = {};
}

template <class T>
void CpuEngine<T>::step(BatchFeed& batches, const StepSettings& settings) {
  if (report_.fault) return;
  const Batch& batch = batches.batch(settings.step);
  // The next batch is simulated by the same threads, in the same loop.
  const SideTasks next = batches.begin_next(settings.step);
  const auto count = batch.size();
  const PassNoise noise{plan_.seed, static_cast<std::uint64_t>(settings.step * count)};
  loss_->begin(batch, settings);
  gradient_.run(weights_.data(), batch.view(), *loss_, 1.0 / static_cast<double>(count), next, &noise);
  if (!pool_.ranks().is_alone()) loss_->complete(pool_.ranks(), gradient_.set_ends());
  batches.end_next();
  const double mean = loss_->mean();
  if (!std::isfinite(mean) || !std::isfinite(gradient_.squared_norm())) {
    report_.fault = settings.step;
    return;
  }
  if (std::exchange(taken_, false)) report_.clear();
  report_.add(mean,
              batches.first_use(settings.step) ? batch.failed_draws() : std::span<const std::int64_t>());
  update(settings);
}

template <class T>
void CpuEngine<T>::update(const StepSettings& settings) {
  T* const gradient = gradient_.gradient().data();
  adam_->begin(settings.rate, gradient_.squared_norm());
  if (muon_) update_matrices(settings.rate);
  pool_.for_each(adam_->chunks(), [&](std::int64_t chunk, int) {
    const FlushDenormals flush;
    adam_->update_chunk(chunk, gradient, weights_.data());
    average_chunk(chunk, network_.weight_count(), plan_.average, settings.step, weights_.data(),
                  average_.data());
  });
}

template <class T>
void CpuEngine<T>::update_matrices(double rate) {
  T* const gradient = gradient_.gradient().data();
  const auto update = [&](std::int64_t matrix, int worker) {
    const FlushDenormals flush;  // the momentum of units that carry nothing any more fades away
    muon_->update(matrix, rate, gradient, momentum_.data(), weights_.data(),
                  muon_memory_[static_cast<std::size_t>(worker)]);
  };
  Communicator& ranks = pool_.ranks();
  if (ranks.is_alone()) {
    pool_.for_each(muon_->matrices(), update);
    return even_out(muon_memory_);
  }
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const std::int64_t first = rank == 0 ? 0 : matrix_ends_[rank - 1];
  pool_.for_each(matrix_ends_[rank] - first, [&](std::int64_t i, int worker) { update(first + i, worker); });
  ranks.complete_values(weights_, weight_ends_);
  for (const MuonPlace& place : matrices_)
    std::fill_n(gradient + place.first, place.rows * place.columns, T{0});  // as after an update
  even_out(muon_memory_);
}

// Rows of matrices that take about equally long.
template <class T>
void CpuEngine<T>::share_matrices() {
  matrices_ = muon_places(network_.layout());
  std::vector<double> work = {0};  // up to each matrix
  for (const MuonPlace& place : matrices_) {
    const auto size = static_cast<double>(place.rows * place.columns);
    work.push_back(work.back() + size * static_cast<double>(std::min(place.rows, place.columns)));
  }
  matrix_ends_.clear();
  weight_ends_.clear();
  const int size = pool_.ranks().size();
  for (int rank = 1; rank <= size; ++rank) {
    const auto end = std::lower_bound(work.begin(), work.end() - 1, work.back() * rank / size) - work.begin();
    const bool all = rank == size || end == static_cast<std::ptrdiff_t>(matrices_.size());
    matrix_ends_.push_back(all ? static_cast<std::int64_t>(matrices_.size()) : end);
    weight_ends_.push_back(all ? network_.weight_count() : matrices_[static_cast<std::size_t>(end)].first);
  }
}

template <class T>
const StepReport& CpuEngine<T>::take_report() {
  if (std::exchange(taken_, true)) report_.clear();
  return report_;
}

template <class T>
const LearningState& CpuEngine<T>::state() {
  if (muon_ && !pool_.ranks().is_alone()) pool_.ranks().complete_values(momentum_, weight_ends_);
  exported_.weights.assign(weights_.begin(), weights_.end());
  exported_.average.assign(average_.begin(), average_.end());
  exported_.first_moment.assign(adam_->first_moment().begin(), adam_->first_moment().end());
  exported_.second_moment.assign(adam_->second_moment().begin(), adam_->second_moment().end());
  exported_.momentum.assign(momentum_.begin(), momentum_.end());
  return exported_;
}

// Ranks answer for a part of the data sets each.
template <class T>
void CpuEngine<T>::answer(const std::vector<float>& weights, Ragged<const float> data,
                          std::int64_t most_samples, NetworkAnswers& out) {
  const NetworkConfig& config = network_.config();
  const auto sets = static_cast<std::size_t>(data.sets);
  const auto J = static_cast<std::size_t>(config.models);
  const HeadKind& head = config.head_kind();
  out.models.resize(sets * J);
  out.parameters.resize(sets * static_cast<std::size_t>(config.parameters));
  out.summary.resize(sets * static_cast<std::size_t>(network_.summary_width()));
  out.log_p.resize(head.concentrations ? 0 : sets * J);
  out.spread.resize(head.samples ? sets * J : 0);
  Communicator& ranks = pool_.ranks();
  if (ranks.is_alone()) return answer_some(weights, data, 0, most_samples, out);
  network_.check(data);  // whole, so that all ranks refuse what one of them would
  std::vector<std::int64_t> ends = parts_by_rows(data, ranks.size());
  const std::int64_t first = ranks.rank() == 0 ? 0 : ends[static_cast<std::size_t>(ranks.rank()) - 1];
  const std::int64_t count = ends[static_cast<std::size_t>(ranks.rank())] - first;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count) + 1);
  if (count > 0)
    answer_some(weights, sub_batch(data, first, count, offsets.data()), first, most_samples, out);
  for (std::vector<float>* values : {&out.models, &out.parameters, &out.summary})
    complete(ranks, sets, ends, *values);
  for (std::vector<double>* values : {&out.log_p, &out.spread}) complete(ranks, sets, ends, *values);
}

// The first of the data sets is number `begin` of those in `out`.
template <class T>
void CpuEngine<T>::answer_some(const std::vector<float>& weights, Ragged<const float> data,
                               std::int64_t begin, std::int64_t most_samples, NetworkAnswers& out) {
  const auto run = [&](const T* own) {
    gradient_.answer(
        own, data, most_samples,
        [&](std::int64_t first, const typename Network<T>::Tape& tape, const HeadAnswer& answer) {
          copy_rows(tape.models, begin + first, out.models);
          copy_rows(tape.parameters, begin + first, out.parameters);
          copy_rows(tape.summary, begin + first, out.summary);
          copy_rows(answer.log_p, begin + first, out.log_p);
          copy_rows(answer.spread, begin + first, out.spread);
        });
  };
  if constexpr (std::is_same_v<T, float>) {
    run(weights.data());
  } else {
    run(converted<T>(weights).data());
  }
}

template class CpuEngine<float>;
template class CpuEngine<double>;

void register_cpu(Registry<EngineKind>& registry) {
  registry.add("cpu", {"all threads of this machine", [](const NetworkConfig& config, ThreadPool& pool) {
                         return std::make_unique<CpuEngine<float>>(config, pool);
                       }});
}

}  // namespace occam
