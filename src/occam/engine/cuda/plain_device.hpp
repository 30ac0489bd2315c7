// A device made of plain loops: what the kernels of a GPU compute, one element after the other. For tests,
// which hold the engine and its programs against the CPU's own network without a GPU.
#pragma once

#include <cstdlib>
#include <cstring>

#include "occam/engine/cuda/device.hpp"
#include "occam/engine/cuda/latent.hpp"
#include "occam/engine/cuda/sequence_elements.hpp"

namespace occam::gpu {

class PlainDevice final : public Device {
 public:
  void* take(std::size_t bytes) override { return std::calloc(bytes + 1, 1); }
  void give(void* memory) override { std::free(memory); }
  void* take_host(std::size_t bytes) override { return std::calloc(bytes + 1, 1); }
  void give_host(void* memory) override { std::free(memory); }
  void write(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void read(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void prepare(const Program& program, const Learning& learning, const Feed (&feeds)[kSlots]) override {
    program_ = program;
    learning_ = learning;
    std::copy(feeds, feeds + kSlots, feeds_);
  }
  void wait_for_slot(int) override {}

  void step(int slot, void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
    feed_ = feeds_[slot];
    weights_ = learning_.weights;
    enter_all();
    for (const Launch& launch : program_.training) run(launch);
    add_gradients();
    judge();
    if (learning_.report->active == 0) return;
    for (const MuonMatrix& matrix : program_.muon) muon(matrix);
    adam();
  }

  void answer(int slot, const float* weights) override {
    feed_ = feeds_[slot];
    weights_ = weights;
    enter_all();
    for (const Launch& launch : program_.forward) run(launch);
  }

 private:
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  Place place(int row, int level) const {
    const std::int32_t* offsets = offsets_of(feed_, level);
    const int set = set_at(offsets, feed_.head->sets, row);
    return {row, set, offsets[set], offsets[set + 1] - offsets[set]};
  }
  Place place_of_set(int set) const {
    return {set, set, feed_.offsets[set], feed_.offsets[set + 1] - feed_.offsets[set]};
  }

  OwnScale own_scale_of(int column, int first, int last) const {
    const int D = program_.input.channels;
    double sum = 0, squares = 0, count = 0, low = INFINITY, high = -INFINITY;
    for (int r = first; r < last; ++r) {
      const float x = feed_.raw[static_cast<std::int64_t>(r) * D + column];
      if (unread(program_.input.columns[column], x)) continue;
      sum += x;
      low = std::min<double>(low, x);
      high = std::max<double>(high, x);
      ++count;
    }
    const double mean = count > 0 ? sum / count : 0;
    for (int r = first; r < last; ++r) {
      const float x = feed_.raw[static_cast<std::int64_t>(r) * D + column];
      if (!unread(program_.input.columns[column], x)) squares += (x - mean) * (x - mean);
    }
    OwnScale own = own_scale(mean, squares, count);
    own.low = low;
    own.high = high;
    return own;
  }

  void enter_all() {
    const InputPlan& input = program_.input;
    for (int set = 0; set < feed_.head->sets; ++set) {
      for (int i = 0; i < input.statistics_count; ++i) {
        statistic(input, set, i) =
            feed_.statistics[static_cast<std::int64_t>(set) * input.statistics_count + i];
      }
      for (int c = 0; c < input.channels; ++c) {
        const ColumnPlan& plan = input.columns[c];
        const int first = feed_.offsets[set], last = feed_.offsets[set + 1];
        const OwnScale own = own_scale_of(c, first, last);
        for (int r = first; r < last; ++r) {
          input.set_of_row[r] = set;
          float* const out = input.x + static_cast<std::int64_t>(r) * input.stride;
          enter(plan, c, feed_.raw[static_cast<std::int64_t>(r) * input.channels + c], own, out);
          if (plan.stays_at >= 0) out[plan.stays_at] = enter_age(feed_.raw, input.channels, c, r, first);
        }
      }
    }
  }

  void run(const Launch& launch) {
    if (launch.kind == LaunchKind::latent_back) {
      for (int i = 0; i < feed_.head->bundles; ++i)
        latent_back(Alone{}, launch.latent, feed_, feed_.bundles[i], feed_.bundles[i + 1]);
      return;
    }
    if (launch.kind == LaunchKind::labels || launch.kind == LaunchKind::labels_back) {
      run_labels(launch.labels, launch.kind == LaunchKind::labels_back);
      return;
    }
    if (launch.kind != LaunchKind::rows) {
      for (int set = 0; set < feed_.head->sets; ++set) run_set(launch, set);
      return;
    }
    const int rows = rows_of(feed_, launch.of_sets, launch.level);
    buffers_.assign(
        static_cast<std::size_t>(launch.buffers),
        std::vector<float>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(launch.width)));
    for (int i = launch.first; i < launch.first + launch.count; ++i) {
      const Op& op = program_.ops[static_cast<std::size_t>(i)];
      for (int row = 0; row < rows; ++row) {
        if (op.kind == OpKind::load) load(op, row, launch);
        if (op.kind == OpKind::product) product(op, row, launch);
        if (op.kind == OpKind::loss) loss(op, row, launch.width);
      }
    }
  }

  void run_labels(const LabelView& v, bool back) {
    const LabelRows labels(feed_, v.column);
    const int rows = rows_of(feed_, false, back ? 0 : v.level), columns = v.width + (back ? 0 : 1);
    for (int row = 0; row < rows; ++row) {
      for (int c = 0; c < columns; ++c) {
        if (back) {
          write_label_gradient(v, labels, row, c);
        } else {
          write_label_mean(v, labels, row, c);
        }
      }
    }
  }

  void run_set(const Launch& launch, int set) {
    switch (launch.kind) {
      case LaunchKind::pooling:
        return pool(launch.pool, set);
      case LaunchKind::factor:
      case LaunchKind::factor_back:
        return factor(launch, set);
      case LaunchKind::lstm:
        return lstm(launch.lstm, set);
      case LaunchKind::lstm_back:
        return lstm_back(launch.lstm, set);
      case LaunchKind::latent:
        for (int c = 0; c < launch.latent.latents; ++c) draw_latent(launch.latent, feed_, set, c);
        return;
      case LaunchKind::latent_back:
      case LaunchKind::labels:
      case LaunchKind::labels_back:
      case LaunchKind::rows:
        break;
    }
  }

  float* buffer(int index, int row, int width) {
    return buffers_[static_cast<std::size_t>(index)].data() + static_cast<std::int64_t>(row) * width;
  }

  void load(const Op& op, int row, const Launch& launch) {
    const std::int64_t first = static_cast<std::int64_t>(row) * padded16(op.columns);
    float* const to = buffer(op.out, row, launch.width);
    if (op.add == Add::thinned) {
      for (int c = 0; c < op.columns; ++c)
        op.store[first + c] = to[c] = op.from[first + c] * noise_of(feed_, row, op.noise + c);
      return;
    }
    if (op.add != Add::windows) {
      std::copy_n(op.from + first, op.columns, to);
      return;
    }
    const Place at = place(row, launch.level);
    const WindowRows windows(op.window, feed_);
    for (int c = 0; c < op.columns; ++c) op.store[first + c] = to[c] = window_value(windows, at, c);
  }

  float added_to(const Op& op, Place at, int c) const {
    return op.add == Add::windows ? window_gradient({op.window, feed_}, at, c) : added(op, at, c);
  }

  void product(const Op& op, int row, const Launch& launch) {
    const Place at = launch.of_sets ? place_of_set(row) : place(row, launch.level);
    const std::int64_t first = static_cast<std::int64_t>(row) * padded16(op.columns);
    for (int c = 0; c < op.columns; ++c) {
      double sum = op.bias >= 0 ? weights_[op.bias + c] : 0.0f;
      for (int s = 0; s < op.sources; ++s) {
        const Source& source = op.source[s];
        const float* a = buffer(source.buffer, row, launch.width);
        for (int k = 0; k < source.inner; ++k) {
          const std::int64_t i = source.transposed ? c : k, j = source.transposed ? k : c;
          sum += static_cast<double>(a[k]) * weights_[source.weight + i * source.weight_columns + j];
        }
      }
      float v = static_cast<float>(sum) + added_to(op, at, c);
      v = op.y != nullptr ? v * slope(op.activation, op.y[first + c]) : activate(op.activation, v);
      if (op.store != nullptr) op.store[first + c] = v;
      if (op.out >= 0) buffer(op.out, row, launch.width)[c] = v;
    }
  }

  void loss(const Op& op, int row, int width) {
    const std::int64_t first = static_cast<std::int64_t>(row) * padded16(op.columns);
    float* d = op.store + first;
    const int truth = feed_.models[row];
    op.losses[row] = op.evidential ? evidential(Alone{}, op.link, feed_.head->lambda, op.models + first,
                                                op.columns, truth, d)
                                   : cross_entropy(Alone{}, op.models + first, op.columns, truth, d);
    std::copy_n(d, op.columns, buffer(op.out, row, width));
    for (int p = 0; p < op.parameter_count; ++p) {
      const std::int64_t at = static_cast<std::int64_t>(row) * padded16(op.parameter_count) + p;
      op.d_parameters[at] = parameter_gradient(
          feed_.head->parameter_weight, op.parameters[at],
          feed_.targets[static_cast<std::int64_t>(row) * op.parameter_count + p], feed_.present[row]);
      buffer(op.out_parameters, row, width)[p] = op.d_parameters[at];
    }
  }

  void lstm(const LstmView& v, int set) {
    const int H = v.units, first = feed_.offsets[set], last = feed_.offsets[set + 1];
    std::vector<float> h(static_cast<std::size_t>(H)), c(h);
    for (std::int64_t r = first; r < last; ++r) {
      float* const gates = v.gates + r * v.gate_stride;
      std::copy(h.begin(), h.end(), v.before + r * v.stride);
      for (int j = 0; j < 4 * H; ++j) {
        double sum = gates[j];
        for (int k = 0; k < H; ++k)
          sum += static_cast<double>(v.before[r * v.stride + k]) *
                 weights_[v.weight + static_cast<std::int64_t>(k) * 4 * H + j];
        gates[j] = gate_value(j / H, static_cast<float>(sum));
      }
      for (int u = 0; u < H; ++u) {
        float& own = c[static_cast<std::size_t>(u)];
        own = v.c[r * v.stride + u] = gates[H + u] * own + gates[u] * gates[2 * H + u];
        h[static_cast<std::size_t>(u)] = gates[3 * H + u] * quick_tanh(own);
      }
    }
    float* const out = v.out + static_cast<std::int64_t>(set) * v.out_stride;
    std::copy(h.begin(), h.end(), out);
    if (v.log_n) out[H] = log_n_input(v, last - first);
  }

  void lstm_back(const LstmView& v, int set) {
    const int H = v.units, first = feed_.offsets[set], last = feed_.offsets[set + 1];
    const float* const d_out = v.d_out + static_cast<std::int64_t>(set) * v.out_stride;
    std::vector<float> d_h(d_out, d_out + H), d_c(static_cast<std::size_t>(H));
    for (std::int64_t r = last - 1; r >= first; --r) {
      float* const gates = v.gates + r * v.gate_stride;
      for (int u = 0; u < H; ++u) {
        const auto own = static_cast<std::size_t>(u);
        const float before = r > first ? v.c[(r - 1) * v.stride + u] : 0;
        const LstmBack back = lstm_unit_back(
            {gates[u], gates[H + u], gates[2 * H + u], gates[3 * H + u], v.c[r * v.stride + u], before},
            d_h[own], d_c[own]);
        for (int gate = 0; gate < 4; ++gate) gates[gate * H + u] = back.gate[gate];
        d_c[own] = back.d_c;
      }
      for (int u = 0; u < H; ++u) {
        double sum = 0;
        for (int j = 0; j < 4 * H; ++j)
          sum +=
              static_cast<double>(gates[j]) * weights_[v.weight + static_cast<std::int64_t>(u) * 4 * H + j];
        d_h[static_cast<std::size_t>(u)] = static_cast<float>(sum);
      }
    }
  }

  void pool(const PoolView& v, int set) {
    const std::int32_t* const offsets = offsets_of(feed_, v.level);
    const int first = offsets[set], last = offsets[set + 1];
    float* out = v.pooled + static_cast<std::int64_t>(set) * v.pooled_stride;
    for (int c = 0; c < v.width; ++c) {
      const std::int64_t of_set = static_cast<std::int64_t>(set) * v.stride + c;
      const auto e = [&](int r) { return v.e[static_cast<std::int64_t>(r) * v.stride + c]; };
      const auto s = [&](int r) { return v.score[static_cast<std::int64_t>(r) * v.stride + c]; };
      double sum = 0, weighted = 0;
      float top = v.pooling == Pooling::attention ? s(first) : e(first);
      int largest = 0;
      for (int r = first; r < last; ++r) {
        sum += e(r);
        const float x = v.pooling == Pooling::attention ? s(r) : e(r);
        if (x > top) {
          top = x;
          largest = r - first;
        }
      }
      if (v.pooling == Pooling::attention) {
        sum = 0;
        for (int r = first; r < last; ++r) {
          sum += std::exp(s(r) - top);
          weighted += std::exp(s(r) - top) * e(r);
        }
        v.top[of_set] = top;
        v.inverse[of_set] = static_cast<float>(1 / sum);
        out[c] = static_cast<float>(weighted / sum);
      } else if (v.pooling == Pooling::max) {
        v.largest[of_set] = largest;
        out[c] = top;
      } else {
        const double mean = sum / (last - first);
        out[c] = static_cast<float>(v.pooling == Pooling::sum ? sum * v.sum_scale : mean);
        if (v.pooling == Pooling::mean_sum) out[v.width + c] = static_cast<float>(sum * v.sum_scale);
      }
    }
    if (v.log_n) out[v.columns()] = log_n_input(v, rows_of_set(feed_, v.size_level, set));
    for (int h = 0; h < v.moment_blocks; ++h) {
      for (int a = 0; a < v.moments; ++a) {
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          for (int r = first; r < last; ++r) {
            const float* u = v.factors + static_cast<std::int64_t>(r) * v.moments_stride + h * v.moments;
            sum += static_cast<double>(u[a]) * u[b];
          }
          out[v.moments_at() + h * v.pairs() + pair_at(a, b)] = static_cast<float>(sum / (last - first));
        }
      }
    }
  }

