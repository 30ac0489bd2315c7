// A Rasch model: 6 to 25 persons answer most of 3 to 6 items, which are easy, fair or hard. Exact: sums over
// what every item may be, over spreads, and quadrature over abilities and level. Given the items, what a
// person does depends on the number of right answers alone, and on how many items of each kind there were.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kPersons = 25, kItems = 6, kKinds = 28 + 21 + 15 + 10 + 6 + 3 + 1;

// Spreads are 1, 2 or 3 of this.
constexpr double kUnit = 0.6;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  // At least three of four answers are there.
  std::vector<std::pair<long, long>> sizes;
  for (long persons = 6; persons <= 25; ++persons) {
    for (long items = 3; items <= 6; ++items) {
      const long all = persons * items;
      if (all >= out.n() && 3 * all <= 4 * out.n()) sizes.emplace_back(persons, items);
    }
  }
  const auto [persons, items] =
      sizes[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(sizes.size()) - 1))];
  double able[kPersons] = {}, easy[kItems] = {};
  for (double& one : able) one = p.has("person_spread") ? kUnit * p["person_spread"] * rng.normal() : 0;
  for (double& one : easy) {
    one = p.has("item_spread") ? kUnit * p["item_spread"] * static_cast<double>(rng.integer(-1, 1)) : 0;
  }
  std::vector<long> cells(static_cast<std::size_t>(persons * items));
  for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = static_cast<long>(k);
  for (long i = 0; i < out.n(); ++i) {
    const auto k = static_cast<std::size_t>(rng.integer(i, persons * items - 1));
    std::swap(cells[static_cast<std::size_t>(i)], cells[k]);
    const long person = cells[static_cast<std::size_t>(i)] / items,
               item = cells[static_cast<std::size_t>(i)] % items;
    out(i, "person") = static_cast<float>(person + 1);
    out(i, "item") = static_cast<float>(item + 1);
    out(i, "right") = rng.bernoulli(logistic(p["level"] + able[person] + easy[item]));
  }
  return true;
}

// Persons who answered the same items, by how many of them right.
struct Group {
  unsigned answered = 0;
  double persons[kItems + 1] = {};
};

