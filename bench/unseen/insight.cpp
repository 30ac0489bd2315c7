// Every person answers some 20 questions, guessing at first. Exact: by person, on a grid of the times at
// which they learn, and of the speed; then over the mean of these times.
#include <occam/simulator.h>

#include "more.h"

constexpr double kGuessing = 0.5, kLearned = 0.47;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long people = std::max(3l, static_cast<long>(std::lround(out.n() / rng.uniform(14, 26))));
  for (long k = 0, i = 0; k < people; ++k) {
    const long end = out.n() * (k + 1) / people;
    const double when = p.has("when") ? rng.exponential(1 / p["when"]) : 0, level = rng.uniform();
    for (long trial = 1; i < end; ++i, ++trial) {
      const double learned = p.is("differ")    ? level
                             : p.is("at_once") ? trial > when
                                               : logistic(p["speed"] * (trial - when));
      out(i, "person") = static_cast<float>(k + 1);
      out(i, "trial") = static_cast<float>(trial);
      out(i, "right") = rng.bernoulli(kGuessing + kLearned * learned);
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  constexpr long kWhens = 160 * FINE, kMeans = 40 * FINE, kSpeeds = 24 * FINE;
  const long people = static_cast<long>([&] {
    double most = 0;
    for (long i = 0; i < data.n(); ++i) most = std::max(most, static_cast<double>(data(i, "person")));
    return most;
  }());
  const auto lik = [](double learned, bool right) {
    return std::log(right ? kGuessing + kLearned * learned : 1 - kGuessing - kLearned * learned);
  };
  if (p.is("differ")) {
    constexpr int kLevels = 200;
    std::vector<double> sums(people * kLevels);
    for (long i = 0; i < data.n(); ++i) {
      for (int l = 0; l < kLevels; ++l)
        sums[(static_cast<long>(data(i, "person")) - 1) * kLevels + l] +=
            lik((l + 0.5) / kLevels, data(i, "right") > 0.5);
    }
    double all = 0;
    for (long k = 0; k < people; ++k) {
      LogSum one;
      for (int l = 0; l < kLevels; ++l) one.add(sums[k * kLevels + l]);
      all += one.value() - std::log(static_cast<double>(kLevels));
    }
    return all;
  }
  // Times of insight: from one trial to the next, or from 0 to some 150 in steps that grow.
  const bool at_once = p.is("at_once");
  const auto edge = [&](double node) { return at_once ? node : std::expm1(5.2 * node / kWhens); };
  const auto when = [&](long w) { return edge(static_cast<double>(w) + 0.5); };
  const auto mean_x = [](long m) { return 2.2 + 0.5 * 8 * ((m + 0.5) / kMeans - 0.5); };
  // How probable each time is, for each mean.
  std::vector<double> weight(kMeans * kWhens);
  for (long m = 0; m < kMeans; ++m) {
    const double mean = std::exp(mean_x(m));
    for (long w = 0; w < kWhens; ++w) {
      const double from = edge(static_cast<double>(w)), to = edge(static_cast<double>(w + 1));
      weight[m * kWhens + w] = std::exp(-from / mean) - (w + 1 == kWhens ? 0 : std::exp(-to / mean));
    }
  }
  LogSum evidence;
  const auto add_speed = [&](auto learned, double log_prior) {
    std::vector<double> sums(people * kWhens);
    for (long i = 0; i < data.n(); ++i) {
      double* of = &sums[(static_cast<long>(data(i, "person")) - 1) * kWhens];
      const double trial = data(i, "trial");
      for (long w = 0; w < kWhens; ++w) of[w] += lik(learned(trial, w), data(i, "right") > 0.5);
    }
    double tops = 0;
    for (long k = 0; k < people; ++k) {
      double* of = &sums[k * kWhens];
      const double top = *std::max_element(of, of + kWhens);
      for (long w = 0; w < kWhens; ++w) of[w] = std::exp(of[w] - top);
      tops += top;
    }
    for (long m = 0; m < kMeans; ++m) {
      double total = tops + log_prior + log_normal(mean_x(m), 2.2, 0.5) + std::log(4.0 / kMeans);
      for (long k = 0; k < people; ++k) {
        double one = 0;
        for (long w = 0; w < kWhens; ++w) one += weight[m * kWhens + w] * sums[k * kWhens + w];
        total += std::log(one);
      }
      evidence.add(total);
    }
  };
  if (at_once) {
    add_speed([&](double trial, long w) { return trial > when(w) ? 1.0 : 0.0; }, 0);
    return evidence.value();
  }
  for (long s = 0; s < kSpeeds; ++s) {
    const double z = 8 * ((s + 0.5) / kSpeeds - 0.5), speed = std::exp(-1 + 0.5 * z);
    add_speed([&](double trial, long w) { return logistic(speed * (trial - when(w))); },
              log_normal(z, 0, 1) + std::log(8.0 / kSpeeds));
  }
  return evidence.value();
}
