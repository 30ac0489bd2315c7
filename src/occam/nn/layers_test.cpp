// Every layer against PyTorch: values and all gradients, in float and double.
#include <gtest/gtest.h>

#include "occam/nn/conv1d.hpp"
#include "occam/nn/dense.hpp"
#include "occam/nn/lstm.hpp"
#include "occam/nn/pool.hpp"
#include "occam/nn/reference.hpp"
#include "occam/nn/sampling.hpp"
#include "occam/nn/tiles.hpp"

namespace occam {
namespace {

using testing_support::Reference;

template <class T>
class Layers : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Layers, Types);

TYPED_TEST(Layers, DenseEqualsPyTorch) {
  using T = TypeParam;
  for (std::size_t i = 0; i < activation_names().size(); ++i) {
    Reference<T> ref("dense_" + activation_names()[i]);
    const Matrix<T> x = ref.matrix("x");
    ParameterLayout layout;
    PackedLayout<T> packed_layout;
    const Dense<T> dense(layout, packed_layout, "d", 5, 9, static_cast<Activation>(i));
    std::vector<T> weights = ref.flat("weight");
    for (const T b : ref.flat("bias")) weights.push_back(b);
    std::vector<T> packed(packed_layout.size()), gradient(layout.size());
    dense.pack(weights.data(), packed.data());
    const Matrix<T> y = ref.empty_like("y");
    dense.forward(packed.data(), x, y);
    ref.expect_equal(y, "y");
    const Matrix<T> dy = ref.matrix("dy");
    const Matrix<T> dx = ref.empty_like("x");
    dense.backward(x, y, dy, gradient.data());
    dense.backward_input(packed.data(), dy, dx, false);
    ref.expect_equal(dx, "d_x");
    ref.expect_equal(gradient.data(), "d_weight");
    ref.expect_equal(gradient.data() + 45, "d_bias");
  }
}

// Sizes around every block, panel and tile border, against a plain loop.
template <class T>
void expect_products(const Kernels<T>& k) {
  Rng rng(3, Purpose::test, 0);
  const double tolerance = 30 * Reference<T>::tolerance();
  for (const std::int64_t rows : {1, 2, 3, 5, 6, 7, 13, 16, 25, 32, 70}) {
    for (const std::int64_t inner : {1, 3, 64, 65, 130}) {
      for (const std::int64_t columns : {1, 2, 8, 15, 16, 17, 33, 48, 63, 64, 65, 100, 130, 144, 272}) {
        Workspace workspace;
        std::vector<T> w(inner * columns), panels(tile_elements<T>(inner, columns) + 64);
        for (T& value : w) value = static_cast<T>(rng.normal());
        const Matrix<T> a = workspace.matrix<T>(rows, inner);
        const Matrix<T> at = workspace.matrix<T>(inner, rows);
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t i = 0; i < inner; ++i) at.row(i)[r] = a.row(r)[i] = static_cast<T>(rng.normal());
        }
        const Matrix<T> b = workspace.matrix<T>(inner, columns);
        for (std::int64_t i = 0; i < inner; ++i) std::copy_n(w.data() + i * columns, columns, b.row(i));
        k.pack(w.data(), columns, 1, inner, columns, panels.data());
        const Matrix<T> c = workspace.zeros<T>(rows, columns);
        k.multiply({.a = a.data,
                    .a_stride = a.stride,
                    .b = panels.data(),
                    .b_stride = 0,
                    .c = c.data,
                    .c_stride = c.stride,
                    .rows = rows,
                    .inner = inner,
                    .columns = columns});
        std::vector<T> bias(padded<T>(columns));
        for (std::int64_t j = 0; j < columns; ++j) bias[j] = static_cast<T>(rng.normal());
        const Matrix<T> biased = workspace.zeros<T>(rows, columns);
        const Matrix<T> both = workspace.zeros<T>(rows, columns);
        for (std::int64_t r = 0; r < rows; ++r) std::fill_n(both.row(r), columns, static_cast<T>(r + 1));
        for (const bool add : {false, true}) {
          k.multiply({.a = a.data,
                      .a_stride = a.stride,
                      .b = panels.data(),
                      .b_stride = 0,
                      .c = (add ? both : biased).data,
                      .c_stride = c.stride,
                      .rows = rows,
                      .inner = inner,
                      .columns = columns,
                      .bias = bias.data(),
                      .accumulate = add});
        }
        std::vector<T> g(rows * columns + 1, T{1});  // unpadded, with a guard at the end
        k.multiply_transposed({.a = at.data,
                               .a_stride = at.stride,
                               .b = b.data,
                               .b_stride = b.stride,
                               .c = g.data(),
                               .c_stride = columns,
                               .rows = rows,
                               .inner = inner,
                               .columns = columns,
                               .accumulate = true});
        EXPECT_EQ(g.back(), T{1});
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (std::int64_t i = 0; i < inner; ++i)
              sum += static_cast<double>(a.row(r)[i]) * w[i * columns + j];
            ASSERT_NEAR(c.row(r)[j], sum, tolerance) << rows << " " << inner << " " << columns;
            ASSERT_NEAR(biased.row(r)[j], sum + bias[j], tolerance) << rows << " " << inner << " " << columns;
            ASSERT_NEAR(both.row(r)[j], sum + bias[j] + r + 1, tolerance)
                << rows << " " << inner << " " << columns;
            ASSERT_NEAR(g[r * columns + j], sum + 1, tolerance) << rows << " " << inner << " " << columns;
          }
        }
      }
    }
  }
}