  void factor(const Launch& launch, int set) {
    const std::int32_t* const offsets = offsets_of(feed_, launch.factor.pool.level);
    const int n = offsets[set + 1] - offsets[set];
    for (int h = 0; h < launch.factor.pool.moment_blocks; ++h) {
      if (launch.kind == LaunchKind::factor) {
        factor_of_set(OneCaller{}, launch.factor, set, h, n);
      } else {
        factor_of_set_back(OneCaller{}, launch.factor, set, h, n);
      }
    }
  }

  void add_gradients() {
    for (const Gradient& g : program_.gradients) {
      const int rows = rows_of(feed_, g.of_sets, g.level);
      const auto x = [&](int r, int k) { return g.x[static_cast<std::int64_t>(r) * padded16(g.inner) + k]; };
      const auto d = [&](int r, int n) {
        return g.d[static_cast<std::int64_t>(r) * padded16(g.columns) + n];
      };
      for (int n = 0; n < g.columns; ++n) {
        for (int k = 0; k < g.inner; ++k) {
          double sum = 0;
          for (int r = 0; r < rows; ++r) sum += static_cast<double>(x(r, k)) * d(r, n);
          learning_.gradient[g.weight + static_cast<std::int64_t>(k) * g.columns + n] =
              static_cast<float>(sum * feed_.head->scale);
        }
        double sum = 0;
        for (int r = 0; r < rows; ++r) sum += d(r, n);
        if (g.bias >= 0) learning_.gradient[g.bias + n] = static_cast<float>(sum * feed_.head->scale);
      }
    }
  }

