#include "occam/engine/cuda/device_engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "occam/networks/label_level.hpp"
#include "occam/nn/adam.hpp"
#include "occam/nn/denormals.hpp"

namespace occam::gpu {
namespace {

// Answers are made of parts of so many observations.
constexpr std::int64_t kAnswerRows = 1 << 14;
constexpr std::int64_t kAnswerSets = 1 << 12;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

template <class T>
std::int64_t bytes_of(std::int64_t count) {
  return count * static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

void throw_usage(const std::string& message) {
  throw Error(ErrorKind::usage, message);
}

void throw_internal(const std::string& message) {
  throw Error(ErrorKind::internal, message);
}

DeviceEngine::DeviceEngine(const NetworkConfig& config, ThreadPool& pool, std::unique_ptr<Device> device)
    : network_(config),
      pool_(pool),
      device_(std::move(device)),
      windows_(windows_of(network_.config())),
      labels_(label_levels_of(network_.config())),
      workspaces_(static_cast<std::size_t>(pool.threads())) {
  provide(1, 1);
}

DeviceEngine::SlotLayout DeviceEngine::slot_layout() const {
  SlotLayout layout{};
  const NetworkConfig& config = network_.config();
  layout.offsets = aligned(sizeof(StepHead));
  layout.models = layout.offsets + aligned(bytes_of<std::int32_t>(capacity_.sets + 1));
  layout.present = layout.models + aligned(bytes_of<std::int32_t>(capacity_.sets));
  layout.targets = layout.present + aligned(bytes_of<float>(capacity_.sets));
  layout.levels = layout.targets + aligned(bytes_of<float>(capacity_.sets * config.parameters));
  const auto levels = static_cast<std::int64_t>(windows_.levels.size() + labels_.size());
  layout.statistics = layout.levels + aligned(bytes_of<std::int32_t>(levels * (capacity_.sets + 1)));
  layout.noise = layout.statistics + aligned(bytes_of<float>(capacity_.sets * network_.statistics()));
  layout.bundles = layout.noise + aligned(bytes_of<float>(capacity_.sets * network_.noise_width()));
  const std::int64_t bundles = network_.noise_width() > 0 ? capacity_.sets + 1 : 0;
  layout.labels = layout.bundles + aligned(bytes_of<std::int32_t>(bundles));
  layout.raw =
      layout.labels +
      aligned(bytes_of<std::int32_t>(static_cast<std::int64_t>(labels_.size()) * (3 * capacity_.rows + 1)));
  layout.bytes = layout.raw + aligned(bytes_of<float>(capacity_.rows * config.channels));
  return layout;
}

// Memory for a batch of this size; a little more than asked for, so that batches of changing sizes soon fit.
void DeviceEngine::provide(std::int64_t rows, std::int64_t sets) {
  if (rows <= capacity_.rows && sets <= capacity_.sets) return;
  capacity_ = {std::max(capacity_.rows, rows + rows / 8), std::max(capacity_.sets, sets)};
  build();
}

void DeviceEngine::build() {
  Arena counted;
  make_program(network_, plan_, capacity_, counted);
  memory_ = {};
  memory_ = DeviceArray<std::byte>(*device_, counted.used());
  Arena arena(memory_.data());
  program_ = make_program(network_, plan_, capacity_, arena);
  const std::vector<ColumnPlan> columns = column_plans(network_.config());
  device_->write(const_cast<ColumnPlan*>(program_.input.columns), columns.data(),
                 columns.size() * sizeof(ColumnPlan));
  layout_ = slot_layout();
  Feed feeds[kSlots];
  for (int slot = 0; slot < kSlots; ++slot) {
    slots_[slot] = DeviceArray<std::byte>(*device_, layout_.bytes);
    staged_[slot] = HostArray(*device_, layout_.bytes);
    const std::byte* at = slots_[slot].data();
    feeds[slot] = {reinterpret_cast<const StepHead*>(at),
                   reinterpret_cast<const std::int32_t*>(at + layout_.offsets),
                   reinterpret_cast<const std::int32_t*>(at + layout_.models),
                   reinterpret_cast<const float*>(at + layout_.present),
                   reinterpret_cast<const float*>(at + layout_.targets),
                   reinterpret_cast<const float*>(at + layout_.raw),
                   reinterpret_cast<const std::int32_t*>(at + layout_.levels),
                   static_cast<std::int32_t>(capacity_.sets) + 1,
                   reinterpret_cast<const float*>(at + layout_.statistics),
                   reinterpret_cast<const float*>(at + layout_.noise),
                   static_cast<std::int32_t>(network_.noise_width()),
                   reinterpret_cast<const std::int32_t*>(at + layout_.bundles),
                   reinterpret_cast<const std::int32_t*>(at + layout_.labels),
                   static_cast<std::int32_t>(capacity_.rows)};
  }
  if (learning_.size > 0) {
    const std::vector<std::uint8_t> kinds = weight_kinds(program_, learning_.size);
    device_->write(kinds_.data(), kinds.data(), kinds.size());
  }
  device_->prepare(program_, learning_, feeds);
}

void DeviceEngine::learn(LearningPlan plan, LearningState state, std::int64_t step) {
  const auto size = static_cast<std::int64_t>(state.weights.size());
  const bool rebuild = learning_.size == 0 || plan.link != plan_.link || plan.optimiser != plan_.optimiser;
  plan_ = std::move(plan);
  if (rebuild) {
    learning_ = {};
    learned_ = DeviceArray<float>(*device_, 6 * size);
    parts_ = DeviceArray<float>(*device_, kMostParts * size);
    kinds_ = DeviceArray<std::uint8_t>(*device_, size);
    norms_ = DeviceArray<double>(*device_, size / 256 + 1);
    done_ = DeviceArray<std::uint32_t>(*device_, 1);
    report_memory_ = DeviceArray<Report>(*device_, 1);
    learning_.size = size;
    float** const vectors[] = {&learning_.weights,       &learning_.average,  &learning_.first_moment,
                               &learning_.second_moment, &learning_.momentum, &learning_.gradient};
    for (std::int64_t i = 0; i < 6; ++i) *vectors[i] = learned_.data() + i * size;
    learning_.parts = parts_.data();
    learning_.kind = kinds_.data();
    learning_.norms = norms_.data();
    learning_.done = done_.data();
    learning_.report = report_memory_.data();
    build();
  }
  const auto send = [&](float* to, const std::vector<float>& from) {
    device_->write(to, from.data(), from.size() * sizeof(float));
  };
  send(learning_.weights, state.weights);
  send(learning_.average, state.average);
  send(learning_.first_moment, state.first_moment);
  send(learning_.second_moment, state.second_moment);
  if (plan_.optimiser == Optimiser::muon) send(learning_.momentum, state.momentum);
  adam_step_ = step;
  begun_.clear();
  begun_failed_.clear();
  fresh_ = true;
  failed_next_ = nullptr;
  report_ = {};
}

StepHead DeviceEngine::step_head(const Batch& batch, const StepSettings& settings) const {
  const AdamOptions options;
  StepHead head{};
  const double t = static_cast<double>(adam_step_ + 1);
  const double at = static_cast<double>(settings.step);
  head.loss_at = static_cast<std::int32_t>(begun_.size());
  head.fresh = fresh_ ? 1 : 0;
  head.scale = static_cast<float>(1.0 / static_cast<double>(batch.size()));
  head.adam_rate = static_cast<float>(settings.rate / (1 - std::pow(options.beta1, t)));
  head.adam_root = static_cast<float>(1 / std::sqrt(1 - std::pow(options.beta2, t)));
  head.average_rate = static_cast<float>(1 - std::min(plan_.average, at / (at + 10)));
  head.muon_rate = static_cast<float>(settings.rate);
  head.clip = plan_.clip;
  head.lambda = settings.lambda;
  head.parameter_weight = settings.parameter_weight;
  return head;
}

// A batch, or data alone, as it is sent; returns how much of the slot is used.
std::size_t DeviceEngine::fill(int slot, const StepHead& head, Ragged<const float> data, const Batch* batch) {
  std::byte* const at = staged_[slot].data();
  StepHead& own = *reinterpret_cast<StepHead*>(at);
  own = head;
  own.rows = static_cast<std::int32_t>(data.x.rows);
  own.sets = static_cast<std::int32_t>(data.sets);
  auto* const offsets = reinterpret_cast<std::int32_t*>(at + layout_.offsets);
  for (std::int64_t b = 0; b <= data.sets; ++b) {
    offsets[b] = static_cast<std::int32_t>(data.offsets[b] - data.offsets[0]);
  }
  if (batch != nullptr) fill_targets(at, *batch);
  fill_levels(at, data);
  fill_labels(at, data);
  fill_statistics(at, data);
  const auto numbers = static_cast<std::size_t>(data.x.rows * data.x.columns);
  std::memcpy(at + layout_.raw, data.x.data, numbers * sizeof(float));
  return static_cast<std::size_t>(layout_.raw) + numbers * sizeof(float);
}

// Where the windows of every level begin.
void DeviceEngine::fill_levels(std::byte* slot, Ragged<const float> data) const {
  auto* const levels = reinterpret_cast<std::int32_t*>(slot + layout_.levels);
  const std::int64_t stride = capacity_.sets + 1;
  std::vector<std::int64_t> rows(windows_.levels.size());
  for (std::size_t l = 0; l < windows_.levels.size(); ++l) levels[static_cast<std::int64_t>(l) * stride] = 0;
  for (std::int64_t b = 0; b < data.sets; ++b) {
    for (std::size_t l = 0; l < windows_.levels.size(); ++l) {
      rows[l] = windows_.levels[l].count(windows_.seen(l, data.size(b), rows));
      std::int32_t* const at = levels + static_cast<std::int64_t>(l) * stride + b;
      at[1] = at[0] + static_cast<std::int32_t>(rows[l]);
    }
  }
}

// Which rows belong together, and where the labels of each data set begin.
void DeviceEngine::fill_labels(std::byte* slot, Ragged<const float> data) {
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    auto* const offsets = reinterpret_cast<std::int32_t*>(slot + layout_.levels) +
                          static_cast<std::int64_t>(windows_.levels.size() + i) * (capacity_.sets + 1);
    auto* const of_row = reinterpret_cast<std::int32_t*>(slot + layout_.labels) +
                         static_cast<std::int64_t>(i) * (3 * capacity_.rows + 1);
    std::int32_t* const rows = of_row + capacity_.rows;
    std::int32_t* const first = rows + capacity_.rows;
    offsets[0] = 0;
    Workspace& workspace = workspaces_.front();
    for (std::int64_t b = 0; b < data.sets; ++b) {
      const std::int64_t at = data.offsets[b] - data.offsets[0];
      workspace.reset();
      offsets[b + 1] =
          offsets[b] + static_cast<std::int32_t>(number_rows(data.x.rows_from(data.offsets[b], data.size(b)),
                                                             labels_[i], offsets[b], of_row + at, workspace));
    }
    // The rows of one label after the other, in their order.
    const std::int64_t count = data.offsets[data.sets] - data.offsets[0], labels = offsets[data.sets];
    std::fill_n(first, labels + 1, 0);
    for (std::int64_t r = 0; r < count; ++r) ++first[of_row[r] + 1];
    std::partial_sum(first, first + labels + 1, first);
    for (std::int64_t r = 0; r < count; ++r) rows[first[of_row[r]]++] = static_cast<std::int32_t>(r);
    std::copy_backward(first, first + labels, first + labels + 1);
    first[0] = 0;
  }
}

void DeviceEngine::fill_statistics(std::byte* slot, Ragged<const float> data) {
  if (network_.statistics() == 0) return;
  auto* const statistics = reinterpret_cast<float*>(slot + layout_.statistics);
  pool_.for_each(data.sets, [&](std::int64_t b, int thread) {
    network_.statistics_of(data.x.rows_from(data.offsets[b], data.size(b)),
                           statistics + b * network_.statistics(),
                           workspaces_[static_cast<std::size_t>(thread)]);
  });
}

// What the CPU draws at this step, and the bundles it cuts the batch into, over which a head may compare data
// sets. Returns how many these are.
std::int32_t DeviceEngine::fill_noise(int slot, const PassNoise& noise, Ragged<const float> data) {
  const std::int64_t width = network_.noise_width();
  if (width == 0) return 0;
  std::byte* const at = staged_[slot].data();
  auto* const numbers = reinterpret_cast<float*>(at + layout_.noise);
  pool_.for_each(data.sets, [&](std::int64_t b, int) { network_.draw_noise(noise, b, numbers + b * width); });
  bundles_.cut(data.offsets, data.sets, network_.bundle_rows(), network_.bundle_sets(data.sets),
               network_.fewest_sets());
  auto* const first = reinterpret_cast<std::int32_t*>(at + layout_.bundles);
  for (std::int64_t i = 0; i <= bundles_.size(); ++i) first[i] = static_cast<std::int32_t>(bundles_.first(i));
  return static_cast<std::int32_t>(bundles_.size());
}

std::int64_t DeviceEngine::rows_with_continued(Ragged<const float> data) const {
  std::int64_t rows = 0;
  for (std::int64_t b = 0; b < data.sets; ++b) rows += windows_.continued(data.size(b));
  return rows;
}

void DeviceEngine::fill_targets(std::byte* slot, const Batch& batch) const {
  auto* const models = reinterpret_cast<std::int32_t*>(slot + layout_.models);
  auto* const present = reinterpret_cast<float*>(slot + layout_.present);
  auto* targets = reinterpret_cast<float*>(slot + layout_.targets);
  std::copy(batch.models().begin(), batch.models().end(), models);
  if (network_.config().parameters == 0) return;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto& mask = plan_.targets.masks[static_cast<std::size_t>(models[b])];
    present[b] = std::accumulate(mask.begin(), mask.end(), 0.0f);
    const auto theta = batch.parameters(b);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      *targets++ = static_cast<float>(plan_.targets(models[b], p, theta[p]));
    }
  }
}

