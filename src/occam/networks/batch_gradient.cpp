#include "occam/networks/batch_gradient.hpp"

#include <algorithm>

#include "occam/nn/denormals.hpp"

namespace occam {
namespace {

// More groups spread over more cores but cost memory and one more addition of all gradients each. How many
// there are must not depend on the number of threads: it decides in which order gradients are added.
constexpr std::int64_t kMostGroups = 32;

// Bundles run together up to so many observations: what training keeps of each is a kilobyte or more.
constexpr std::int64_t kMostRowsTogether = std::int64_t{1} << 17;

}  // namespace

void BundlePlan::cut(const std::int64_t* offsets, std::int64_t sets, std::int64_t most_rows,
                     std::int64_t most_sets, std::int64_t fewest_sets) {
  const std::int64_t rows = offsets[sets];
  std::int64_t count = std::max((rows + most_rows - 1) / most_rows, (sets + most_sets - 1) / most_sets);
  // Many bundles are made a multiple of eight or sixteen, so that threads get equal shares.
  const std::int64_t shares = count > 16 ? 16 : count > 8 ? 8 : 1;
  count = (count + shares - 1) / shares * shares;
  first_.assign(1, 0);
  for (std::int64_t set = 1; set < sets; ++set) {
    const std::int64_t begin = first_.back();
    const bool full = set - begin >= most_sets;
    // The rows so far are nearer to the share of all bundles so far than with this data set.
    const bool even =
        (offsets[set] + offsets[set + 1]) * count >= 2 * rows * static_cast<std::int64_t>(first_.size());
    const bool enough = set - begin >= fewest_sets && sets - set >= fewest_sets;
    if ((full || even) && enough) first_.push_back(set);
  }
  if (sets > 0) first_.push_back(sets);
}

Ragged<const float> sub_batch(Ragged<const float> batch, std::int64_t first, std::int64_t count,
                              std::int64_t* offsets) {
  const std::int64_t begin = batch.offsets[first];
  for (std::int64_t i = 0; i <= count; ++i) offsets[i] = batch.offsets[first + i] - begin;
  return {batch.x.rows_from(begin, offsets[count]), offsets, count};
}

template <class T>
BatchGradient<T>::BatchGradient(const Network<T>& network, ThreadPool& pool)
    : network_(network),
      pool_(pool),
      workspaces_(static_cast<std::size_t>(pool.threads())),
      packed_(static_cast<std::size_t>(network.packed_size())),
      gradient_(static_cast<std::size_t>(network.weight_count())),
      sum_(pool) {}

template <class T>
void BatchGradient<T>::pack(const T* weights) {
  pool_.for_each(network_.pack_tasks(),
                 [&](std::int64_t task, int) { network_.pack(task, weights, packed_.data()); });
}

template <class T>
void BatchGradient<T>::run(const T* weights, Ragged<const float> batch, BundleLoss<T>& loss, double scale,
                           const SideTasks& side, const PassNoise* noise) {
  network_.check(batch);
  pack(weights);
  plan_.cut(batch.offsets, batch.sets, network_.bundle_rows(), network_.bundle_sets(batch.sets),
            network_.fewest_sets());
  groups_ = std::min(plan_.size(), kMostGroups);
  while (static_cast<std::int64_t>(group_sums_.size()) < groups_) {
    group_sums_.emplace_back(static_cast<std::size_t>(network_.weight_count()));
  }
  // As few tasks as there are threads where data sets want to run together, else one for each group.
  const std::int64_t together = network_.sets_together();
  const std::int64_t first_group = sum_.first_group(groups_, pool_.ranks().rank());
  const std::int64_t own = sum_.first_group(groups_, pool_.ranks().rank() + 1) - first_group;
  const std::int64_t tasks =
      std::min(own, together == 1 ? own : std::max<std::int64_t>(pool_.threads(), batch.sets / together));
  const auto run_task = [&](std::int64_t task, int worker) {
    const FlushDenormals flush;
    const std::int64_t first = first_group + own * task / tasks;
    const std::int64_t last = first_group + own * (task + 1) / tasks;
    for (std::int64_t group = first; group < last; ++group) {
      std::vector<T>& sum = group_sums_[static_cast<std::size_t>(group)];
      std::fill(sum.begin(), sum.end(), T{0});
    }
    for (std::int64_t begin = bundle_of(first), end = begin; begin < bundle_of(last); begin = end) {
      const auto fits = [&](std::int64_t bundle) {
        const std::int64_t from = plan_.first(begin);
        const std::int64_t to = plan_.first(bundle + 1);
        return to - from <= together && batch.offsets[to] - batch.offsets[from] <= kMostRowsTogether;
      };
      do {
        ++end;
      } while (end < bundle_of(last) && fits(end));
      run_pass(begin, end, batch, loss, noise, workspaces_[static_cast<std::size_t>(worker)]);
    }
  };
  // Side tasks last: they fill the gaps that tasks of unequal size leave.
  pool_.for_each(tasks + side.count, [&](std::int64_t item, int worker) {
    if (item < tasks) {
      run_task(item, worker);
    } else {
      side.run(item - tasks);
    }
  });
  sum_.add(group_sums_, groups_, static_cast<T>(scale), gradient_);
  even_out(workspaces_);
}

template <class T>
void BatchGradient<T>::run_pass(std::int64_t begin, std::int64_t end, Ragged<const float> batch,
                                BundleLoss<T>& loss, const PassNoise* noise, Workspace& workspace) {
  workspace.reset();
  const std::int64_t start = plan_.first(begin);
  const std::int64_t sets = plan_.first(end) - start;
  const Ragged<const float> data = sub_batch(batch, start, sets, workspace.take<std::int64_t>(sets + 1));
  const auto pass = network_.forward_body(packed_.data(), data, workspace, true);
  T** gradients = workspace.take<T*>(sets);
  const Matrix<T> d_features = workspace.matrix<T>(sets, network_.features());
  std::int64_t group = 0;
  for (std::int64_t bundle = begin; bundle < end; ++bundle) {
    while (bundle_of(group + 1) <= bundle) ++group;
    T* sum = group_sums_[static_cast<std::size_t>(group)].data();
    const std::int64_t first = plan_.first(bundle);
    const std::int64_t count = plan_.first(bundle + 1) - first;
    PassNoise own;
    if (noise != nullptr) own = {noise->seed, noise->item + static_cast<std::uint64_t>(first)};
    auto& tape = *network_.forward_head(packed_.data(), pass, first - start, count,
                                        noise != nullptr ? &own : nullptr, workspace);
    const Matrix<T> d_models = workspace.matrix<T>(count, tape.models.columns);
    const Matrix<T> d_parameters =
        tape.parameters.data == nullptr ? Matrix<T>{} : workspace.matrix<T>(count, tape.parameters.columns);
    loss.bundle(first, tape, d_models, d_parameters, workspace);
    const Matrix<T> d = network_.backward_head(packed_.data(), tape, d_models, d_parameters, sum, workspace);
    for (std::int64_t set = 0; set < count; ++set) {
      std::copy_n(d.row(set), d_features.columns, d_features.row(first - start + set));
      gradients[first - start + set] = sum;
    }
  }
  network_.backward_body(packed_.data(), pass, d_features, gradients, workspace);
}

template <class T>
std::vector<std::int64_t> BatchGradient<T>::set_ends() const {
  std::vector<std::int64_t> ends;
  for (int rank = 0; rank < pool_.ranks().size(); ++rank)
    ends.push_back(plan_.first(bundle_of(sum_.first_group(groups_, rank + 1))));
  return ends;
}

template <class T>
void BatchGradient<T>::each_bundle(const T* weights, Ragged<const float> batch, const Run& run) {
  network_.check(batch);
  pack(weights);
  // What runs together is of no consequence here, and as nothing is kept, twice as many stay in cache.
  const std::int64_t together = network_.sets_together();
  const std::int64_t share = (batch.sets + pool_.threads() - 1) / pool_.threads();
  plan_.cut(batch.offsets, batch.sets, network_.bundle_rows(),
            together == 1 ? network_.bundle_sets(batch.sets) : std::min(share, 2 * together));
  const auto run_bundle = [&](std::int64_t bundle, Workspace& workspace, const TileThreads* threads) {
    const FlushDenormals flush;
    workspace.reset();
    const std::int64_t first = plan_.first(bundle);
    const std::int64_t count = plan_.first(bundle + 1) - first;
    const auto data = sub_batch(batch, first, count, workspace.take<std::int64_t>(count + 1));
    run(first, *network_.forward(packed_.data(), data, workspace, false, nullptr, threads), workspace);
  };
  const auto shared = [&](std::int64_t bundle) {
    return batch.offsets[plan_.first(bundle + 1)] - batch.offsets[plan_.first(bundle)] >
           network_.shared_rows();
  };
  const TileThreads threads{pool_, workspaces_.data()};
  for (std::int64_t bundle = 0; bundle < plan_.size(); ++bundle) {
    if (shared(bundle)) run_bundle(bundle, workspaces_[0], &threads);
  }
  pool_.for_each(plan_.size(), [&](std::int64_t bundle, int worker) {
    if (!shared(bundle)) run_bundle(bundle, workspaces_[static_cast<std::size_t>(worker)], nullptr);
  });
}

template <class T>
void BatchGradient<T>::forward(const T* weights, Ragged<const float> batch, const Visit& visit) {
  each_bundle(weights, batch, [&](std::int64_t first, const typename Network<T>::Tape& tape, Workspace&) {
    visit(first, tape);
  });
}

template <class T>
void BatchGradient<T>::answer(const T* weights, Ragged<const float> batch, std::int64_t most_samples,
                              const VisitAnswer& visit) {
  each_bundle(weights, batch,
              [&](std::int64_t first, const typename Network<T>::Tape& tape, Workspace& workspace) {
                visit(first, tape, network_.answer(packed_.data(), tape, most_samples, workspace));
              });
}

template class BatchGradient<float>;
template class BatchGradient<double>;

}  // namespace occam
