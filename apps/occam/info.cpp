// occam info: what a network file is, and is for.
#include <memory>

#include "occam/networks/network_text.hpp"
#include "occam/scope/scope.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct InfoVerb {
  std::string network;
  bool json = false;
};

Fields fields(InfoVerb& o) {
  return {field("json", o.json, "print everything as JSON")};
}

}  // namespace

void register_info(Verbs& verbs) {
  const auto o = std::make_shared<InfoVerb>();
  verbs.add("info", "What a network file is, and is for")
      .about("Reads a network file, verifies that it gives the outputs it was saved with, and describes it.")
      .example("occam info coins.occam", "problem, models, network, training")
      .argument("NET", o->network, "the network file (.occam)")
      .options(fields(*o))
      .run([o](const Call&) {
        const NetworkFile file = read_network_file(o->network);
        scope_of(file);  // what is described is whole
        o->json ? Call::print_data(network_json(file).dump(2) + "\n") : Call::print(network_text(file));
      });
}

}  // namespace occam
