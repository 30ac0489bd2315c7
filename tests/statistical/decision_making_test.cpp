// The decision model against closed forms, and its SIMD lanes against a plain scalar program. Seeds are
// fixed; each check would raise a false alarm on correct code with probability kFalseAlarm = 1e-6 or less.
#include "occam/models/decision_making.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../../bench/scalar_accumulator.hpp"
#include "occam/simulate/catalogue.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

// ---- noise

std::vector<float> stable_draws(double alpha, std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> words(2 * count);
  Rng rng(seed, Purpose::test, 0);
  for (std::uint32_t& word : words) word = rng.bits32();
  std::vector<float> draws(count);
  draw_levy(LevyNoise(alpha, 1.0), words, draws);
  return draws;
}

// E exp(itS) = exp(-|t|^alpha). The real part is a mean of numbers in [-1, 1] with variance
// (1 + phi(2t)) / 2 - phi(t)^2; the imaginary part has mean 0.
TEST(StableDraws, HaveTheirCharacteristicFunction) {
  constexpr std::size_t kDraws = 2'000'000;
  const double root = std::sqrt(static_cast<double>(kDraws));
  for (const double alpha : {1.0, 1.1, 1.5, 1.9, 1.9999}) {
    const std::vector<float> draws = stable_draws(alpha, kDraws, 5);
    const auto phi = [alpha](double t) { return std::exp(-std::pow(t, alpha)); };
    for (const double t : {0.1, 0.5, 1.0, 2.0}) {
      double real = 0.0;
      double imaginary = 0.0;
      for (const float x : draws) {
        const auto angle = static_cast<float>(t) * x;
        real += std::cos(angle);
        imaginary += std::sin(angle);
      }
      real /= kDraws;
      imaginary /= kDraws;
      const double spread = std::sqrt(0.5 * (1.0 + phi(2.0 * t)) - phi(t) * phi(t));
      EXPECT_NEAR(real, phi(t), kSigmas * spread / root) << "alpha " << alpha << " t " << t;
      EXPECT_NEAR(imaginary, 0.0, kSigmas * std::sqrt(0.5 * (1.0 - phi(2.0 * t))) / root);
    }
  }
}

// P(|S| > x) = (2/pi) sum_k (-1)^(k+1) Gamma(k alpha) sin(k pi alpha / 2) / k! x^(-k alpha): four terms of
// the asymptotic series (Bergstrom 1952); the first is C_alpha x^-alpha.
double tail_of_stable(double alpha, double x) {
  double sum = 0.0;
  double factorial = 1.0;
  for (int k = 1; k <= 4; ++k) {
    factorial *= k;
    const double term = std::tgamma(k * alpha) * std::sin(0.5 * k * std::numbers::pi * alpha) / factorial *
                        std::pow(x, -k * alpha);
    sum += k % 2 == 1 ? term : -term;
  }
  return 2.0 / std::numbers::pi * sum;
}

// Out to where a few hundred of four million draws are left, and the two sides alike.
TEST(StableDraws, HavePowerLawTails) {
  constexpr std::size_t kDraws = 4'000'000;
  for (const double alpha : {1.0, 1.1, 1.5, 1.8}) {
    const std::vector<float> draws = stable_draws(alpha, kDraws, 6);
    for (const double p : {1e-2, 1e-3, 1e-4}) {
      const double first = tail_of_stable(alpha, 1e6) * std::pow(1e6, alpha);  // C_alpha
      const double x = std::pow(first / p, 1.0 / alpha);
      const double expected = tail_of_stable(alpha, x) * kDraws;
      double above = 0.0;
      double below = 0.0;
      for (const float draw : draws) {
        above += draw > x ? 1.0 : 0.0;
        below += draw < -x ? 1.0 : 0.0;
      }
      // 1 %: what the series leaves out at the smallest x.
      EXPECT_NEAR(above + below, expected, kSigmas * std::sqrt(expected) + 0.01 * expected)
          << "alpha " << alpha << " x " << x;
      EXPECT_NEAR(above, below, kSigmas * std::sqrt(expected)) << "alpha " << alpha << " x " << x;
    }
  }
}

