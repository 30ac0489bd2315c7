// Ratings of texts by 3 to 12 readers; each reads some of 4 to 24 texts, drawn anew for each rating. Exact: a
// mixed model with crossed effects, conjugate given both spreads, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kReaders = 12, kTexts = 24;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto readers = rng.integer(3, kReaders), texts = rng.integer(4, kTexts);
  double reader[kReaders] = {}, text[kTexts] = {};
  if (p.has("reader_spread")) {
    for (double& one : reader) one = p["reader_spread"] * rng.normal();
  }
  if (p.has("text_spread")) {
    for (double& one : text) one = p["text_spread"] * rng.normal();
  }
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const auto r = rng.integer(1, readers), t = rng.integer(1, texts);
    out(i, "reader") = static_cast<float>(r);
    out(i, "text") = static_cast<float>(t);
    out(i, "rating") =
        static_cast<float>(50 + sd * (p["level"] + reader[r - 1] + text[t - 1] + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  MixedSums sums(1 + kReaders + kTexts);
  std::vector<double> in(1 + kReaders + kTexts);
  for (long i = 0; i < data.n(); ++i) {
    const auto r = static_cast<std::size_t>(data(i, 0)), t = kReaders + static_cast<std::size_t>(data(i, 1));
    sums.add({{0, 1.0}, {r, 1.0}, {t, 1.0}}, data(i, 2) - 50.0);
    in[r] = in[t] = 1;
  }
  const auto with = [&](double reader, double text) {
    std::vector<double> sd = in;  // those who rated nothing are left out
    for (std::size_t i = 1; i < sd.size(); ++i) sd[i] *= i <= kReaders ? reader : text;
    sd[0] = 2;
    return sums.evidence(sd, 4, 300);
  };
  const auto over = [](int panels, auto f) {
    return log_integral(0, 4.2, panels * FINE, [&](double s) { return log_half_normal(s, 0.7) + f(s); });
  };
  if (p.is("neither")) return with(0, 0);
  if (p.is("readers")) return over(10, [&](double s) { return with(s, 0); });
  if (p.is("texts")) return over(10, [&](double s) { return with(0, s); });
  return over(6, [&](double s) { return over(6, [&](double t) { return with(s, t); }); });
}