  void judge() {
    Report& report = *learning_.report;
    const StepHead& head = *feed_.head;
    double squares = 0, loss = 0;
    for (std::int64_t i = 0; i < learning_.size; ++i) {
      squares += static_cast<double>(learning_.gradient[i]) * learning_.gradient[i];
    }
    for (int b = 0; b < head.sets; ++b) loss += program_.losses[b];
    loss /= head.sets;
    if (head.fresh != 0) report.fault = 0;
    if (report.fault == 0 && !(std::isfinite(loss) && std::isfinite(squares))) {
      report.fault = 1;
      report.fault_at = head.loss_at;
    }
    report.active = report.fault == 0 ? 1 : 0;
    report.losses[head.loss_at] = loss;
    report.clip = clip_factor(head.clip, squares);
  }

  // next = x mixed, with mixed made of the products of columns of x. Arrays of its own, most of the time of a
  // test: not watched by sanitizers.
  __attribute__((no_sanitize("address"))) static void muon_iteration(const double* x, int n, int m,
                                                                     double* gram, double* mixed,
                                                                     double* next) {
    std::fill_n(gram, m * m, 0.0);
    for (int r = 0; r < n; ++r) {
      for (int a = 0; a < m; ++a) {
        for (int b = 0; b < m; ++b) gram[a * m + b] += x[r * m + a] * x[r * m + b];
      }
    }
    std::fill_n(mixed, m * m, 0.0);
    for (int a = 0; a < m; ++a) {
      for (int k = 0; k < m; ++k) {
        for (int b = 0; b < m; ++b) mixed[a * m + b] += gram[a * m + k] * gram[k * m + b];
      }
      for (int b = 0; b < m; ++b) {
        mixed[a * m + b] =
            muon_mixed(static_cast<float>(gram[a * m + b]), static_cast<float>(mixed[a * m + b]), a == b);
      }
    }
    std::fill_n(next, n * m, 0.0);
    for (int r = 0; r < n; ++r) {
      for (int k = 0; k < m; ++k) {
        for (int c = 0; c < m; ++c) next[r * m + c] += x[r * m + k] * mixed[k * m + c];
      }
    }
  }

