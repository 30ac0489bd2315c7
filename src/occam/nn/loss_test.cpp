// Losses against PyTorch, special functions against mpmath, the optimiser against PyTorch's Adam.
#include "occam/nn/loss.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/nn/adam.hpp"
#include "occam/nn/reference.hpp"
#include "occam/nn/schedule.hpp"

namespace occam {
namespace {

using testing_support::Reference;

TEST(Loss, EvidentialEqualsPyTorchForEveryLink) {
  for (std::size_t i = 0; i < link_names().size(); ++i) {
    Reference<double> ref("dirichlet_" + link_names()[i]);
    const auto link = static_cast<Link>(i);
    const std::vector<double> f = ref.values("f");
    const auto labels = ref.integers("labels");
    const std::vector<double> alpha = ref.values("alpha");
    const std::size_t J = 4;
    std::vector<double> d_f(f.size()), scratch(3 * J), log_alpha(J);
    double loss = 0;
    for (std::size_t b = 0; b < labels.size(); ++b) {
      const std::span<const double> row(f.data() + b * J, J);
      const std::span<double> d_row(d_f.data() + b * J, J);
      const EvidentialTerms terms = evidential_loss(link, 0.3, row, labels[b], d_row, scratch);
      loss += (terms.log_loss + 0.3 * terms.kl) / static_cast<double>(labels.size());
      log_concentrations(link, row, log_alpha);
      for (std::size_t j = 0; j < J; ++j) {
        EXPECT_NEAR(std::exp(log_alpha[j]) / alpha[b * J + j], 1, 1e-12);
        d_row[j] /= static_cast<double>(labels.size());
      }
    }
    EXPECT_NEAR(loss, ref.number("loss"), 1e-10);
    const std::vector<double> expected = ref.values("d_f");
    for (std::size_t j = 0; j < f.size(); ++j)
      EXPECT_NEAR(d_f[j], expected[j], 1e-10 * (1 + std::abs(expected[j])));
  }
}

TEST(Loss, ExtremeOutputsStayFinite) {
  std::vector<double> d(3), scratch(9);
  for (const double big : {50.0, 700.0, 1e4, 1e30}) {
    for (const double lambda : {0.0, 0.5}) {
      const std::vector<double> f = {big, -big, 0};
      for (std::int64_t truth = 0; truth < 3; ++truth) {
        const EvidentialTerms terms = evidential_loss(Link::exp, lambda, f, truth, d, scratch);
        EXPECT_TRUE(std::isfinite(terms.log_loss) && std::isfinite(terms.kl)) << big;
        for (const double g : d) EXPECT_TRUE(std::isfinite(g)) << big;
      }
    }
  }
}

TEST(Loss, TheQuickPathOfTheDefaultEqualsTheGeneralOne) {
  std::vector<double> quick(3), general(3), scratch(9);
  for (const double shift : {-40.0, -3.0, 0.0, 5.0, 100.0, 590.0}) {
    const std::vector<double> f = {shift, shift + 2.5, -1};
    for (std::int64_t truth = 0; truth < 3; ++truth) {
      const double a = evidential_loss(Link::exp, 0, f, truth, quick, scratch).log_loss;
      const double b = evidential_loss(Link::exp, 1e-300, f, truth, general, scratch).log_loss;
      EXPECT_NEAR(a, b, 1e-12 * (1 + b)) << shift;
      for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(quick[j], general[j], 1e-12) << shift;
    }
  }
}

TEST(Loss, KlGradientPullsHugeWrongConcentrationsDown) {
  std::vector<double> d(2), scratch(6);
  for (const double f : {5.0, 20.0, 26.0, 40.0, 400.0}) {
    const std::vector<double> outputs = {0, f};
    std::vector<double> plain(2);
    evidential_loss(Link::exp, 0, outputs, 0, plain, scratch);
    evidential_loss(Link::exp, 1, outputs, 0, d, scratch);
    EXPECT_GT(d[1] - plain[1], 0.4) << f;  // the limit is 1 for a single wrong model
  }
}

TEST(Loss, SoftmaxGaussianKlAndMmdEqualPyTorch) {
  {
    Reference<double> ref("log_softmax");
    const auto logits = ref.values("logits");
    const auto labels = ref.integers("labels");
    const std::vector<double> expected = ref.values("d_logits");
    double loss = 0;
    std::vector<double> d(4);
    for (std::size_t b = 0; b < labels.size(); ++b) {
      loss += softmax_loss({logits.data() + 4 * b, 4}, labels[b], d) / static_cast<double>(labels.size());
      for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_NEAR(d[j] / static_cast<double>(labels.size()), expected[4 * b + j], 1e-12);
      }
    }
    EXPECT_NEAR(loss, ref.number("loss"), 1e-12);
  }
  {
    Reference<double> ref("gaussian_kl");
    const auto mu = ref.values("mu");
    const auto log_var = ref.values("log_var");
    const double rows = static_cast<double>(ref.shape("mu")[0]);
    std::vector<double> d_mu(mu.size()), d_log_var(mu.size());
    EXPECT_NEAR(gaussian_kl(mu, log_var, d_mu, d_log_var) / rows, ref.number("loss"), 1e-12);
    const auto want_mu = ref.values("d_mu");
    const auto want_log_var = ref.values("d_log_var");
    for (std::size_t i = 0; i < mu.size(); ++i) {
      EXPECT_NEAR(d_mu[i] / rows, want_mu[i], 1e-12);
      EXPECT_NEAR(d_log_var[i] / rows, want_log_var[i], 1e-12);
    }
  }
  {
    Reference<double> ref("mmd");
    const auto z = ref.values("z");
    std::vector<double> d_z(z.size());
    const std::vector<double> scales = {1, 2, 4, 8, 16};
    EXPECT_NEAR(mmd(z, ref.values("g"), ref.shape("z")[1], scales, d_z), ref.number("loss"), 1e-12);
    const auto expected = ref.values("d_z");
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(d_z[i], expected[i], 1e-12);
  }
  {
    Reference<double> ref("mmd_from_normal");
    const auto z = ref.values("z");
    std::vector<double> d_z(z.size());
    EXPECT_NEAR(mmd_from_normal(z, ref.shape("z")[1], ref.values("scales"), d_z), ref.number("loss"), 1e-12);
    const auto expected = ref.values("d_z");
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(d_z[i], expected[i], 1e-12);
  }
}

TEST(Loss, DiscrepancyFromNormalIsUnbiased) {
  // Blocks of four samples of N(0, I), as small as a bundle: the mean over many is zero. Five standard
  // errors, false alarm 6e-7.
  const std::vector<double> scales = {1, 2, 4, 8, 16};
  Rng rng(3, Purpose::test, 0);
  std::vector<double> z(4 * 5), d_z(z.size());
  double sum = 0, squares = 0, shifted = 0;
  constexpr int kBlocks = 4000;
  for (int i = 0; i < kBlocks; ++i) {
    for (double& value : z) value = rng.normal();
    const double value = mmd_from_normal(z, 5, scales, d_z);
    sum += value / kBlocks;
    squares += value * value / kBlocks;
    for (double& one : z) one += 1;
    shifted += mmd_from_normal(z, 5, scales, d_z) / kBlocks;
  }
  EXPECT_NEAR(sum, 0, 5 * std::sqrt(squares / kBlocks));
  EXPECT_GT(shifted, 0.5);
}

TEST(Loss, SpecialFunctionsAreAccurateFromOneTo1e8) {
  Reference<double> ref("special");
  const auto x = ref.values("x");
  const auto digamma = ref.values("digamma");
  const auto trigamma = ref.values("trigamma");
  const auto lgamma = ref.values("lgamma");
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(boost::math::digamma(x[i]), digamma[i], 4e-15 * (1 + std::abs(digamma[i]))) << x[i];
    EXPECT_NEAR(boost::math::trigamma(x[i]) / trigamma[i], 1, 1e-14) << x[i];
    EXPECT_NEAR(std::lgamma(x[i]), lgamma[i], 1e-14 * (1 + std::abs(lgamma[i]))) << x[i];
  }
}

