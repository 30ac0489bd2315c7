// Latencies of 4 to 12 people who each name some of 6 to 20 words, half of which are primed for everybody, so
// that words that differ by themselves look like priming. Exact: a mixed model with crossed effects,
// conjugate given both spreads.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kPeople = 12, kWords = 20;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto people = rng.integer(4, kPeople), words = rng.integer(6, kWords);
  double person[kPeople] = {}, word[kWords] = {};
  for (double& one : person) one = p["person_spread"] * rng.normal();
  if (p.has("word_spread")) {
    for (double& one : word) one = p["word_spread"] * rng.normal();
  }
  const double sd = std::sqrt(p["variance"]), effect = p.has("effect") ? p["effect"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    const auto who = rng.integer(1, people), what = rng.integer(1, words);
    const double primed = what % 2 == 0 ? 1 : -1;
    out(i, "person") = static_cast<float>(who);
    out(i, "word") = static_cast<float>(what);
    out(i, "primed") = static_cast<float>(primed);
    out(i, "speed") =
        static_cast<float>(sd * (effect * primed + person[who - 1] + word[what - 1] + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  MixedSums sums(1 + kPeople + kWords);
  std::vector<double> in(1 + kPeople + kWords);
  for (long i = 0; i < data.n(); ++i) {
    const auto who = static_cast<std::size_t>(data(i, 0)),
               what = kPeople + static_cast<std::size_t>(data(i, 1));
    sums.add({{0, data(i, 2)}, {who, 1.0}, {what, 1.0}}, data(i, 3));
    in[who] = in[what] = 1;
  }
  const auto with = [&](double person, double word) {
    std::vector<double> sd = in;
    for (std::size_t i = 1; i < sd.size(); ++i) sd[i] *= i <= kPeople ? person : word;
    sd[0] = p.has("effect") ? 0.5 : 0;
    return sums.evidence(sd, 4, 0.12);
  };
  const auto over = [](int panels, auto f) {
    return log_integral(0, 4.8, panels * FINE, [&](double s) { return log_half_normal(s, 0.8) + f(s); });
  };
  if (!p.has("word_spread")) return over(10, [&](double s) { return with(s, 0); });
  return over(6, [&](double s) { return over(6, [&](double t) { return with(s, t); }); });
}