// Number of a set with so many easy and hard items and so many in all.
static std::size_t kind(std::size_t easy, std::size_t hard, std::size_t all) {
  return all * (all + 1) * (all + 2) / 6 + (easy + hard) * (easy + hard + 1) / 2 + hard;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const bool persons_differ = p.has("person_spread"), items_differ = p.has("item_spread");
  unsigned answered[kPersons] = {};
  std::size_t right[kPersons] = {}, items = 0;
  double easier[kItems] = {};  // right answers to each item
  for (long i = 0; i < data.n(); ++i) {
    const auto person = static_cast<std::size_t>(data(i, 0)) - 1,
               item = static_cast<std::size_t>(data(i, 1)) - 1;
    answered[person] |= 1u << item;
    items = std::max(items, item + 1);
    if (data(i, 2) < 0.5) continue;
    ++right[person];
    ++easier[item];
  }
  std::vector<Group> groups;
  for (std::size_t k = 0; k < kPersons; ++k) {
    if (answered[k] == 0) continue;
    std::size_t g = 0;
    while (g < groups.size() && groups[g].answered != answered[k]) ++g;
    if (g == groups.size()) groups.push_back({answered[k]});
    ++groups[g].persons[right[k]];
  }
  // Each way that items may be: how many right answers more to easy items than to hard ones, and what is the
  // kind of what each group answered.
  std::size_t ways = 1;
  if (items_differ) {
    for (std::size_t j = 0; j < items; ++j) ways *= 3;
  }
  std::vector<double> excess(ways), log_way(ways);
  std::vector<int> place(ways * groups.size());
  for (std::size_t way = 0; way < ways; ++way) {
    unsigned easy = 0, hard = 0;
    std::size_t rest = way;
    for (std::size_t j = 0; j < items; ++j, rest /= 3) {
      if (rest % 3 == 1) easy |= 1u << j;
      if (rest % 3 == 2) hard |= 1u << j;
      excess[way] += rest % 3 == 1 ? easier[j] : rest % 3 == 2 ? -easier[j] : 0;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const unsigned set = groups[g].answered;
      const auto count = [&](unsigned of) { return static_cast<std::size_t>(__builtin_popcount(of & set)); };
      place[g * ways + way] = static_cast<int>(kind(count(easy), count(hard), count(~0u)));
    }
  }
  // log of the chance of one set of right answers to items of each kind, but for what is easier about them.
  constexpr int kNodes = 21 * FINE;
  constexpr double kStep = 11.0 / (kNodes - 1);
  std::vector<double> table(kKinds * (kItems + 1)), log_kind(kKinds);
  const auto with = [&](double level, double person_spread, double item_spread) {
    std::fill(table.begin(), table.end(), 0.0);
    for (int node = 0; node < (persons_differ ? kNodes : 1); ++node) {
      const double z = persons_differ ? -5.5 + kStep * node : 0, x = level + person_spread * z,
                   weight = persons_differ ? kStep * std::exp(log_normal(z, 0, 1)) : 1, odds = std::exp(x);
      double not_fair[kItems + 1], not_easy[kItems + 1], not_hard[kItems + 1];
      not_fair[0] = not_easy[0] = not_hard[0] = 1;
      for (std::size_t k = 1; k <= items; ++k) {
        not_fair[k] = not_fair[k - 1] / (1 + odds);
        not_easy[k] = not_easy[k - 1] / (1 + odds * std::exp(item_spread));
        not_hard[k] = not_hard[k - 1] / (1 + odds * std::exp(-item_spread));
      }
      for (std::size_t all = 1; all <= items; ++all) {
        for (std::size_t off = 0; off <= (items_differ ? all : 0); ++off) {
          for (std::size_t hard = 0; hard <= off; ++hard) {
            double* at = table.data() + kind(off - hard, hard, all) * (kItems + 1);
            double sum = weight * not_fair[all - off] * not_easy[off - hard] * not_hard[hard];
            for (std::size_t r = 0; r <= all; ++r, sum *= odds) at[r] += sum;
          }
        }
      }
    }
    for (std::size_t way = 0; way < ways; ++way) log_way[way] = item_spread * excess[way];
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto all = static_cast<std::size_t>(__builtin_popcount(groups[g].answered));
      for (std::size_t off = 0; off <= (items_differ ? all : 0); ++off) {
        for (std::size_t hard = 0; hard <= off; ++hard) {
          const std::size_t k = kind(off - hard, hard, all);
          log_kind[k] = 0;
          for (std::size_t r = 0; r <= all; ++r) {
            if (groups[g].persons[r] > 0)
              log_kind[k] += groups[g].persons[r] * std::log(table[k * (kItems + 1) + r]);
          }
        }
      }
      const int* at = place.data() + g * ways;
      for (std::size_t way = 0; way < ways; ++way) log_way[way] += log_kind[at[way]];
    }
    const double most = *std::max_element(log_way.begin(), log_way.end());
    double sum = 0;
    for (const double one : log_way) sum += std::exp(one - most);
    return most + std::log(sum / static_cast<double>(ways));
  };
  // Levels by the trapezoidal rule, either way from the prior mean as far as anything is left.
  const auto over_levels = [&](double person_spread, double item_spread) {
    constexpr double step = 0.2 / FINE;
    const auto at = [&](int k) {
      const double level = 0.5 + step * k;
      return log_normal(level, 0.5, 0.8) + with(level, person_spread, item_spread);
    };
    LogSum sum;
    double best = at(0);
    sum.add(best);
    for (const int way : {-1, 1}) {
      for (int k = way;; k += way) {
        const double one = at(k);
        sum.add(one);
        best = std::max(best, one);
        if (one < best - 14) break;
      }
    }
    return sum.value() + std::log(step);
  };
  LogSum sum;
  for (int s = 1; s <= (persons_differ ? 3 : 1); ++s) {
    for (int d = 1; d <= (items_differ ? 3 : 1); ++d) sum.add(over_levels(s * kUnit, d * kUnit));
  }
  return sum.value() - std::log((persons_differ ? 3.0 : 1.0) * (items_differ ? 3.0 : 1.0));
}