void DeviceEngine::step(BatchFeed& batches, const StepSettings& settings) {
  if (failed_next_) std::rethrow_exception(std::exchange(failed_next_, nullptr));
  if (report_.fault) return;
  const Batch& batch = batches.batch(settings.step);
  network_.check(batch.view());
  if (static_cast<std::int64_t>(begun_.size()) == kMostLosses) collect();
  if (report_.fault) return;
  provide(rows_with_continued(batch.view()), batch.size());
  slot_ = (slot_ + 1) % kSlots;
  device_->wait_for_slot(slot_);
  StepHead head = step_head(batch, settings);
  const PassNoise noise{plan_.seed, static_cast<std::uint64_t>(settings.step * batch.size())};
  head.bundles = fill_noise(slot_, noise, batch.view());
  const std::size_t bytes = fill(slot_, head, batch.view(), &batch);
  device_->step(slot_, slots_[slot_].data(), staged_[slot_].data(), bytes);
  ++adam_step_;
  fresh_ = false;
  begun_.push_back(settings.step);
  const bool first_use = batches.first_use(settings.step);
  for (const std::int64_t failed : batch.failed_draws()) begun_failed_.push_back(first_use ? failed : 0);
  // The step is begun and will be learned from: what fails now is of the next one.
  try {
    const SideTasks next = batches.begin_next(settings.step);
    pool_.for_each(next.count, [&](std::int64_t task, int) { next.run(task); });
    batches.end_next();
  } catch (...) {
    failed_next_ = std::current_exception();
  }
}

