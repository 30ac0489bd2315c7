// Squares 5 to 7 wide and up to 7 high, in the last row of which there may be fewer. Exact: a sum over all
// ways in which plants may grow, square by square, given those in as many squares before as there are in a
// row (a transfer matrix); simulated from the same sums. Quadrature over one to three parameters.
#include <occam/simulator.h>

#include "more.h"

// An Ising model of n squares, w in a row, x = 1 or -1: probability ~ exp(level sum x + coupling sum x x').
class Ising {
 public:
  Ising(long w, long n, double level, double coupling) : w_(w), n_(n), states_(1ul << w) {
    most_ = std::abs(level) + 2 * std::abs(coupling);
    for (int left = -1; left <= 1; ++left) {
      for (int below = -1; below <= 1; ++below) {
        for (int x = -1; x <= 1; x += 2)
          weight_[left + 1][below + 1][x + 1] = std::exp(x * (level + coupling * (left + below)) - most_);
      }
    }
  }

  // For each square, and for each state of the squares before it (the last one is bit 0): what all later
  // ones, and itself, may be; (n + 1, states).
  std::vector<double> sums() const {
    std::vector<double> sum((static_cast<std::size_t>(n_) + 1) * states_, 1.0);
    for (long i = n_; i-- > 0;) {
      double* const here = sum.data() + static_cast<std::size_t>(i) * states_;
      const double* const after = here + states_;
      for (unsigned long state = 0; state < states_; ++state) {
        const double* const w = weights(i, state);
        here[state] = w[0] * after[next(state, false)] + w[2] * after[next(state, true)];
      }
    }
    return sum;
  }
  double log_sum() const { return std::log(sums()[0]) + static_cast<double>(n_) * most_; }

  std::vector<bool> draw(occam::Random& rng) const {
    const std::vector<double> sum = sums();
    std::vector<bool> grows(static_cast<std::size_t>(n_));
    unsigned long state = 0;
    for (long i = 0; i < n_; ++i) {
      const double* const after = sum.data() + (static_cast<std::size_t>(i) + 1) * states_;
      const double* const w = weights(i, state);
      const double yes = w[2] * after[next(state, true)], no = w[0] * after[next(state, false)];
      const bool one = rng.bernoulli(yes / (yes + no));
      grows[static_cast<std::size_t>(i)] = one;
      state = next(state, one);
    }
    return grows;
  }

 private:
  const double* weights(long i, unsigned long state) const {
    return weight_[i % w_ == 0 ? 1 : 2 * (state & 1)][i < w_ ? 1 : 2 * (state >> (w_ - 1) & 1)];
  }
  unsigned long next(unsigned long state, bool grows) const {
    return (state << 1 | (grows ? 1ul : 0ul)) & (states_ - 1);
  }

  long w_, n_;
  unsigned long states_;
  double weight_[3][3][3] = {}, most_ = 0;  // by the squares to the left and below: -1, none, 1
};

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long n = out.n(), w = static_cast<long>(rng.integer((n + 6) / 7 > 5 ? (n + 6) / 7 : 5, 7)),
             h = (n + w - 1) / w;
  std::vector<bool> grows(static_cast<std::size_t>(n));
  std::vector<long> order(static_cast<std::size_t>(n));
  if (p.has("coupling"))
    grows = Ising(w, n, p["level"], p.is("alike") ? p["coupling"] : -p["coupling"]).draw(rng);
  for (long i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    order[k] = i;
    if (p.has("coupling")) continue;
    double half = p["level"];
    if (p.is("slope")) {
      half += p["to_east"] * (static_cast<double>(i % w) / static_cast<double>(w - 1) - 0.5) +
              p["to_north"] * (static_cast<double>(i / w) / static_cast<double>(h - 1) - 0.5);
    }
    grows[k] = rng.bernoulli(logistic(2 * half));
  }
  for (long i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    std::swap(order[k], order[static_cast<std::size_t>(rng.integer(i, n - 1))]);
    out(i, "east") = static_cast<float>(order[k] % w + 1);
    out(i, "north") = static_cast<float>(order[k] / w + 1);
    out(i, "grows") = grows[static_cast<std::size_t>(order[k])] ? 1 : 0;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  long w = 0;
  for (long i = 0; i < n; ++i) w = std::max(w, static_cast<long>(data(i, 0)));
  const long h = (n + w - 1) / w;
  std::vector<double> x(static_cast<std::size_t>(n)), east(x), north(x);
  double sum = 0, pairs = 0;
  for (long i = 0; i < n; ++i) {
    const long column = static_cast<long>(data(i, 0)) - 1, row = static_cast<long>(data(i, 1)) - 1;
    const auto k = static_cast<std::size_t>(row * w + column);
    x[k] = data(i, 2) > 0.5 ? 1 : -1;
    east[k] = static_cast<double>(column) / static_cast<double>(w - 1) - 0.5;
    north[k] = static_cast<double>(row) / static_cast<double>(h - 1) - 0.5;
    sum += x[k];
  }
  for (long i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (i % w != 0) pairs += x[k] * x[k - 1];
    if (i >= w) pairs += x[k] * x[k - static_cast<std::size_t>(w)];
  }
  if (p.is("strewn")) {
    return log_integral_around<1>({0.0}, [&](std::array<double, 1> at) {
      const double size = static_cast<double>(n);
      return log_normal(at[0], 0, 0.4) + sum * at[0] - size * (log1pexp(2 * at[0]) - at[0]);
    });
  }
  if (p.is("slope")) {
    return log_integral_around<3>({0.0, 0.0, 0.0}, [&](std::array<double, 3> at) {
      double result = log_normal(at[0], 0, 0.4) + log_normal(at[1], 0, 0.8) + log_normal(at[2], 0, 0.8);
      double product = 1;
      for (std::size_t k = 0; k < x.size(); ++k) {
        product *= 1 + std::exp(-2 * x[k] * (at[0] + at[1] * east[k] + at[2] * north[k]));
        if (k % 8 == 7 || k + 1 == x.size()) {
          result -= std::log(product);
          product = 1;
        }
      }
      return result;
    });
  }
  const double sign = p.is("alike") ? 1 : -1;
  return log_integral_around<2>(
      {0.0, -1.3},
      [&](std::array<double, 2> at) {
        const double coupling = sign * std::exp(at[1]);
        return log_normal(at[0], 0, 0.4) + log_normal(at[1], -1.3, 0.5) + sum * at[0] + pairs * coupling -
               Ising(w, n, at[0], coupling).log_sum();
      },
      0.4);
}