TYPED_TEST(Layers, ProductsOfAllShapes) {
  expect_products(kernels<TypeParam>());
}

TYPED_TEST(Layers, ProductsOfAllShapesInTiles) {
  expect_products(tile_kernels<TypeParam>());
}

// Alone or among others, over the border of a tile: a row of a product is the same to the bit.
TYPED_TEST(Layers, RowsOfProductsInTilesDoNotDependOnEachOther) {
  using T = TypeParam;
  const Kernels<T>& k = tile_kernels<T>();
  Rng rng(4, Purpose::test, 0);
  constexpr std::int64_t rows = 45, inner = 300, columns = 80;
  Workspace workspace;
  const Matrix<T> a = workspace.matrix<T>(rows, inner);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < inner; ++i) a.row(r)[i] = static_cast<T>(rng.normal());
  }
  std::vector<T> w(inner * columns), panels(tile_elements<T>(inner, columns));
  for (T& value : w) value = static_cast<T>(rng.normal());
  k.pack(w.data(), columns, 1, inner, columns, panels.data());
  const Matrix<T> together = workspace.matrix<T>(rows, columns);
  const Matrix<T> alone = workspace.matrix<T>(rows, columns);
  const auto multiply = [&](std::int64_t first, std::int64_t count, Matrix<T> c) {
    k.multiply({.a = a.row(first),
                .a_stride = a.stride,
                .b = panels.data(),
                .b_stride = 0,
                .c = c.row(first),
                .c_stride = c.stride,
                .rows = count,
                .inner = inner,
                .columns = columns,
                .activation = Activation::elu});
  };
  multiply(0, rows, together);
  for (std::int64_t r = 0; r < rows; ++r) {
    multiply(r, 1, alone);
    for (std::int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(alone.row(r)[c], together.row(r)[c]) << r << " " << c;
  }
}

TYPED_TEST(Layers, PoolingEqualsPyTorch) {
  using T = TypeParam;
  const std::vector<std::string> names = {"mean", "sum", "mean_sum", "max", "attention"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto pooling = static_cast<Pooling>(i);
    Reference<T> ref("pool_" + names[i]);
    const Matrix<T> x = ref.matrix("x");
    const auto offsets = ref.offsets();
    const Ragged<const T> e{x, offsets.data(), 3};
    const Matrix<T> scores = ref.has("s") ? ref.matrix("s") : Matrix<T>{};
    const Matrix<T> y = ref.empty_like("y");
    std::vector<std::int32_t> largest(3 * 6);
    pool<T>(pooling, T{1}, e, scores, y, largest.data());
    ref.expect_equal(y, "y");
    const Matrix<T> dx = ref.empty_like("x");
    pool_back<T>(pooling, T{1}, e, scores, y, largest.data(), ref.matrix("dy"), dx);
    ref.expect_equal(dx, "d_x");
    if (ref.has("s")) ref.expect_equal(scores, "d_s");
  }
}

