// Test support: arrays that PyTorch computed (tests/data/nn, written by make_reference.py there), as
// matrices.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "occam/io/npz.hpp"
#include "occam/nn/workspace.hpp"

namespace occam::testing_support {

template <class T>
class Reference {
 public:
  explicit Reference(const std::string& name)
      : file_(std::string(OCCAM_TEST_DATA) + "/nn/" + name + ".npz") {}

  bool has(const std::string& name) const { return file_.has(name); }
  std::vector<std::string> names() const { return file_.names(); }
  std::vector<double> values(const std::string& name) const { return file_.read(name).as_double(); }
  double number(const std::string& name) const { return values(name).at(0); }
  std::vector<std::int64_t> integers(const std::string& name) const { return file_.read(name).as_int64(); }
  std::vector<std::int64_t> shape(const std::string& name) const { return file_.read(name).shape; }

  std::vector<T> flat(const std::string& name) const {
    const std::vector<double> all = values(name);
    return {all.begin(), all.end()};
  }

  // Rows padded as the engine wants them, or not at all.
  Matrix<T> matrix(const std::string& name, bool pad = true) {
    const auto s = shape(name);
    const std::int64_t columns = s.back();
    const std::vector<T> all = flat(name);
    const std::int64_t rows = static_cast<std::int64_t>(all.size()) / columns;
    Matrix<T> m = workspace_.zeros<T>(rows, columns);
    if (!pad) m.stride = columns;
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(all.data() + r * columns, columns, m.row(r));
    return m;
  }

  // A copy that a layer may overwrite.
  Matrix<T> empty_like(const std::string& name) {
    Matrix<T> m = matrix(name);
    std::fill_n(m.data, m.rows * m.stride, T{0});
    return m;
  }

  std::vector<std::int64_t> offsets(const std::string& name = "n") const {
    std::vector<std::int64_t> result = {0};
    for (const std::int64_t n : integers(name)) result.push_back(result.back() + n);
    return result;
  }

  void expect_equal(Matrix<const T> got, const std::string& name) const {
    const std::vector<double> expected = values(name);
    ASSERT_EQ(got.rows * got.columns, static_cast<std::int64_t>(expected.size())) << name;
    for (std::int64_t r = 0; r < got.rows; ++r) {
      for (std::int64_t c = 0; c < got.columns; ++c) {
        const double want = expected[r * got.columns + c];
        ASSERT_NEAR(got.row(r)[c], want, tolerance() * (1 + std::abs(want))) << name << " " << r << " " << c;
      }
    }
  }

  void expect_equal(const T* got, const std::string& name) const {
    const auto count = static_cast<std::int64_t>(values(name).size());
    expect_equal(Matrix<const T>{got, 1, count, count}, name);
  }

  // float: rounding of sums of a few hundred terms, or 2^-16 of each term of a few where products are made in
  // tiles; double: the last digits that exp and tanh lose.
  static double tolerance() { return sizeof(T) == 4 ? 5e-5 : 1e-11; }

  Workspace& workspace() { return workspace_; }

 private:
  NpzReader file_;
  Workspace workspace_;
};

}  // namespace occam::testing_support