TEST(Adam, FollowsPyTorchWithClipping) {
  Reference<double> ref("adam");
  const auto gradients = ref.values("gradients");
  const auto path = ref.values("parameters");
  std::vector<double> weights(path.begin(), path.begin() + 10);
  Adam<double> adam(10, {});
  for (int step = 0; step < 6; ++step) {
    const double* g = gradients.data() + 10 * step;
    double norm = 0;
    for (int i = 0; i < 10; ++i) norm += g[i] * g[i];
    adam.begin(1e-2, norm);
    adam.update_chunk(0, g, weights.data());
    // PyTorch clips by 5 / (norm + 1e-6), which shows in the seventh digit.
    for (int i = 0; i < 10; ++i) EXPECT_NEAR(weights[i], path[10 * (step + 1) + i], 1e-8) << step;
  }
}

TEST(Adam, AverageForgetsTheStartAndSettles) {
  std::vector<float> weights = {3}, average = {100};
  for (std::int64_t step = 0; step < 2000; ++step)
    average_chunk(0, 1, 0.99, step, weights.data(), average.data());
  EXPECT_NEAR(average[0], 3, 1e-4);
}

TEST(Schedule, Shapes) {
  const Schedule stairs{.kind = ScheduleKind::staircase, .rate = 1, .decay = 0.5, .decay_steps = 10};
  EXPECT_DOUBLE_EQ(stairs.at(9, 100), 1);
  EXPECT_DOUBLE_EQ(stairs.at(25, 100), 0.25);
  const Schedule cosine{.kind = ScheduleKind::cosine, .rate = 2, .warmup = 4, .floor = 0.1};
  EXPECT_DOUBLE_EQ(cosine.at(0, 1000), 0.5);
  EXPECT_NEAR(cosine.at(504, 1004), 2 * 0.55, 1e-12);
  EXPECT_NEAR(cosine.at(1000, 1000), 0.2, 1e-12);

  const Schedule open{.kind = ScheduleKind::open, .rate = 1, .floor = 0, .even = 100};
  EXPECT_EQ(open.at(100, 0), 1);
  EXPECT_NEAR(open.at(400, 0), 0.5, 1e-12);
  EXPECT_NEAR(open.at(400, 1000), 0.5, 1e-12) << "the end has not begun";
  EXPECT_NEAR(open.at(900, 1000), 0.25 / 3, 1e-12);
}

// Both models have lost their evidence, and the answer is 1/2: the gradient alone would leave it there.
TEST(EvidentialLoss, LostEvidenceComesBack) {
  const auto trained = [](bool moving) {
    std::vector<double> f = {-12, -12}, d(2), scratch(6);
    for (int step = 0; step < 2000; ++step) {
      evidential_loss(Link::exp, 0, f, 1, d, scratch);
      if (moving) keep_moving(f, d);
      for (std::size_t j = 0; j < f.size(); ++j) f[j] -= 0.1 * d[j];
    }
    return evidential_loss(Link::exp, 0, f, 1, d, scratch).log_loss;
  };
  EXPECT_NEAR(trained(false), std::log(2.0), 0.01);
  EXPECT_LT(trained(true), 0.1);
  const std::vector<double> f = {-3, 2};
  std::vector<double> d = {-1, 1};
  keep_moving(f, d);
  EXPECT_NEAR(d[0], -std::exp(2.0), 1e-12);
  EXPECT_EQ(d[1], 1);
}

}  // namespace
}  // namespace occam
