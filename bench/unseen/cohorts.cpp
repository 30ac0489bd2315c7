// Deaths in eight groups of age and 4 to 20 periods. Exact: factors are gamma distributed, conjugate given
// level, ageing and scatter, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

constexpr long kAges = 8;

// Which factor a cell has.
long group_of(const occam::Parameters& p, long age, long year) {
  return p.is("years") ? year : p.is("births") ? year - age + kAges : year * kAges + age;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  std::vector<double> factor(static_cast<std::size_t>(out.n() + 2 * kAges), 1.0);
  const double shape = p.has("scatter") ? 1 / (p["scatter"] * p["scatter"]) : 0;
  for (double& one : factor) one = shape > 0 ? rng.gamma(shape, 1 / shape) : 1;
  for (long i = 0; i < out.n(); ++i) {
    const long age = i % kAges + 1, year = i / kAges + 1;
    const auto people = static_cast<float>(rng.uniform(5, 40));
    out(i, "age") = static_cast<float>(age);
    out(i, "year") = static_cast<float>(year);
    out(i, "people") = people;
    out(i, "deaths") =
        rng.poisson(people * std::exp(p["level"] + p["ageing"] * (static_cast<double>(age) - 4.5)) *
                    factor[static_cast<std::size_t>(group_of(p, age, year))]);
  }
  return true;
}

// Without the factorials of deaths and powers of people, which all models share.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  struct Group {
    double deaths = 0, people[kAges] = {};
  };
  std::vector<Group> groups(static_cast<std::size_t>(data.n() + 2 * kAges));
  double all = 0, ages = 0;
  for (long i = 0; i < data.n(); ++i) {
    const long age = std::lround(data(i, 0)), year = std::lround(data(i, 1));
    Group& one = groups[static_cast<std::size_t>(group_of(p, age, year))];
    one.deaths += data(i, 3);
    one.people[age - 1] += data(i, 2);
    all += data(i, 3);
    ages += data(i, 3) * (static_cast<double>(age) - 4.5);
  }
  std::erase_if(groups, [](const Group& one) {
    return std::all_of(one.people, one.people + kAges, [](double people) { return people == 0; });
  });
  const auto with = [&](double level, double ageing, double scatter) {
    double rate[kAges],
        sum = log_normal(level, 0.5, 0.4) + log_normal(ageing, 0.3, 0.1) + all * level + ages * ageing;
    for (long a = 0; a < kAges; ++a) rate[a] = std::exp(level + ageing * (static_cast<double>(a) - 3.5));
    const double shape = 1 / (scatter * scatter);
    for (const Group& one : groups) {
      double expected = 0;
      for (long a = 0; a < kAges; ++a) expected += one.people[a] * rate[a];
      if (scatter == 0)
        sum -= expected;
      else
        sum += std::lgamma(shape + one.deaths) - std::lgamma(shape) - one.deaths * std::log(shape) -
               (shape + one.deaths) * std::log1p(expected / shape);
    }
    return sum;
  };
  if (p.is("age"))
    return log_integral_around<2>({0.5, 0.3}, [&](std::array<double, 2> x) { return with(x[0], x[1], 0); });
  return log_integral(0.05, 0.4, 2 * FINE, [&](double scatter) {
    return -std::log(0.35) +
           log_integral_around<2>(
               {0.5, 0.3}, [&](std::array<double, 2> x) { return with(x[0], x[1], scatter); }, 0.8);
  });
}