// Waits for the steps that were begun and takes their losses in.
void DeviceEngine::collect() {
  if (begun_.empty()) return;
  if (std::exchange(taken_, false)) report_.clear();
  Report report;
  device_->read(&report, report_memory_.data(), sizeof(Report));
  const std::size_t J = begun_failed_.size() / begun_.size();
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    if (report.fault != 0 && static_cast<std::int32_t>(i) >= report.fault_at) {
      report_.fault = begun_[i];
      break;
    }
    report_.add(report.losses[i], std::span<const std::int64_t>(begun_failed_).subspan(i * J, J));
  }
  begun_.clear();
  begun_failed_.clear();
}

const StepReport& DeviceEngine::take_report() {
  if (taken_ && begun_.empty()) report_.clear();
  collect();
  taken_ = true;
  return report_;
}

const LearningState& DeviceEngine::state() {
  collect();
  const auto receive = [&](std::vector<float>& to, const float* from) {
    to.resize(static_cast<std::size_t>(learning_.size));
    device_->read(to.data(), from, to.size() * sizeof(float));
  };
  receive(exported_.weights, learning_.weights);
  receive(exported_.average, learning_.average);
  receive(exported_.first_moment, learning_.first_moment);
  receive(exported_.second_moment, learning_.second_moment);
  exported_.momentum.clear();
  if (plan_.optimiser == Optimiser::muon) receive(exported_.momentum, learning_.momentum);
  return exported_;
}

