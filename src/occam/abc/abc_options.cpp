#include "occam/abc/abc_options.hpp"

#include <nlohmann/json.hpp>

#include "occam/abc/distance.hpp"
#include "occam/abc/summary.hpp"
#include "occam/core/error.hpp"

namespace occam {

Fields fields(AbcOptions& o) {
  return {
      field("method", o.method,
            "smc: populations that come closer and closer; rejection: one, straight from the prior, at "
            "--min-epsilon")
          .one_of({"smc", "rejection"}),
      field("summary", o.summary,
            "statistics to compare data sets by, such as \"quantiles count=5\" (see docs/abc.md)"),
      field("summary_network", o.summary_network,
            "the network of --summary network: a file, or the name of a ready-made one"),
      field("distance", o.distance, "distance between the statistics of two data sets")
          .one_of(Distance::names()),
      field("scale", o.scale,
            "divide each statistic by its median absolute deviation among simulations from the prior"),
      field("populations", o.populations, "populations at most").at_least(1).at_most(10000),
      field("population_size", o.population_size, "particles of a population; of the first, with --adaptive")
          .at_least(2)
          .at_most(1e7),
      field("adaptive", o.adaptive, "choose later population sizes so that the density is known well enough"),
      field("mean_cv", o.mean_cv, "with --adaptive: its mean coefficient of variation").above(0).at_most(10),
      field("largest_population", o.largest_population, "with --adaptive: particles at most")
          .at_least(2)
          .at_most(1e7),
      field("population_sizes", o.population_sizes, "particles of each population, in turn")
          .at_least(2)
          .at_most(1e7)
          .by_default("as above"),
      field("quantile", o.quantile, "the next epsilon is this quantile of the distances of a population")
          .above(0)
          .at_most(1),
      field("min_epsilon", o.min_epsilon, "stop at this distance").at_least(0),
      field("epsilons", o.epsilons, "epsilon of each population, in turn")
          .at_least(0)
          .by_default("by --quantile"),
      field("min_acceptance", o.min_acceptance,
            "give a population up when a smaller part of the candidates is accepted")
          .above(0)
          .at_most(1),
      field("max_simulations", o.max_simulations, "simulations at most").at_least(1).by_default("no limit"),
      field("stay", o.stay, "probability that a candidate keeps the model of the particle it comes from")
          .above(0)
          .at_most(1),
      field(
          "kernel_width", o.kernel_width,
          "how far parameters are moved, as a multiple of Silverman's rule; more than 1 costs acceptance and "
          "makes weights more even")
          .above(0)
          .at_most(100),
      field("stop_at_one_model", o.stop_at_one_model, "stop when only one model is left in a population"),
  };
}

void check(const AbcOptions& options) {
  SummarySpec spec(options.summary);
  if (!options.summary_network.empty() && spec.name() != "network") {
    throw Error(ErrorKind::usage, "--summary-network belongs to --summary network, not to '{}'", spec.name());
  }
  for (std::size_t i = 1; i < options.epsilons.size(); ++i) {
    if (options.epsilons[i] <= options.epsilons[i - 1]) continue;
    throw Error(ErrorKind::usage, "--epsilons: {} comes after {}, but they must not grow",
                options.epsilons[i], options.epsilons[i - 1]);
  }
  const std::size_t E = options.epsilons.size();
  const std::size_t N = options.population_sizes.size();
  if (E > 0 && N > 0 && E != N) {
    throw Error(ErrorKind::usage, "--epsilons has {} values and --population-sizes {}; give as many of both",
                E, N);
  }
  if (options.adaptive && N > 0)
    throw Error(ErrorKind::usage, "--adaptive and --population-sizes exclude each other");
}

AbcOptions abc_options(const Problem& problem) {
  AbcOptions options;
  const std::string where = problem.name() + " [abc]";
  set_fields(fields(options), problem.abc(), where);
  try {
    check(options);
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_config, "{}: {}", where, error.what());
  }
  return options;
}

}  // namespace occam
