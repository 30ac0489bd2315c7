// occam scope: give a trained network a new scope reference, such as a larger one, without training.
#include "occam/scope/scope.hpp"

#include <memory>

#include <fmt/format.h>

#include "occam/check/network_problem.hpp"
#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/scope/build_scope.hpp"
#include "occam/simulate/cuda/cuda_loops.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct ScopeVerb {
  std::string network, output, problem;
  std::string device = kDefaultEngine;
  ScopeOptions options;
};

Fields own_fields(ScopeVerb& o) {
  return {field("problem", o.problem,
                "the problem file, where its simulators are your own: they are run from no other"),
          device_field(o.device)};
}

void scope(const ScopeVerb& o, const Call& call) {
  if (o.output.empty())
    throw Error(ErrorKind::usage,
                "scope needs -o FILE: where the network with its reference goes (NAME.occam)");
  require_writable(o.output);
  ThreadPool pool(call.threads(), call.ranks());
  NetworkFile file = read_network_file(o.network);
  const auto progress = call.progress("data sets");
  if (o.options.reference == 0) {
    file.scope = nullptr;
    file.scope_tensors.clear();
  } else {
    const Problem problem = network_problem(file, o.problem);
    call.keep(problem_inputs(problem));
    simulate_beside(o.device, pool);
    Comparator comparator(file, pool, o.device);
    put_scope(build_scope(comparator, problem, o.options, call.seed(), *progress), file);
  }
  write_network_file(o.output, file);
  progress->say("wrote " + o.output);
}

}  // namespace

void register_scope(Verbs& verbs) {
  const auto o = std::make_shared<ScopeVerb>();
  verbs.add("scope", "Give a network a new scope reference")
      .about(R"(
        Simulates what the models of a trained network can produce and keeps it in a copy of the
        network, for `occam compare` to tell data that none of them makes. `occam train` does so by
        itself; this makes the reference larger, or removes it, without training anew.
      )")
      .example("occam scope levy.occam -o levy2.occam --scope-calibration 100000",
               "p-values down to smaller levels")
      .argument("NET", o->network, kNetworkHelp)
      .output(o->output, "the network file to write (NAME.occam)")
      .options(fields(o->options))
      .options(own_fields(*o))
      .reads({"problem"})
      .computes()
      .shares_work()
      .run([o](const Call& call) { scope(*o, call); });
}

}  // namespace occam