TYPED_TEST(Layers, LstmEqualsPyTorch) {
  using T = TypeParam;
  Reference<T> ref("lstm");
  ParameterLayout layout;
  PackedLayout<T> packed_layout;
  const Lstm<T> lstm(layout, packed_layout, "lstm", 3, 5);
  std::vector<T> weights(layout.size()), gradient(layout.size()), packed(packed_layout.size());
  const auto place = [&](const std::string& name) {
    const std::vector<T> part = ref.flat(name);
    std::copy(part.begin(), part.end(), weights.begin() + layout.find("lstm." + name)->offset);
  };
  for (const char* name : {"wh", "wx", "b"}) place(name);
  lstm.pack(weights.data(), packed.data());
  const auto offsets = ref.offsets();
  const Ragged<const T> x{ref.matrix("x"), offsets.data(), 4};
  auto& tape = *lstm.forward(packed.data(), x, ref.workspace());
  ref.expect_equal(tape.out, "y");
  const Matrix<T> dx = ref.empty_like("x");
  const std::vector<T*> gradients(4, gradient.data());
  lstm.backward(packed.data(), x, tape, ref.matrix("dy"), dx, gradients.data(), ref.workspace());
  ref.expect_equal(dx, "d_x");
  for (const std::string name : {"wh", "wx", "b"}) {
    ref.expect_equal(gradient.data() + layout.find("lstm." + name)->offset, "d_" + name);
  }
}

TYPED_TEST(Layers, Conv1dEqualsPyTorch) {
  using T = TypeParam;
  for (const std::int64_t stride : {1, 3}) {
    for (const bool pad : {true, false}) {
      Reference<T> ref("conv1d_stride" + std::to_string(stride));
      const Matrix<T> input = ref.matrix("x", pad);
      ParameterLayout layout;
      PackedLayout<T> packed_layout;
      const Conv1d<T> conv(layout, packed_layout, "c", 3, input.stride, 4, 3, stride, Activation::identity);
      std::vector<T> weights = ref.flat("weight");
      for (const T b : ref.flat("bias")) weights.push_back(b);
      std::vector<T> packed(packed_layout.size()), gradient(layout.size());
      conv.pack(weights.data(), packed.data());
      const auto offsets = ref.offsets();
      const Ragged<const T> x{input, offsets.data(), 2};
      const Ragged<T> y = conv.forward(packed.data(), x, ref.workspace());
      ref.expect_equal(y.x, "y");
      const Matrix<T> dx = ref.empty_like("x");
      const Ragged<const T> out{y.x, y.offsets, y.sets};
      const std::vector<T*> gradients(2, gradient.data());
      conv.backward(packed.data(), x, out, ref.matrix("dy"), dx, gradients.data());
      ref.expect_equal(dx, "d_x");
      ref.expect_equal(gradient.data(), "d_weight");
      ref.expect_equal(gradient.data() + 36, "d_bias");
    }
  }
}

TYPED_TEST(Layers, GaussianSampleEqualsPyTorch) {
  using T = TypeParam;
  Reference<T> ref("gaussian_sample");
  const Matrix<T> z = ref.empty_like("mu");
  gaussian_sample<T>(ref.matrix("mu"), ref.matrix("log_var"), ref.matrix("eps"), z);
  ref.expect_equal(z, "y");
  const Matrix<T> d_mu = ref.empty_like("mu");
  const Matrix<T> d_log_var = ref.empty_like("mu");
  gaussian_sample_back<T>(ref.matrix("log_var"), ref.matrix("eps"), ref.matrix("dy"), d_mu, d_log_var);
  ref.expect_equal(d_mu, "d_mu");
  ref.expect_equal(d_log_var, "d_log_var");
}

TYPED_TEST(Layers, DropoutKeepsTheMean) {
  using T = TypeParam;
  Workspace workspace;
  const Matrix<T> x = workspace.matrix<T>(200, 100);
  const Matrix<T> mask = workspace.matrix<T>(200, 100);
  for (std::int64_t r = 0; r < 200; ++r) std::fill_n(x.row(r), 100, T{1});
  Rng rng(5, Purpose::dropout, 0);
  dropout<T>(0.3, rng, x, mask);
  double sum = 0;
  for (std::int64_t r = 0; r < 200; ++r) {
    for (std::int64_t c = 0; c < 100; ++c) {
      EXPECT_EQ(x.row(r)[c], mask.row(r)[c]);
      sum += x.row(r)[c];
    }
  }
  // Standard error sqrt(.3/.7/20000) = .0046; 5 sigma, false alarm 6e-7.
  EXPECT_NEAR(sum / 20000, 1, 0.023);
  dropout_back<T>(mask, x);
  EXPECT_NEAR(x.row(0)[0], mask.row(0)[0] * mask.row(0)[0], 1e-6);
}

}  // namespace
}  // namespace occam
