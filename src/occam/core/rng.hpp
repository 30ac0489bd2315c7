// Counter-based random numbers: a stream is named by (seed, purpose, item), item being the global index of a
// data set. Its draws depend on those three alone, never on thread, rank, device or call order elsewhere.
// Generator: Philox4x32-10 (Salmon et al. 2011, doi:10.1145/2063384.2063405) from Random123;
// key = seed, counter = (block, purpose, item low, item high).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace occam {

// What random numbers are for. Streams of different purposes never overlap. Values stay below 256: a stream
// longer than 2^32 blocks carries into the bits above.
enum class Purpose : std::uint32_t {
  train = 1,        // data sets to learn from
  validate = 2,     // data sets that judge a training run
  test = 3,         // data sets that judge a finished network
  simulate = 4,     // `occam simulate`
  batch_size = 5,   // N shared by a whole batch
  weights = 6,      // initial weights
  dropout = 7,      // masks and sampling layers during training
  standardise = 8,  // data sets that set the input standardisation
  derive = 9,       // seeds for derived generators
  disturb = 10,     // disturbances of simulated data
  replicate = 11,   // what could have been: bootstrap samples, true models drawn from predictions
  scope = 12,       // data sets that show what the models can produce
  abc = 13,         // candidates of ABC, and its draws from the prior
  design = 14,      // what the experimenter sets, for every data set
  group = 15,       // model frequencies in a population, given the evidences of its members
  order = 16,       // orders in which observations might have come in
  missing = 17,     // values that go missing after simulation
  missed = 18,      // data sets that show what a network missed, and what draws there are in finding it
};

// One block of Philox4x32-10, as published: the bare function behind every stream.
std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter,
                                          std::array<std::uint32_t, 2> key);

// A stream. Copies continue independently from the same place. Parameters outside the range written beside a
// draw are an Error(usage).
class Rng {
 public:
  using result_type = std::uint32_t;  // a UniformRandomBitGenerator, should a library ask for one

  Rng(std::uint64_t seed, Purpose purpose, std::uint64_t item);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffu; }
  result_type operator()() { return bits32(); }

  std::uint32_t bits32() {
    if (used_ == kWords) refill();
    return words_[used_++];
  }
  std::uint64_t bits64() {
    const std::uint64_t low = bits32();
    return low | static_cast<std::uint64_t>(bits32()) << 32;
  }

  // In (0, 1), neither end: the midpoints of 2^52 equal cells, so 1 - u has the same distribution.
  double uniform() {
    // 52 bits and the half fill the 53 of a double; one bit more would round the last midpoint up to 1.
    return (static_cast<double>(bits64() >> 12) + 0.5) * 0x1p-52;
  }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  std::int64_t uniform_int(std::int64_t low, std::int64_t high);  // in low..high, unbiased; low <= high
  double normal();                                                // mean 0, standard deviation 1
  double exponential();                                           // rate 1
  double gamma(double shape);                                     // scale 1; shape > 0
  double beta(double a, double b);                                // in [0, 1]; a, b > 0
  std::int64_t poisson(double mean);                              // 0 <= mean <= 1e15
  // Index drawn with the given weights: finite, not negative, not all zero; they need not sum to one.
  std::int64_t categorical(std::span<const double> weights);

 private:
  // Blocks made at once, as SIMD lanes. The sequence does not depend on how many.
  static constexpr int kBlocks = 8;
  static constexpr int kWords = 4 * kBlocks;
  void refill();

  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, kWords> words_;
  int used_ = kWords;
};

}  // namespace occam
