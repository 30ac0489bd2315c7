// How many particles the next population needs for a wanted accuracy of the kernel density (Klinger &
// Hasenauer 2017, doi:10.1007/978-3-319-67471-1_8). For several numbers n: draw n particles from the present
// density, fit it anew, ten times over; the coefficient of variation of the density at the particles,
// averaged, is the error at n. A power law a n^-b through these errors says which n gives the wanted one. As
// pyABC's AdaptivePopulationSize, but at 256 particles of a model at most, evenly spread over their weight.
#pragma once

#include <cstdint>
#include <span>

#include "occam/abc/proposal.hpp"

namespace occam {

struct PopulationSizeOptions {
  double mean_cv = 0.05;
  std::int64_t smallest = 10;
  std::int64_t largest = 10000;
};

// `population` numbers the streams of random numbers. Where the errors follow no power law (no free parameter
// anywhere, say), the present size is kept.
std::int64_t adapted_population_size(const Proposal& proposal, std::int64_t present,
                                     const PopulationSizeOptions& options, std::uint64_t seed,
                                     std::int64_t population, ThreadPool& pool);

// Least squares of y = a x^-b with b in 0.001..5; a is 0 where no fit is possible.
struct PowerLaw {
  double a = 0;
  double b = 0;
};
PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y);

}  // namespace occam
