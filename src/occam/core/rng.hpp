// Counter-based random numbers: a stream is named by (seed, purpose, item), item being the global index of a
// data set. Its draws depend on those three alone, never on thread, rank, device or call order elsewhere.
// Generator: Philox4x32-10 (Salmon et al. 2011) from Random123; key = seed, counter = (block, purpose, item).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace occam {

// What random numbers are for. Streams of different purposes never overlap.
enum class Purpose : std::uint32_t {
  train = 1,      // data sets to learn from
  validate = 2,   // data sets that judge a training run
  test = 3,       // data sets that judge a finished network
  simulate = 4,   // `occam simulate`
  batch_size = 5, // N shared by a whole batch
  weights = 6,    // initial weights
  dropout = 7,    // masks and sampling layers during training
  standardise = 8, // data sets that set the input standardisation
  derive = 9,      // seeds for derived generators
};

class Rng {
 public:
  using result_type = std::uint32_t;  // a UniformRandomBitGenerator, should a library ask for one

  Rng(std::uint64_t seed, Purpose purpose, std::uint64_t item);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffu; }
  result_type operator()() { return bits32(); }

  std::uint32_t bits32();
  std::uint64_t bits64();

  double uniform();                                               // in (0, 1): neither end
  double uniform(double low, double high);                        // in (low, high)
  std::int64_t uniform_int(std::int64_t low, std::int64_t high);  // in low..high, unbiased
  double normal();                                                // standard
  double exponential();                                           // rate 1
  double gamma(double shape);                                     // scale 1
  double beta(double a, double b);
  std::int64_t poisson(double mean);
  // Index drawn with the given probabilities (they need not sum to one).
  std::int64_t categorical(std::span<const double> weights);

 private:
  void refill();

  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace occam
