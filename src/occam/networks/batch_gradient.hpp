// The gradient of a loss over one batch, on all threads. Data sets are cut into bundles that fit a core's
// cache; a thread carries a bundle through the whole network and back, with no barrier between layers.
// Bundles are summed within fixed groups and groups in a fixed tree, so that 1, 2 or 7 threads give the same
// bits; so do ranks, each of which takes a row of groups. Where a body is faster with many data sets, several
// bundles pass through it together, as many as the number of threads allows; that changes nothing in what is
// added to what.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "occam/networks/gradient_sum.hpp"
#include "occam/networks/network.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {

// The loss of the data sets of one bundle: first .. first + tape.models.rows - 1 of the batch. Reads the
// outputs on the tape, sets their gradients (d_parameters has null data without that output). What the head
// adds to the loss is on the tape, too (`penalty`); its gradient is the head's business. Called from any
// thread.
template <class T>
class BundleLoss {
 public:
  virtual ~BundleLoss() = default;
  virtual void bundle(std::int64_t first, const typename Network<T>::Tape& tape, Matrix<T> d_models,
                      Matrix<T> d_parameters, Workspace& scratch) = 0;
};

// Consecutive data sets, cut so that bundles hold about equally many observations, at most `rows` (and half a
// data set; or one that has more by itself), and at most `sets` data sets; but no fewer than `fewest_sets`,
// if there are as many. Depends on the sizes alone.
class BundlePlan {
 public:
  void cut(const std::int64_t* offsets, std::int64_t sets, std::int64_t most_rows, std::int64_t most_sets,
           std::int64_t fewest_sets = 1);
  std::int64_t size() const { return static_cast<std::int64_t>(first_.size()) - 1; }
  std::int64_t first(std::int64_t bundle) const { return first_[static_cast<std::size_t>(bundle)]; }

 private:
  std::vector<std::int64_t> first_ = {0};
};

// Data sets first .. first + count - 1 of a batch, as a batch of their own. `offsets` (count + 1) is filled
// in.
Ragged<const float> sub_batch(Ragged<const float> batch, std::int64_t first, std::int64_t count,
                              std::int64_t* offsets);

// Work that has nothing to do with the gradient but can use the same threads: the next batch's simulation.
struct SideTasks {
  std::int64_t count = 0;
  std::function<void(std::int64_t)> run;
};

template <class T>
class BatchGradient {
 public:
  BatchGradient(const Network<T>& network, ThreadPool& pool);

  using Visit = std::function<void(std::int64_t first, const typename Network<T>::Tape&)>;
  using VisitAnswer =
      std::function<void(std::int64_t first, const typename Network<T>::Tape&, const HeadAnswer&)>;

  // Fills gradient() with the sum over the batch, times `scale`. `noise` is that of the first data set of the
  // batch. Fails as Network::check does. With ranks, `loss` sees the data sets of this one alone.
  void run(const T* weights, Ragged<const float> batch, BundleLoss<T>& loss, double scale,
           const SideTasks& side = {}, const PassNoise* noise = nullptr);
  // Outputs only: calls visit(first, tape) for every bundle, from any thread.
  void forward(const T* weights, Ragged<const float> batch, const Visit& visit);
  // The same, with what Head::answer makes of them.
  void answer(const T* weights, Ragged<const float> batch, std::int64_t most_samples,
              const VisitAnswer& visit);

  const std::vector<T>& gradient() const { return gradient_; }
  std::vector<T>& gradient() { return gradient_; }  // for an optimiser that takes it in parts
  double squared_norm() const { return sum_.squared_norm(); }
  // Of the last run: where the data sets of each rank end, counted from the first of the batch.
  std::vector<std::int64_t> set_ends() const;

 private:
  void pack(const T* weights);
  // Outputs only; a bundle with a very long data set has all threads to itself.
  using Run = std::function<void(std::int64_t first, const typename Network<T>::Tape&, Workspace&)>;
  void each_bundle(const T* weights, Ragged<const float> batch, const Run& run);
  // Bundles begin .. end - 1, all the way and back; each adds to the sum of its group.
  void run_pass(std::int64_t begin, std::int64_t end, Ragged<const float> batch, BundleLoss<T>& loss,
                const PassNoise* noise, Workspace& workspace);
  // The first bundle of a group.
  std::int64_t bundle_of(std::int64_t group) const { return plan_.size() * group / groups_; }
  const Network<T>& network_;
  ThreadPool& pool_;
  BundlePlan plan_;
  std::int64_t groups_ = 0;
  std::vector<Workspace> workspaces_;  // one per thread
  PackedWeights<T> packed_;
  std::vector<std::vector<T>> group_sums_;  // one gradient per group
  std::vector<T> gradient_;
  GradientSum<T> sum_;
};

}  // namespace occam