  void muon(const MuonMatrix& matrix) {
    const int n = matrix.tall(), m = matrix.narrow();
    const bool wide = matrix.rows < matrix.columns;
    std::vector<double> x(static_cast<std::size_t>(n) * m), gram(static_cast<std::size_t>(m) * m),
        mixed(gram), next(x);
    double squares = 0;
    const auto flat = [&](int r, int c) {
      return matrix.first + (wide ? static_cast<std::int64_t>(c) * matrix.columns + r
                                  : static_cast<std::int64_t>(r) * matrix.columns + c);
    };
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < m; ++c) {
        const float g = learning_.gradient[flat(r, c)];
        float& momentum = learning_.momentum[flat(r, c)];
        momentum = kMuonKeep * momentum + (1 - kMuonKeep) * g;
        const float ahead = kMuonKeep * momentum + (1 - kMuonKeep) * g;
        x[static_cast<std::size_t>(r * m + c)] = ahead;
        squares += static_cast<double>(ahead) * ahead;
      }
    }
    if (squares < kMuonLeastSquares) return;
    for (double& each : x) each /= std::sqrt(squares);
    for (int iteration = 0; iteration < kMuonIterations; ++iteration) {
      muon_iteration(x.data(), n, m, gram.data(), mixed.data(), next.data());
      x.swap(next);
    }
    const float rate = feed_.head->muon_rate * matrix.length;
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < m; ++c)
        learning_.weights[flat(r, c)] -= rate * static_cast<float>(x[static_cast<std::size_t>(r * m + c)]);
    }
  }

  void adam() {
    const StepHead& head = *feed_.head;
    for (std::int64_t i = 0; i < learning_.size; ++i) {
      const float g =
          (learning_.kind[i] & kOfMuon) != 0 ? 0.0f : learning_.gradient[i] * learning_.report->clip;
      adam_step(g, head.adam_rate, head.adam_root, learning_.first_moment[i], learning_.second_moment[i],
                learning_.weights[i]);
      learning_.average[i] += head.average_rate * (learning_.weights[i] - learning_.average[i]);
    }
  }

  Program program_;
  Learning learning_;
  Feed feeds_[kSlots], feed_{};
  const float* weights_ = nullptr;
  std::vector<std::vector<float>> buffers_;
};

}  // namespace occam::gpu
