// The statistics that diagnostics share: intervals, what chance alone would give, bands of sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace occam {

double normal_quantile(double probability);

struct Interval {
  double lower = 0;
  double upper = 0;
};

// 95 % interval of a share, after Wilson (1927): sensible also for shares of 0 and 1 and few cases.
Interval wilson(double successes, double count);

// Percentile bootstrap (Efron 1979) of means: `values` is (K, columns) row-major, rows are drawn with
// replacement, all columns together. 95 % intervals, one per column. Same seed, same intervals.
std::vector<Interval> bootstrap_means(std::span<const double> values, std::int64_t columns,
                                      std::int64_t replicates, std::uint64_t seed);

// What a statistic comes to when the predictions are right: its values for replicates in which the true
// models were drawn from the predictions themselves.
class NullDistribution {
 public:
  explicit NullDistribution(std::vector<double> values);

  double mean() const { return mean_; }
  double sd() const { return sd_; }
  // The value exceeded with probability `level`: the normal quantile corrected for skewness (Cornish &
  // Fisher 1938), because a few hundred replicates do not reach far into the tail.
  double limit(double level) const;
  Interval central95() const;

 private:
  std::vector<double> sorted_;
  double mean_ = 0;
  double sd_ = 0;
  double skewness_ = 0;
};

// Data sets that are alike in one number: bands with about as many data sets each, at most `most`. Few
// different values have a band each.
template <class Value>
class Bands {
 public:
  explicit Bands(std::span<const Value> values, std::size_t most = 10);

  std::size_t count() const { return lower_.size(); }
  std::size_t operator()(Value value) const;  // the band of a value that was among those given
  Value lower(std::size_t band) const { return lower_[band]; }  // smallest and largest value in it
  Value upper(std::size_t band) const { return upper_[band]; }

 private:
  std::vector<Value> lower_, upper_;
};
using SizeBands = Bands<std::int64_t>;

// The value below which the given part of the values lies; reorders them. NaN for none.
double quantile(std::vector<double>& values, double part);

// Mean and standard error of a stream of values.
class Mean {
 public:
  void add(double value);
  double value() const;  // NaN for none
  double se() const;     // standard error; NaN for fewer than two
  std::int64_t count() const { return count_; }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean (Welford 1962)
};

}  // namespace occam