void DeviceEngine::answer(const std::vector<float>& weights, Ragged<const float> data,
                          std::int64_t most_samples, NetworkAnswers& out) {
  network_.check(data);
  const NetworkConfig& config = network_.config();
  const auto sets = static_cast<std::size_t>(data.sets);
  const auto J = static_cast<std::size_t>(config.models);
  out.models.resize(sets * J);
  out.parameters.resize(sets * static_cast<std::size_t>(config.parameters));
  out.summary.resize(sets * static_cast<std::size_t>(network_.summary_width()));
  const HeadKind& head = config.head_kind();
  out.log_p.resize(head.concentrations ? 0 : sets * J);
  out.spread.resize(head.samples ? sets * J : 0);
  if (head.samples) {
    packed_.resize(static_cast<std::size_t>(network_.packed_size()));
    network_.pack_all(weights.data(), packed_.data());
  }
  if (answering_.data() == nullptr) answering_ = DeviceArray<float>(*device_, network_.weight_count());
  device_->write(answering_.data(), weights.data(), weights.size() * sizeof(float));
  std::vector<std::int64_t> offsets;
  for (std::int64_t first = 0; first < data.sets;) {
    std::int64_t last = first + 1;
    std::int64_t rows = windows_.continued(data.size(first));
    while (last < data.sets && last - first < kAnswerSets) {
      rows += windows_.continued(data.size(last));
      if (rows > kAnswerRows) break;
      ++last;
    }
    offsets.resize(static_cast<std::size_t>(last - first + 1));
    answer_part(first, sub_batch(data, first, last - first, offsets.data()), out);
    if (head.samples) answer_samples(first, last - first, most_samples, out);
    first = last;
  }
  if (head.samples) return;
  std::vector<double> row(J);
  for (std::size_t b = 0; b < sets && !out.log_p.empty(); ++b) {
    std::copy_n(out.models.data() + b * J, J, row.begin());
    log_softmax(row, {out.log_p.data() + b * J, J});
  }
}

