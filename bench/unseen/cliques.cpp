// Most pairs of 7 to 10 people. Exact: conjugate given who is in which circle, outgoing, or beside whom; sums
// over all ways to divide people, and over all round tables (by the seats taken so far and who was last).
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kPeople = 10;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  long people = 7;
  while (people * (people - 1) / 2 < out.n()) ++people;
  if (people < 10 && 8 * out.n() >= 3 * people * (people + 1) && rng.bernoulli(0.5))
    ++people;  // 3 of 4 pairs
  std::vector<std::pair<long, long>> pairs;
  for (long a = 0; a < people; ++a) {
    for (long b = 0; b < a; ++b) pairs.emplace_back(a, b);
  }
  bool is[kPeople] = {};
  long seat[kPeople] = {};
  for (long k = 0; k < people; ++k) {
    is[k] = rng.bernoulli(0.5);
    const long before = static_cast<long>(rng.integer(0, k));
    seat[k] = seat[before];
    seat[before] = k;
  }
  for (long i = 0; i < out.n(); ++i) {
    const auto k = static_cast<std::size_t>(rng.integer(i, static_cast<std::int64_t>(pairs.size()) - 1));
    std::swap(pairs[static_cast<std::size_t>(i)], pairs[k]);
    auto [a, b] = pairs[static_cast<std::size_t>(i)];
    if (rng.bernoulli(0.5)) std::swap(a, b);
    const long apart = std::abs(seat[a] - seat[b]);
    const double chance = p.is("circles")    ? p[is[a] == is[b] ? "within" : "between"]
                          : p.is("outgoing") ? p[is[a] && is[b]   ? "both"
                                                 : is[a] || is[b] ? "either"
                                                                  : "neither"]
                          : p.is("table")    ? p[apart == 1 || apart == people - 1 ? "beside" : "away"]
                                             : p["share"];
    out(i, "one") = static_cast<float>(a + 1);
    out(i, "other") = static_cast<float>(b + 1);
    out(i, "know") = rng.bernoulli(chance);
  }
  return true;
}

static double log_of(double yes, double no, double a, double b) {
  return log_beta(a + yes, b + no) - log_beta(a, b);
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  int said[kPeople][kPeople];  // 1, 0, or -1 where nothing is known of a pair
  for (auto& row : said) std::fill(std::begin(row), std::end(row), -1);
  std::size_t people = 0;
  double yes = 0, no = 0;
  for (long i = 0; i < data.n(); ++i) {
    const auto a = static_cast<std::size_t>(data(i, 0)) - 1, b = static_cast<std::size_t>(data(i, 1)) - 1;
    said[a][b] = said[b][a] = data(i, 2) > 0.5 ? 1 : 0;
    (said[a][b] == 1 ? yes : no) += 1;
    people = std::max({people, a + 1, b + 1});
  }
  if (p.is("chance")) return log_of(yes, no, 3, 3);
  LogSum sum;
  if (!p.is("table")) {
    const unsigned ways = 1u << people;
    for (unsigned way = 0; way < ways; ++way) {
      double with[3] = {}, without[3] = {};  // pairs by how many of them are
      for (std::size_t a = 0; a < people; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          if (said[a][b] >= 0) (said[a][b] == 1 ? with : without)[(way >> a & 1) + (way >> b & 1)] += 1;
        }
      }
      sum.add(p.is("circles") ? log_of(with[0] + with[2], without[0] + without[2], 12, 2) +
                                    log_of(with[1], without[1], 2, 8)
                              : log_of(with[0], without[0], 2, 12) + log_of(with[1], without[1], 3, 3) +
                                    log_of(with[2], without[2], 12, 2));
    }
    return sum.value() - std::log(ways);
  }
  // Ways to seat some of the people onwards from the first, by who they are and who is last, and by how many
  // who sit beside each other know each other, and of how many this is not said.
  double unsaid = 0;
  for (std::size_t a = 0; a < people; ++a)
    unsaid += static_cast<double>(std::count(said[a], said[a] + a, -1));
  const std::size_t others = people - 1, open = static_cast<std::size_t>(unsaid),
                    counts = (people + 1) * (open + 1);
  std::vector<double> ways((others << others) * counts), round(counts);
  const auto add = [&](const double* from, int beside, double* to) {
    const std::size_t shift = beside < 0 ? 1 : beside == 1 ? open + 1 : 0;
    for (std::size_t c = shift; c < counts; ++c) to[c] += from[c - shift];
  };
  const auto at = [&](std::size_t seated, std::size_t last) {
    return ways.data() + (seated * others + last) * counts;
  };
  const std::vector<double> first = [&] {
    std::vector<double> one(counts);
    one[0] = 1;
    return one;
  }();
  for (std::size_t k = 0; k < others; ++k) add(first.data(), said[0][k + 1], at(1ul << k, k));
  for (std::size_t seated = 1; seated < 1ul << others; ++seated) {
    for (std::size_t last = 0; last < others; ++last) {
      if ((seated >> last & 1) == 0) continue;
      if (seated + 1 == 1ul << others) add(at(seated, last), said[last + 1][0], round.data());
      for (std::size_t k = 0; k < others; ++k) {
        if ((seated >> k & 1) == 0) add(at(seated, last), said[last + 1][k + 1], at(seated | 1ul << k, k));
      }
    }
  }
  double all = 0;
  for (std::size_t c = 0; c < counts; ++c) {
    if (round[c] == 0) continue;
    const auto know = static_cast<double>(c / (open + 1)),
               not_know = static_cast<double>(people) - know - static_cast<double>(c % (open + 1));
    sum.add(std::log(round[c]) + log_of(know, not_know, 14, 1) + log_of(yes - know, no - not_know, 2, 5));
    all += round[c];
  }
  return sum.value() - std::log(all);
}
