// occam train: simulate from all models of a problem and train one network that tells them apart.
#include <memory>
#include <sstream>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/json_file.hpp"
#include "occam/pipeline/training_run.hpp"
#include "occam/simulate/problem_file.hpp"
#include "verb.hpp"

namespace occam {
namespace {

using nlohmann::json;

struct TrainVerb {
  std::string problem, network, head;
  TrainingCommand training;
};

Fields network_fields(TrainVerb& o) {
  return {field("head", o.head, "how features become model probabilities: the evidential head or a rival")
              .one_of(heads().names())
              .by_default("the problem's, or evidential"),
          field("network", o.network,
                "network options, such as \"inv_width=128 pooling=attention\" (see docs/networks.md)")};
}

// A value as JSON, or as text where it is none: `relu` needs no quotes.
json option_value(const std::string& text) {
  try {
    return parse_json(text, "--network", ErrorKind::usage);
  } catch (const Error&) {
    return text;
  }
}

// "a=1 b=text c=[1,2]" as a JSON object.
json parse_options(const std::string& text) {
  json options = json::object();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "--network: '{}' is not KEY=VALUE", word);
    }
    options[word.substr(0, equals)] = option_value(word.substr(equals + 1));
  }
  return options;
}

json network_options(const TrainVerb& o) {
  json options = parse_options(o.network);
  if (!o.head.empty()) options["head"] = o.head;
  return options;
}

void train(TrainVerb& o, const Call& call) {
  if (o.training.output.empty())
    throw Error(ErrorKind::usage, "train needs -o FILE: where the network goes (NAME.occam)");
  require_writable(o.training.output);
  const Problem problem = load_problem(o.problem);
  TrainOptions& options = o.training.train;
  settle_defaults(problem, nullptr, options);
  call.apply(fields(options));  // the command line has the last word
  const json network = network_options(o);
  ThreadPool pool(call.threads(), call.ranks());
  const auto progress = call.progress("steps");
  settle_head(network_for(problem, network), given_to(call), options, *progress);
  o.training.seed = call.seed();
  run_training(o.training, problem, network, nullptr, pool, *progress);
}

}  // namespace

void register_train(Verbs& verbs) {
  const auto o = std::make_shared<TrainVerb>();
  verbs.add("train", "Train a network for a problem")
      .about(R"(
        Simulates data sets from all models of PROBLEM and trains one network that turns a data set
        of any size into posterior model probabilities. The network goes to one file, for `occam
        compare`. Defaults come from the problem. Ctrl-C leaves a checkpoint that --resume
        continues.
      )")
      .example("occam train beta-binomial -o coins.occam", "train with the problem's defaults")
      .example("occam train my_problem.toml -o my.occam --minutes 10", "train for about ten minutes")
      .example("occam train neuron -o vae.occam --head vae", "the same body with another head")
      .example("occam train my_problem.toml -o my.occam --table simulated.csv",
               "train from data sets that another program simulated")
      .argument("PROBLEM", o->problem, "a built-in problem (see `occam models`) or a problem file (.toml)")
      .output(o->training.output, "the network file to write (NAME.occam)")
      .options(fields(o->training.train))
      .options(network_fields(*o))
      .options(fields(o->training.scope))
      .options(run_fields(o->training))
      .options(fields(o->training.csv))
      .reads({"table"})
      .writes({"log"})
      .computes()
      .shares_work()
      .run([o](const Call& call) { train(*o, call); });
}

}  // namespace occam
