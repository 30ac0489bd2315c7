// RichStatistics: what a statistician would compute of a data set before knowing the models, as a fixed list
// of numbers with names a scientist can read. Beside the sketch of the scope test: moments on several scales,
// logarithms of likelihood ratios between common families, dependence between columns (correlations, partial
// ones, regressions of each column on the others and on powers), and, for ordered data, dependence over time
// and changes in the course of it. Missing values (NaN) are left out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "occam/check/missed/atoms_apart.hpp"
#include "occam/data/matrix.hpp"
#include "occam/data/periods.hpp"
#include "occam/data/structure.hpp"
#include "occam/scope/sketch.hpp"

namespace occam {

class RichStatistics {
 public:
  // Learns from simulated data sets what a typical value of each column is and which columns take few values.
  // Columns of the `design` (none if it is empty) are what others are explained by; `labels` say which rows
  // belong together whether they look like it or not.
  static RichStatistics learn(Ragged<const float> data, const std::vector<std::string>& columns, bool ordered,
                              const std::vector<bool>& design = {}, const LabelGroups& labels = {});

  std::int64_t size() const { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

  // Statistics of one data set, rows (n, D), n >= 1; out (size()). All finite, whatever the range of the
  // data: asinh is taken of each, which leaves ranks what they are.
  void of(Matrix<const float> rows, std::span<float> out) const;

 private:
  static RichStatistics learn_columns(Ragged<const float> data, const std::vector<std::string>& columns,
                                      bool ordered, std::vector<bool> design, const LabelGroups& labels);
  void of_columns(Matrix<const float> rows, std::span<float> out) const;

  // What is known of a column from many data sets.
  struct Typical {
    std::string name;
    bool design = false;
    double centre = 0, scale = 1;  // median, and interquartile range as a standard deviation
    bool positive = false;         // all values above 0
    bool counts = false;           // whole numbers from 0 on
    bool circular = false;         // angles, perhaps
    std::vector<float> levels;     // where there are few
    std::vector<double> edges;     // quantiles, in units of what is typical
  };
  class Collector;
  struct Values;

  void collect(Matrix<const float> rows, Collector& out) const;
  void column(const Typical& typical, const std::vector<double>& values,
              const std::vector<double>& tame_values, Collector& out) const;
  void levels(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void logarithms(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void counts(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void angles(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void ends(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void tails(const Typical& typical, std::vector<double> values, Collector& out) const;
  void pairs(const Values& data, Collector& out) const;
  void regressions(const std::vector<std::vector<double>>& columns, const char* scale, Collector& out) const;
  void partial_correlations(const std::vector<double>& C, double n, const char* scale, Collector& out) const;
  void polynomials(const Values& data, Collector& out) const;
  void profiles(const Values& data, Collector& out) const;
  void series(const Typical& typical, const std::vector<double>& values, const std::vector<double>& tame,
              Collector& out) const;
  void autoregressions(const std::vector<double>& values, double from_zero, const std::string& name,
                       Collector& out) const;
  void steps(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void changes(const Typical& typical, const std::vector<double>& values, const std::vector<double>& tame,
               Collector& out) const;
  void transitions(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void memory(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void waves(const Typical& typical, std::vector<double> tame, Collector& out) const;
  void lagged_pairs(const Values& data, Collector& out) const;
  void leads(const std::vector<double>& a, const std::vector<double>& b, const std::string& of_a,
             const std::string& of_b, Collector& out) const;
  void delays(const std::vector<double>& a, const std::vector<double>& b, const std::string& of_a,
              const std::string& of_b, Collector& out) const;
  void fades(Matrix<const float> rows, Collector& out) const;
  void comes_back(const Typical& typical, std::span<const double> times, std::span<const double> values,
                  Collector& out) const;
  void put_periods(const Periods& found, const std::string& name, double shortest, Collector& out) const;
  void patches(Matrix<const float> rows, Collector& out) const;
  void shapes(Matrix<const float> rows, Collector& out) const;
  void tables(Matrix<const float> rows, Collector& out) const;
  void regimes(const Typical& typical, const std::vector<double>& values, Collector& out) const;
  void differences(const Values& data, Collector& out) const;
  void slopes(const Values& data, Collector& out) const;
  void carried(const Values& data, Collector& out) const;
  void crossings(const Values& data, Collector& out) const;
  // Both columns, or pairs of their labels and one column.
  struct CrossedNames {
    std::string first, second, both;
    CrossedNames(const CrossedColumns& crossed, const std::string& a, const std::string& b);
  };
  void put_crossing(Crossing crossing, const CrossedGains& gains, const Typical& typical,
                    const CrossedNames& names, Collector& out) const;
  std::vector<double> given(std::int64_t c, std::vector<double> values) const;  // as in the data

  std::vector<Typical> columns_;
  bool ordered_ = false;
  Structure structure_;
  Sketch sketch_;
  std::vector<std::string> names_;
  // Where values come again and again: the same of data with these apart, as far as it says something else.
  AtomsApart apart_;
  std::shared_ptr<const RichStatistics> beside_;
  std::vector<std::size_t> fresh_;
};

}  // namespace occam
