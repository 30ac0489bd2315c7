// Problem files, without a folder in which simulators of the user's own could be found: those models must be
// inert. What is read must survive being written, and its priors must be usable.
#include <cmath>

#include "fuzz.hpp"
#include "occam/simulate/problem_file.hpp"

namespace {

using namespace occam;
using namespace occam::fuzz;

void use_priors(const Problem& problem) {
  Rng rng(1, Purpose::simulate, 1);
  for (const Model& model : problem.models()) {
    for (const Prior& prior : model.priors()) {
      const double x = prior.sample(rng);
      require(std::isfinite(prior.mean()) && std::isfinite(prior.sd()), "location and spread are finite");
      require(!std::isnan(x) && !std::isnan(prior.log_density(x)), "a draw is a number and has a density");
      require(Prior::parse(prior.text()) == prior, "a prior reads back the same");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  accepted({ErrorKind::bad_config}, [&] {
    const Problem problem = read_problem(text, "p.toml");
    use_priors(problem);
    const Problem again = read_problem(problem_toml(problem), "again.toml");
    require(again.fingerprint() == problem.fingerprint(), "what is written is the same problem");
  });
  return 0;
}