TEST(StableDraws, AreCauchyAtOneAndNormalAtTwo) {
  const std::vector<float> cauchy = stable_draws(1.0, 200'000, 7);
  EXPECT_GT(kolmogorov_smirnov({cauchy.begin(), cauchy.end()},
                               [](double x) { return 0.5 + std::atan(x) / std::numbers::pi; }),
            kFalseAlarm);
  // Variance 2 at alpha = 2. The walks use draw_gaussian there; the general formula agrees in the limit.
  const boost::math::normal normal(0.0, std::numbers::sqrt2);
  const std::vector<float> limit = stable_draws(2.0, 200'000, 8);
  EXPECT_GT(kolmogorov_smirnov({limit.begin(), limit.end()}, [&](double x) { return cdf(normal, x); }),
            kFalseAlarm);
}

// P(|S| > x) = 1 - (2/pi) int_0^inf sin(xt) / t exp(-t^alpha) dt, for x up to 30; t = s^4 smooths the
// integrand at 0, and exp(-40) ends it. The series is as good as exact further out.
double tail_by_quadrature(double alpha, double x) {
  if (x > 30.0) return tail_of_stable(alpha, x);
  const double end = std::pow(40.0, 0.25 / alpha);
  const auto integrand = [&](double s) {
    return 4.0 / s * std::sin(x * std::pow(s, 4.0)) * std::exp(-std::pow(s, 4.0 * alpha));
  };
  constexpr int kPanels = 400;
  double sum = 0.0;
  for (int k = 0; k < kPanels; ++k) {
    sum += boost::math::quadrature::gauss<double, 15>::integrate(integrand, end * k / kPanels,
                                                                 end * (k + 1) / kPanels);
  }
  return 1.0 - 2.0 / std::numbers::pi * sum;
}

TEST(StableLaw, QuadratureAgreesWithClosedFormsAndTheSeries) {
  for (const double x : {1e-3, 0.1, 1.0, 5.0, 29.0}) {
    EXPECT_NEAR(tail_by_quadrature(1.0, x), 1.0 - 2.0 / std::numbers::pi * std::atan(x), 1e-12) << x;
    EXPECT_NEAR(tail_by_quadrature(2.0, x), std::erfc(0.5 * x), 1e-12) << x;
  }
  for (const double alpha : {1.1, 1.5, 1.9, 1.99}) {
    EXPECT_NEAR(tail_by_quadrature(alpha, 30.0) / tail_of_stable(alpha, 30.0), 1.0, 1e-6) << alpha;
  }
}

// Ten million draws in 300 cells of |S|, from where one is as likely as a thousand others to the far tail:
// what is left beyond the last edge is a few hundred draws.
TEST(StableDraws, HaveTheDistributionOfTheQuadrature) {
  constexpr int kRounds = 10;
  constexpr std::size_t kDraws = 1'000'000;
  const double total = static_cast<double>(kRounds) * kDraws;
  for (const double alpha : {1.0, 1.05, 1.3, 1.6, 1.9, 1.99}) {
    std::vector<double> edges, tails;
    for (double x = 0.005; x < 1e6; x *= x < 8.0 ? 1.025 : 1.3) {
      const double tail = tail_by_quadrature(alpha, x);
      if (tail * total < 300.0) break;
      edges.push_back(x);
      tails.push_back(tail);
    }
    std::vector<double> counts(edges.size() + 1);
    for (int round = 0; round < kRounds; ++round) {
      for (const float draw : stable_draws(alpha, kDraws, 100 + static_cast<std::uint64_t>(round))) {
        ++counts[static_cast<std::size_t>(
            std::upper_bound(edges.begin(), edges.end(), static_cast<double>(std::fabs(draw))) -
            edges.begin())];
      }
    }
    double chi_squared = 0.0;
    double largest = 0.0;  // distance of the distribution functions
    double below = 0.0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double expected = total * ((k == 0 ? 1.0 : tails[k - 1]) - (k == edges.size() ? 0.0 : tails[k]));
      chi_squared += (counts[k] - expected) * (counts[k] - expected) / expected;
      below += (counts[k] - expected) / total;
      largest = std::max(largest, std::fabs(below));
    }
    const boost::math::chi_squared law(static_cast<double>(edges.size()));
    EXPECT_GT(cdf(complement(law, chi_squared)), kFalseAlarm) << alpha << ": " << chi_squared;
    // Kolmogorov: P(sqrt(n) D > s) < 2 exp(-2 s^2)
    EXPECT_GT(2.0 * std::exp(-2.0 * total * largest * largest), kFalseAlarm) << alpha << ": " << largest;
  }
}

TEST(GaussianDraws, AreNormalOutToTheTails) {
  std::vector<float> draws(4'000'000);
  draw_gaussian(9, draws);
  const boost::math::normal normal;
  EXPECT_GT(
      kolmogorov_smirnov({draws.begin(), draws.begin() + 500'000}, [&](double x) { return cdf(normal, x); }),
      kFalseAlarm);
  const double n = static_cast<double>(draws.size());
  double squares = 0.0;
  double fourths = 0.0;
  for (const float x : draws) {
    const double square = static_cast<double>(x) * x;
    squares += square;
    fourths += square * square;
  }
  EXPECT_NEAR(squares / n, 1.0, kSigmas * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourths / n, 3.0, kSigmas * std::sqrt(96.0 / n));
  for (const double x : {2.0, 3.0, 4.0, 4.5}) {
    const double expected = n * cdf(normal, -x);
    const auto count = [&](auto&& beyond) {
      return static_cast<double>(std::count_if(draws.begin(), draws.end(), beyond));
    };
    EXPECT_NEAR(count([x](float d) { return d > x; }), expected, kSigmas * std::sqrt(expected) + 3.0);
    EXPECT_NEAR(count([x](float d) { return d < -x; }), expected, kSigmas * std::sqrt(expected) + 3.0);
  }
}

// The two numbers of a pair, and numbers of successive steps of a lane, are uncorrelated, and so are squares.
TEST(GaussianDraws, AreIndependent) {
  std::vector<float> draws(2'000'000);
  draw_gaussian(10, draws);
  for (std::size_t lag = 1; lag <= 64; ++lag) {
    double product = 0.0;
    double squares = 0.0;
    const std::size_t n = draws.size() - lag;
    for (std::size_t k = 0; k < n; ++k) {
      const double x = draws[k];
      const double y = draws[k + lag];
      product += x * y;
      squares += (x * x - 1.0) * (y * y - 1.0);
    }
    const double root = std::sqrt(static_cast<double>(n));
    EXPECT_NEAR(product / root, 0.0, kSigmas) << lag;
    EXPECT_NEAR(squares / root, 0.0, 2.0 * kSigmas) << lag;
  }
}

// ---- trials

struct Trials {
  std::vector<double> upper, lower;  // decision times [s]

  double p_upper() const { return static_cast<double>(upper.size()) / static_cast<double>(size()); }
  std::size_t size() const { return upper.size() + lower.size(); }
  double mean() const {
    double sum = 0.0;
    for (const double t : upper) sum += t;
    for (const double t : lower) sum += t;
    return sum / static_cast<double>(size());
  }
};

struct Walker {
  double v = 1.0;
  double a = 1.5;
  double zr = 0.5;
  double alpha = 2.0;
};

Trials simd_trials(const Walker& w, double dt, std::int64_t max_steps, std::int64_t n, std::uint64_t seed) {
  const auto family =
      make_family("levy-accumulator", {{"dt_s", dt}, {"max_steps", max_steps}}, "statistical test");
  const std::array<double, 9> theta = {w.v, w.v, w.a, 0.0, w.zr, w.alpha, 0.0, 0.0, 0.0};
  std::vector<float> rows(static_cast<std::size_t>(6 * n));
  Rng rng(seed, Purpose::test, 0);
  EXPECT_EQ(family->simulate(theta, n, rng, rows), 2 * n);
  Trials trials;
  for (std::size_t r = 0; r < rows.size(); r += 3) {
    (rows[r + 1] == 1.0f ? trials.upper : trials.lower).push_back(rows[r + 2]);
  }
  return trials;
}

Trials scalar_trials(const Walker& w, double dt, std::int64_t max_steps, std::int64_t n, std::uint64_t seed) {
  ScalarAccumulator scalar(seed);
  Trials trials;
  while (static_cast<std::int64_t>(trials.size()) < n) {
    const ScalarTrial trial = scalar.trial(w.v, w.a, w.zr, w.alpha, dt, max_steps);
    if (trial.decided) (trial.upper ? trials.upper : trials.lower).push_back(trial.steps * dt);
  }
  return trials;
}

double p_upper(const Walker& w) {
  if (w.v == 0.0) return w.zr;
  return std::expm1(-2.0 * w.v * w.a * w.zr) / std::expm1(-2.0 * w.v * w.a);
}

double mean_time(const Walker& w) {
  if (w.v == 0.0) return w.a * w.a * w.zr * (1.0 - w.zr);
  return w.a / w.v * (p_upper(w) - w.zr);
}

// A walk in steps notices a crossing late, as if each boundary lay beta sqrt(dt) further out, beta = .5826
// (Siegmund 1979; Broadie, Glasserman & Kou 1997): what is left then is of order dt.
Walker widened(const Walker& w, double dt) {
  const double shift = 0.5825971579390106 * std::sqrt(dt);
  const double a = w.a + 2.0 * shift;
  return {w.v, a, (w.a * w.zr + shift) / a, w.alpha};
}

TEST(Diffusion, ChoiceAndMeanTimeAreThoseOfTheClosedForms) {
  constexpr std::int64_t kTrials = 100'000;
  for (const Walker& w : {Walker{1.0, 1.5, 0.5}, Walker{-2.5, 2.0, 0.7}, Walker{0.0, 1.0, 0.3}}) {
    for (const double dt : {1e-3, 1e-4}) {
      const Trials t = simd_trials(w, dt, 16'000'000, kTrials, 11);
      const Walker wide = widened(w, dt);
      const double p = p_upper(wide);
      const double count = static_cast<double>(t.size());
      EXPECT_NEAR(t.p_upper(), p, kSigmas * std::sqrt(p * (1.0 - p) / count) + dt) << w.v << " " << dt;
      double squares = 0.0;
      const double mean = t.mean();
      for (const double x : t.upper) squares += (x - mean) * (x - mean);
      for (const double x : t.lower) squares += (x - mean) * (x - mean);
      EXPECT_NEAR(mean, mean_time(wide), kSigmas * std::sqrt(squares) / count + 2.0 * dt) << w.v << " " << dt;
    }
  }
}

// Without the correction the error falls with sqrt(dt): extrapolated to 0 from two time steps.
TEST(Diffusion, ApproachesTheClosedFormsAsTheStepShrinks) {
  const Walker w{1.5, 1.0, 0.4};
  const double coarse = simd_trials(w, 4e-4, 16'000'000, 200'000, 12).mean();
  const double fine = simd_trials(w, 1e-4, 16'000'000, 200'000, 13).mean();
  const double exact = mean_time(w);
  EXPECT_GT(coarse - exact, 1.5 * (fine - exact));
  // Spread of the mean below .0005 each (decision times spread by about .2), weights 2 and 1; and order dt.
  EXPECT_NEAR(2.0 * fine - coarse, exact, kSigmas * std::sqrt(5.0) * 0.2 / std::sqrt(400'000.0) + 4e-4);
}

// P(T <= t, lower) of a diffusion: the series for long times of its density, integrated from t to infinity
// and taken from the whole,  P(lower) - (pi / a^2) e^(-v x0) sum_k k sin(pi k x0 / a) e^(-l_k t) / l_k, l_k =
// v^2 / 2 + k^2 pi^2 / (2 a^2).  The density is that of Navarro & Fuss 2009, doi:10.1016/j.jmp.2009.02.003.
double lower_cdf(const Walker& w, double t) {
  const double x0 = w.a * w.zr;
  double sum = 0.0;
  for (int k = 1; k < 400; ++k) {
    const double wave = k * std::numbers::pi / w.a;
    const double rate = 0.5 * (w.v * w.v + wave * wave);
    const double size = std::exp(-rate * t);
    sum += k * std::sin(wave * x0) * size / rate;
    if (size < 1e-18) break;
  }
  return 1.0 - p_upper(w) - std::numbers::pi / (w.a * w.a) * std::exp(-w.v * x0) * sum;
}

// First-passage times to each boundary. The step is small and the boundaries are moved to where the walk sees
// them; what remains, of the order of dt, is below the resolution of 40,000 trials.
TEST(Diffusion, FirstPassageTimesFollowTheSeries) {
  constexpr double kDt = 1e-4;
  for (const Walker& w : {Walker{1.0, 1.0, 0.5}, Walker{-1.5, 1.4, 0.6}, Walker{0.0, 0.8, 0.3}}) {
    const Trials t = simd_trials(w, kDt, 16'000'000, 20'000, 14);
    const Walker wide = widened(w, kDt);
    const double p_lower = 1.0 - p_upper(wide);
    EXPECT_GT(kolmogorov_smirnov(t.lower, [&](double x) { return lower_cdf(wide, x) / p_lower; }),
              kFalseAlarm)
        << w.v;
    const Walker mirrored{-wide.v, wide.a, 1.0 - wide.zr};
    EXPECT_GT(kolmogorov_smirnov(t.upper, [&](double x) { return lower_cdf(mirrored, x) / (1.0 - p_lower); }),
              kFalseAlarm)
        << w.v;
  }
}

// Two-sample Kolmogorov-Smirnov. Times are multiples of dt: ties make the test conservative.
double two_samples(std::vector<double> x, std::vector<double> y) {
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  double distance = 0.0;
  for (const double at : x) {
    const auto share = [at](const std::vector<double>& values) {
      const auto below = std::upper_bound(values.begin(), values.end(), at + 1e-5) - values.begin();
      return static_cast<double>(below) / static_cast<double>(values.size());
    };
    distance = std::max(distance, std::fabs(share(x) - share(y)));
  }
  const double n = static_cast<double>(x.size()) * static_cast<double>(y.size()) /
                   static_cast<double>(x.size() + y.size());
  const double s = std::sqrt(n) * distance;
  double p = 0.0;
  for (int k = 1; k < 100; ++k) p += (k % 2 == 1 ? 2.0 : -2.0) * std::exp(-2.0 * k * k * s * s);
  return s < 0.3 ? 1.0 : std::clamp(p, 0.0, 1.0);
}

// At the step and the limit of the built-in problem, skipping included. Signed times hold both responses.
TEST(DecisionTrials, AreThoseOfThePlainProgram) {
  const std::vector<Walker> cases = {{3.0, 1.8, 0.5, 2.0}, {0.2, 3.0, 0.35, 2.0}, {-5.0, 0.6, 0.6, 2.0},
                                     {2.0, 1.2, 0.5, 1.1}, {0.5, 2.5, 0.4, 1.5},  {-3.0, 2.0, 0.5, 1.0},
                                     {1.0, 1.5, 0.5, 1.99}};
  for (const Walker& w : cases) {
    const Trials fast = simd_trials(w, 1e-3, 5000, 20'000, 15);
    const Trials plain = scalar_trials(w, 1e-3, 5000, 4'000, 16);
    const auto signed_times = [](const Trials& t) {
      std::vector<double> all = t.upper;
      for (const double x : t.lower) all.push_back(-x);
      return all;
    };
    EXPECT_GT(two_samples(signed_times(fast), signed_times(plain)), kFalseAlarm)
        << "v " << w.v << " a " << w.a << " alpha " << w.alpha;
  }
}

// Shares of choices and mean times against the closed forms averaged over v ~ N(v, sv) and z ~ U(zr +-
// szr/2).
TEST(DecisionTrials, StartDriftAndNonDecisionTimeVary) {
  const auto family = make_family("levy-accumulator");
  constexpr std::int64_t kTrials = 100'000;
  const std::array<double, 9> theta = {1.0, -1.0, 1.0, 0.5, 0.4, 2.0, 0.3, 1.5, 0.5};
  std::vector<float> rows(6 * kTrials);
  Rng rng(17, Purpose::test, 0);
  ASSERT_EQ(family->simulate(theta, kTrials, rng, rows), 2 * kTrials);
  Rng other(18, Purpose::test, 0);
  for (const int condition : {1, 2}) {
    double upper = 0.0;
    double time = 0.0;
    double expected_upper = 0.0;
    double expected_time = 0.0;
    for (std::int64_t k = 0; k < kTrials; ++k) {
      const float* row = &rows[static_cast<std::size_t>(3 * (k + (condition - 1) * kTrials))];
      ASSERT_EQ(row[0], static_cast<float>(condition));
      upper += row[1];
      time += row[2];
      ASSERT_GT(row[2], 0.35f);
      const double v = theta[condition == 1 ? 0 : 1] + 1.5 * other.normal();
      const Walker wide = widened({v, 1.0, other.uniform(0.15, 0.65)}, 1e-3);
      expected_upper += p_upper(wide);
      expected_time += mean_time(wide) + 0.5;
    }
    const double n = kTrials;
    // Spreads: choices at most .5, both sums; times about .25.
    EXPECT_NEAR(upper / n, expected_upper / n, kSigmas * std::sqrt(0.5 / n) + 0.002) << condition;
    EXPECT_NEAR(time / n, expected_time / n, kSigmas * 0.35 / std::sqrt(n) + 0.002) << condition;
  }
}

}  // namespace
}  // namespace occam
