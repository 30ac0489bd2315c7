// The recurrence of an LSTM on a GPU alone: nanoseconds of a step forward and back, and how far outputs and
// gradients of gates are from those of the kernels for wider LSTMs, which compute in float and keep nothing.
//   nvcc -std=c++20 -O3 -arch=sm_90 -I src bench/gpu_lstm.cu -o gpu_lstm && ./gpu_lstm
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "occam/engine/cuda/lstm_digits.cuh"

namespace {

using namespace occam::gpu;

struct Case {
  int units, sets, rows;
};
using Kernel = void (*)(LstmView, Feed, const float*);
struct Kernels {
  Kernel forward, back;
  int threads, bytes;
};

Kernels kernels_of(int units) {
  if (units <= 64) return {lstm_kernel<64>, lstm_back_kernel<64>, kLstmThreads<64>, 0};
  return {digit_lstm_kernel, digit_lstm_back_kernel, kDigitThreads, 0};
}

template <class T>
T* on_device(const std::vector<T>& from) {
  T* to = nullptr;
  cudaMalloc(&to, from.size() * sizeof(T));
  cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}

std::vector<float> on_host(const float* from, std::size_t size) {
  std::vector<float> to(size);
  cudaMemcpy(to.data(), from, size * sizeof(float), cudaMemcpyDeviceToHost);
  return to;
}

std::vector<float> normals(std::size_t size, float scale, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> to(size);
  for (float& x : to) x = scale * normal(generator);
  return to;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double apart = 0, length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart += std::pow(double{a[i]} - b[i], 2);
    length += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(apart / length);
}

class Bench {
 public:
  explicit Bench(const Case& of) : case_(of) {
    const std::size_t H = of.units, sets = of.sets, rows = sets * of.rows;
    std::vector<std::int32_t> offsets;
    for (int set = 0; set <= of.sets; ++set) offsets.push_back(set * of.rows);
    StepHead head{};
    head.sets = of.sets;
    feed_.head = on_device(std::vector<StepHead>{head});
    feed_.offsets = on_device(offsets);
    weights_ = on_device(normals(4 * H * H, 1 / std::sqrt(static_cast<float>(H)), 1));
    inputs_ = normals(rows * 4 * H, 1, 2);
    view_.units = view_.stride = view_.out_stride = of.units;
    view_.gate_stride = 4 * of.units;
    view_.gates = on_device(inputs_);
    view_.c = on_device(std::vector<float>(rows * H));
    view_.before = on_device(std::vector<float>(rows * H));
    view_.out = on_device(std::vector<float>(sets * H));
    view_.d_out = on_device(normals(sets * H, 1e-3f, 3));
  }

  void print() {
    const Kernels floats = {wide_lstm_kernel, wide_lstm_back_kernel, kWideLstmThreads,
                            wide_lstm_bytes(case_.units)};
    run(floats);
    const std::vector<float> out = outputs(), gradients = gates();
    float forward = HUGE_VALF, back = HUGE_VALF;
    for (int round = 0; round < 8; ++round) {
      const auto [there, again] = run(kernels_of(case_.units));
      forward = std::min(forward, there);
      back = std::min(back, again);
    }
    std::printf("%d units, %d series of %d: forward %.0f ns a step, back %.0f; apart %.1e, gradients %.1e; %s\n",
                case_.units, case_.sets, case_.rows, 1e6f * forward / case_.rows, 1e6f * back / case_.rows,
                distance(outputs(), out), distance(gates(), gradients), cudaGetErrorString(cudaGetLastError()));
  }

 private:
  // Milliseconds of both kernels.
  std::pair<float, float> run(const Kernels& kernels) {
    cudaEvent_t events[3];
    for (cudaEvent_t& event : events) cudaEventCreate(&event);
    cudaMemcpy(view_.gates, inputs_.data(), inputs_.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaEventRecord(events[0]);
    kernels.forward<<<264, kernels.threads, kernels.bytes>>>(view_, feed_, weights_);
    cudaEventRecord(events[1]);
    kernels.back<<<264, kernels.threads, kernels.bytes>>>(view_, feed_, weights_);
    cudaEventRecord(events[2]);
    cudaDeviceSynchronize();
    std::pair<float, float> times;
    cudaEventElapsedTime(&times.first, events[0], events[1]);
    cudaEventElapsedTime(&times.second, events[1], events[2]);
    return times;
  }
  std::vector<float> outputs() const {
    return on_host(view_.out, static_cast<std::size_t>(case_.sets) * case_.units);
  }
  std::vector<float> gates() const { return on_host(view_.gates, inputs_.size()); }

  Case case_;
  LstmView view_{};
  Feed feed_{};
  const float* weights_ = nullptr;
  std::vector<float> inputs_;
};

}  // namespace

int main() {
  for (const Case& of : {Case{128, 32, 1101}, Case{100, 32, 300}, Case{64, 32, 250}, Case{64, 200, 101}}) Bench(of).print();
}
