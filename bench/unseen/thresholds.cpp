// Autoregression of order 1 with one or two regimes. Exact: conjugate regressions from sums, over all ways to
// part the rows.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double last = 0;
  for (long i = 0; i < out.n(); ++i) {
    bool other = p.is("threshold") && last > p["limit"];
    if (p.is("break")) other = static_cast<double>(i) >= p["when"] * static_cast<double>(out.n());
    last = (other ? p["other_base"] + p["other_carry"] * last : p["base"] + p["carry"] * last) + rng.normal();
    out(i, 0) = static_cast<float>(last);
    last = out(i, 0);
  }
  return true;
}

// Without what is the same for all ways to part the rows.
double regime(const Sums<2>& sums) {
  return sums.evidence(1, {0.7, 0.2});
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const std::size_t n = static_cast<std::size_t>(data.n());
  std::vector<double> last(n), now(n);
  for (std::size_t i = 0; i < n; ++i) {
    last[i] = i == 0 ? 0 : data(static_cast<long>(i) - 1, 0);
    now[i] = data(static_cast<long>(i), 0) - 0.2 * last[i];  // so that carries have a mean of 0
  }
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  if (p.is("threshold"))
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return last[a] < last[b]; });
  std::vector<double> before(n + 1), after(n + 1);
  Sums<2> from_below, from_above;
  before[0] = after[n] = 0;
  for (std::size_t k = 0; k < n; ++k) {
    from_below.add({1, last[order[k]]}, now[order[k]]);
    before[k + 1] = regime(from_below);
  }
  for (std::size_t k = n; k-- > 0;) {
    from_above.add({1, last[order[k]]}, now[order[k]]);
    after[k] = regime(from_above);
  }
  if (p.is("alike")) return before[n];
  // k rows are as at first, with this probability.
  LogSum sum;
  const auto normal_below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (std::size_t k = 0; k <= n; ++k) {
    double share = 0;
    if (p.is("threshold")) {
      // The limit is between the k-th and the next of the sorted values before.
      const double low = k == 0 ? 0 : normal_below(last[order[k - 1]]);
      share = (k == n ? 1 : normal_below(last[order[k]])) - low;
    } else {
      // Row i is of the second regime where i >= when n: k rows before it for when n in (k - 1, k].
      const double low = std::max(0.1, (static_cast<double>(k) - 1) / static_cast<double>(n));
      share = (std::min(0.9, static_cast<double>(k) / static_cast<double>(n)) - low) / 0.8;
    }
    if (share > 0) sum.add(std::log(share) + before[k] + after[k]);
  }
  return sum.value();
}
