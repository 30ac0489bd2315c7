// How often the 95 % intervals of model frequencies hold the truth, on simulated populations: the exact ones
// of compare_groups, and the variational ones beside them. Prints the tables of docs/groups.md.
//   group_coverage [POPULATIONS] [THREADS]
// A standard error of the coverage is at most sqrt(.05 .95 / populations): .005 for 2000. The models of one
// population count together, so that populations are what is independent.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/group/dirichlet.hpp"
#include "occam/group/frequency_posterior.hpp"
#include "occam/group/population.hpp"
#include "occam/group/variational.hpp"

namespace occam {
namespace {

struct Coverage {
  double exact = 0, variational = 0, width = 0, variational_width = 0;
};

Coverage coverage(std::int64_t N, std::int64_t J, double d, const std::vector<double>& frequency,
                  std::int64_t populations, ThreadPool& pool) {
  std::vector<Coverage> each(static_cast<std::size_t>(populations));
  pool.for_each(populations, [&](std::int64_t i, int) {
    ThreadPool alone(1);
    const Population population =
        simulate_population(N, J, d, frequency, Rng(1, Purpose::test, static_cast<std::uint64_t>(i)));
    const ModelFrequencies exact = frequency_posterior(population.evidences, {.sweeps = 64}, alone);
    const std::vector<double> alpha = variational_alpha(population.evidences, 1);
    double sum = 0;
    for (const double a : alpha) sum += a;
    Coverage& result = each[static_cast<std::size_t>(i)];
    const double share = 1 / static_cast<double>(J);
    for (std::size_t k = 0; k < alpha.size(); ++k) {
      const double r = population.frequency[k];
      const FrequencyInterval other = dirichlet_interval(alpha[k], sum, 0.95);
      result.exact += exact.low[k] <= r && r <= exact.high[k] ? share : 0;
      result.variational += other.low <= r && r <= other.high ? share : 0;
      result.width += share * (exact.high[k] - exact.low[k]);
      result.variational_width += share * (other.high - other.low);
    }
  });
  Coverage mean;
  for (const Coverage& one : each) {
    const auto count = static_cast<double>(populations);
    mean.exact += one.exact / count;
    mean.variational += one.variational / count;
    mean.width += one.width / count;
    mean.variational_width += one.variational_width / count;
  }
  return mean;
}

void print_row(const std::string& what, std::int64_t N, double d, const Coverage& c) {
  fmt::print("| {} | {} | {} | {:.3f} | {:.2f} | {:.3f} | {:.2f} |\n", what, N, d, c.exact, c.width,
             c.variational, c.variational_width);
  std::fflush(stdout);
}

void print_header(const char* first) {
  fmt::print(
      "| {} | data sets | d | covers | width | variational covers | width |\n|---|---|---|---|---|---|---|\n",
      first);
}

int run(int argc, char** argv) {
  const std::int64_t populations = argc > 1 ? std::atoll(argv[1]) : 2000;
  ThreadPool pool(argc > 2 ? std::atoi(argv[2]) : 0);
  print_header("models");
  for (const std::int64_t J : {2, 3, 6}) {
    for (const std::int64_t N : {10, 20, 50}) {
      for (const double d : {0.5, 1.5, 4.0}) {
        print_row(std::to_string(J), N, d, coverage(N, J, d, {}, populations, pool));
      }
    }
  }
  fmt::print("\n");
  print_header("frequencies");
  for (const std::vector<double>& frequency :
       {std::vector<double>{0.5, 0.5}, {0.7, 0.3}, {0.9, 0.1}, {0.6, 0.3, 0.1}}) {
    for (const std::int64_t N : {10, 20, 50}) {
      for (const double d : {1.5, 4.0}) {
        const auto J = static_cast<std::int64_t>(frequency.size());
        print_row(fmt::format("{}", fmt::join(frequency, ", ")), N, d,
                  coverage(N, J, d, frequency, populations, pool));
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace occam

int main(int argc, char** argv) {
  return occam::run(argc, argv);
}