void DeviceEngine::answer_part(std::int64_t first, Ragged<const float> data, NetworkAnswers& out) {
  provide(rows_with_continued(data), data.sets);
  slot_ = (slot_ + 1) % kSlots;
  device_->wait_for_slot(slot_);
  const std::size_t bytes = fill(slot_, {}, data, nullptr);
  device_->write(slots_[slot_].data(), staged_[slot_].data(), bytes);
  device_->answer(slot_, answering_.data());
  const auto receive = [&](const float* from, std::int64_t columns, std::vector<float>& to) {
    if (columns == 0) return;
    const std::int64_t stride = padded16(static_cast<int>(columns));
    read_rows(from, data.sets, columns);
    for (std::int64_t b = 0; b < data.sets; ++b) {
      std::copy_n(rows_.data() + b * stride, columns, to.data() + (first + b) * columns);
    }
  };
  receive(program_.models, network_.config().models, out.models);
  receive(program_.parameters, network_.config().parameters, out.parameters);
  receive(program_.summary, program_.summary_width, out.summary);
}

void DeviceEngine::read_rows(const float* from, std::int64_t sets, std::int64_t columns) {
  rows_.resize(static_cast<std::size_t>(sets * padded16(static_cast<int>(columns))));
  device_->read(rows_.data(), from, rows_.size() * sizeof(float));
}

// A mean over samples of the head. Samples pass through its last layers only: a thousand of them take a core
// less than a millisecond, and these are the very samples of the CPU.
void DeviceEngine::answer_samples(std::int64_t first, std::int64_t sets, std::int64_t most_samples,
                                  NetworkAnswers& out) {
  const std::int64_t J = network_.config().models, width = program_.first_post_width;
  read_rows(program_.first_post, sets, width);
  const Matrix<float> all{rows_.data(), sets, width, padded16(static_cast<int>(width))};
  const std::int64_t parts = std::min<std::int64_t>(pool_.threads(), sets);
  pool_.for_each(parts, [&](std::int64_t i, int thread) {
    const FlushDenormals flush;
    const std::int64_t begin = part(sets, i, parts), count = part(sets, i + 1, parts) - begin;
    Workspace& workspace = workspaces_[static_cast<std::size_t>(thread)];
    workspace.reset();
    Matrix<float> first_post = all.rows_from(begin, count);
    Network<float>::Tape tape;
    tape.post = &first_post;
    tape.models = {out.models.data() + (first + begin) * J, count, J, J};
    const HeadAnswer answer = network_.answer(packed_.data(), tape, most_samples, workspace);
    for (std::int64_t b = 0; b < count; ++b) {
      std::copy_n(answer.log_p.row(b), J, out.log_p.data() + (first + begin + b) * J);
      std::copy_n(answer.spread.row(b), J, out.spread.data() + (first + begin + b) * J);
    }
  });
}

}  // namespace occam::gpu
