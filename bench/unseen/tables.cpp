// Tables of 4 x 3 x 3 cells, shares of which are uniform, as are those of parts of them. Exact:
// Dirichlet-multinomial.
#include <occam/simulator.h>

#include "more.h"

constexpr int kRegions = 4, kDiets = 3, kIllnesses = 3;

std::vector<double> shares(occam::Random& rng, int k) {
  std::vector<double> of(static_cast<std::size_t>(k));
  double sum = 0;
  for (double& one : of) sum += one = rng.exponential();
  for (double& one : of) one /= sum;
  return of;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  std::vector<double> cells(kRegions * kDiets * kIllnesses);
  const auto fill = [&](auto of) {
    for (int r = 0; r < kRegions; ++r) {
      for (int d = 0; d < kDiets; ++d) {
        for (int i = 0; i < kIllnesses; ++i)
          cells[static_cast<std::size_t>((r * kDiets + d) * kIllnesses + i)] =
              of(static_cast<std::size_t>(r), static_cast<std::size_t>(d), static_cast<std::size_t>(i));
      }
    }
  };
  if (p.is("all")) {
    cells = shares(rng, kRegions * kDiets * kIllnesses);
  } else if (p.is("unrelated")) {
    const auto region = shares(rng, kRegions), diet = shares(rng, kDiets), illness = shares(rng, kIllnesses);
    fill([&](auto r, auto d, auto i) { return region[r] * diet[d] * illness[i]; });
  } else if (p.is("diet-and-illness")) {
    const auto region = shares(rng, kRegions), both = shares(rng, kDiets * kIllnesses);
    fill([&](auto r, auto d, auto i) { return region[r] * both[d * kIllnesses + i]; });
  } else {
    const auto region = shares(rng, kRegions);
    std::vector<std::vector<double>> diet, illness;
    for (int r = 0; r < kRegions; ++r) {
      diet.push_back(shares(rng, kDiets));
      illness.push_back(shares(rng, kIllnesses));
    }
    fill([&](auto r, auto d, auto i) { return region[r] * diet[r][d] * illness[r][i]; });
  }
  for (long row = 0; row < out.n(); ++row) {
    double left = rng.uniform(0, 1);
    int cell = 0;
    while (cell + 1 < static_cast<int>(cells.size()) && left >= cells[static_cast<std::size_t>(cell)])
      left -= cells[static_cast<std::size_t>(cell++)];
    out(row, 0) = static_cast<float>(cell / (kDiets * kIllnesses) + 1);
    out(row, 1) = static_cast<float>(cell / kIllnesses % kDiets + 1);
    out(row, 2) = static_cast<float>(cell % kIllnesses + 1);
  }
  return true;
}

double multinomial(const std::vector<double>& counts) {
  double sum = std::lgamma(static_cast<double>(counts.size())), n = static_cast<double>(counts.size());
  for (const double one : counts) sum += std::lgamma(1 + one), n += one;
  return sum - std::lgamma(n);
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::vector<double> all(kRegions * kDiets * kIllnesses), both(kDiets * kIllnesses), region(kRegions),
      diet(kDiets), illness(kIllnesses);
  std::vector<std::vector<double>> diet_in(kRegions, diet), illness_in(kRegions, illness);
  for (long i = 0; i < data.n(); ++i) {
    const auto r = static_cast<std::size_t>(data(i, 0) - 1), d = static_cast<std::size_t>(data(i, 1) - 1),
               k = static_cast<std::size_t>(data(i, 2) - 1);
    ++all[(r * kDiets + d) * kIllnesses + k];
    ++both[d * kIllnesses + k];
    ++region[r];
    ++diet[d];
    ++illness[k];
    ++diet_in[r][d];
    ++illness_in[r][k];
  }
  if (p.is("all")) return multinomial(all);
  double sum = multinomial(region);
  if (p.is("unrelated")) return sum + multinomial(diet) + multinomial(illness);
  if (p.is("diet-and-illness")) return sum + multinomial(both);
  for (std::size_t r = 0; r < kRegions; ++r) sum += multinomial(diet_in[r]) + multinomial(illness_in[r]);
  return sum;
}
