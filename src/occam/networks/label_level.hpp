// What a set network makes of rows that belong together: of the rows of each label the mean of what its
// layers made of them, and how many they are; these are read as a set network reads rows. So layers see how
// each person answers before they see how people differ, whatever it is in which they do.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "occam/data/labels.hpp"
#include "occam/networks/inputs.hpp"
#include "occam/networks/invariant.hpp"

namespace occam {

// Of so many columns of labels the rows that belong together are read together.
inline constexpr std::size_t kMostLabelLevels = 2;

// Which ones of these columns; none without units to read them.
inline std::vector<std::int64_t> label_levels(std::vector<std::int64_t> columns, std::int64_t width) {
  columns.resize(width > 0 ? std::min(columns.size(), kMostLabelLevels) : 0);
  return columns;
}
inline std::string label_level_name(std::size_t level) {
  return "labels" + std::to_string(level);
}

// The layers for labels, `width` units each.
inline InvariantOptions label_options(std::int64_t width) {
  InvariantOptions o;
  o.inv_width = o.after_width = width;
  o.pooling = "mean";
  o.moments = 10;
  o.moment_blocks = 2;
  o.factor = o.gains = false;
  return o;
}

// How many labels there are, and how many rows one has, as numbers of order one.
inline double label_count_input(std::int64_t count) {
  return std::log(static_cast<double>(count)) - kUsualLogCount;
}

// Numbers the labels of one data set from `first` on: of_row (rows). Rows without a label belong together,
// too. Returns how many labels there are.
inline std::int64_t number_rows(Matrix<const float> rows, std::int64_t column, std::int64_t first,
                                std::int32_t* of_row, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const auto n = static_cast<std::size_t>(rows.rows);
  double* labels = workspace.take<double>(rows.rows);
  for (std::int64_t r = 0; r < rows.rows; ++r) labels[r] = static_cast<double>(rows.row(r)[column]);
  const std::int64_t count =
      group_rows({labels, n}, {workspace.take<std::int32_t>(rows.rows), n}, {of_row, n});
  const bool some_without = std::find(of_row, of_row + n, -1) != of_row + n;
  for (std::size_t r = 0; r < n; ++r)
    of_row[r] = static_cast<std::int32_t>(first + (of_row[r] < 0 ? count : of_row[r]));
  return count + (some_without ? 1 : 0);
}

template <class T>
class LabelLevel {
 public:
  struct Tape {
    std::int32_t* of_row;   // (rows) the label of each; labels are numbered through all data sets
    std::int64_t* offsets;  // (sets + 1) of their labels
    T* share;               // (labels) one over the number of rows
    Matrix<T> means;        // (labels, width of rows + 1)
    typename Invariant<T>::Rows rows;
    typename Invariant<T>::Sets sets;
    Matrix<T> d_means;
  };

  // `in`: the width of what layers made of rows.
  LabelLevel(const InvariantOptions& o, BodyPlan<T>& plan, const std::string& name, std::int64_t column,
             std::int64_t in)
      : column_(column), in_(in), invariant_(o, plan, name, in + 1) {}

  std::int64_t out() const { return invariant_.out(); }
  void list(std::vector<const Dense<T>*>& all) const { invariant_.list(all); }
  Matrix<T> output(const Tape& tape) const { return invariant_.output(tape.sets); }

  // Which rows belong together.
  Tape begin(const InputRows<T>& input, Workspace& workspace) const {
    Tape tape{};
    const std::int64_t sets = input.sets(), rows = input.offsets()[sets];
    tape.of_row = workspace.take<std::int32_t>(rows);
    tape.offsets = workspace.take<std::int64_t>(sets + 1);
    tape.offsets[0] = 0;
    for (std::int64_t set = 0; set < sets; ++set)
      tape.offsets[set + 1] = tape.offsets[set] + number_rows(input.raw(set), column_, tape.offsets[set],
                                                              tape.of_row + input.offsets()[set], workspace);
    const std::int64_t labels = tape.offsets[sets];
    tape.share = workspace.take<T>(labels);
    std::fill_n(tape.share, labels, T{0});
    for (std::int64_t r = 0; r < rows; ++r) tape.share[tape.of_row[r]] += 1;
    tape.means = workspace.zeros<T>(labels, in_ + 1);
    for (std::int64_t k = 0; k < labels; ++k) {
      tape.means.row(k)[in_] = static_cast<T>(label_count_input(static_cast<std::int64_t>(tape.share[k])));
      tape.share[k] = 1 / tape.share[k];
    }
    return tape;
  }

  // What layers made of rows `first` and so on.
  void add(std::int64_t first, Matrix<const T> rows, Tape& tape) const {
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const std::int32_t label = tape.of_row[first + r];
      add_row(tape.share[label], rows.row(r), tape.means.row(label));
    }
  }

  // Once all rows are there.
  void finish(const T* packed, Tape& tape, std::int64_t sets, Workspace& workspace) const {
    tape.rows = invariant_.embed(packed, tape.means, workspace);
    tape.sets = invariant_.pool_sets(tape.rows, tape.offsets, sets, workspace);
    T* counts = workspace.take<T>(sets);
    for (std::int64_t set = 0; set < sets; ++set)
      counts[set] = static_cast<T>(label_count_input(tape.offsets[set + 1] - tape.offsets[set]));
    invariant_.after(packed, counts, tape.sets, workspace);
  }

  // From the gradient of the output (overwritten) to that of the means.
  void back(const T* packed, Tape& tape, Matrix<T> d_out, T* gradient, Workspace& workspace) const {
    const Matrix<T> d_pooled = invariant_.after_back(packed, tape.sets, d_out, gradient, workspace);
    tape.d_means = workspace.matrix<T>(tape.means.rows, tape.means.columns);
    invariant_.back(packed, {tape.means, tape.offsets, d_pooled.rows}, tape.rows, tape.sets.pooled, d_pooled,
                    tape.d_means, {}, false, gradient, workspace);
  }

  // d (rows first and so on) += the share that each row has of the gradient.
  void add_back(std::int64_t first, const Tape& tape, Matrix<T> d) const {
    for (std::int64_t r = 0; r < d.rows; ++r) {
      const std::int32_t label = tape.of_row[first + r];
      add_row(tape.share[label], tape.d_means.row(label), d.row(r));
    }
  }

 private:
  void add_row(T share, const T* __restrict from, T* __restrict to) const {
    for (std::int64_t c = 0; c < in_; ++c) to[c] += share * from[c];
  }

  std::int64_t column_, in_;
  Invariant<T> invariant_;
};

}  // namespace occam
