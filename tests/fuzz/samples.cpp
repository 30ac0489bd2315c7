#include "samples.hpp"

#include <array>
#include <numeric>
#include <random>

#include "occam/data/batch.hpp"
#include "occam/scope/build_scope.hpp"
#include "occam/scope/scope.hpp"
#include "occam/simulate/problem_file.hpp"

namespace occam::fuzz {
namespace {

struct Kind {
  const char* problem;
  bool ordered, time;
  std::int64_t members;
  nlohmann::json options;
};

const Kind& kind_of(std::size_t kind) {
  static const std::array<Kind, kSampleNetworks> kinds = {
      Kind{"name = \"coins\"\nn = \"uniform(1, 20)\"\nfamily = \"bernoulli\"\n[model.flat]\ntheta = "
           "\"beta(1, 1)\"\n"
           "[model.fair]\ntheta = 0.5\n",
           false,
           true,
           1,
           {{"inv_width", 4},
            {"after_width", 4},
            {"equiv_width", 4},
            {"modules", 1},
            {"post_width", 4},
            {"summary", 3}}},
      Kind{
          "name = \"walks\"\nn = \"uniform(24, 40)\"\nordered = true\ncolumns = { x = \"place\", y = "
          "\"place\" }\n"
          "simulator = [\"sh\", \"-c\", \"true\"]\n[model.a]\ns = \"uniform(0, 1)\"\n[model.b]\ns = "
          "2\n[model.c]\n"
          "s = 3\n",
          true,
          false,
          1,
          {{"architecture", "sequence"}, {"head", "vae"}, {"latents", 2}, {"post_width", 4}, {"summary", 3}}},
      Kind{"name = \"choices\"\nn = \"uniform(1, 20)\"\ncolumns = { choice = \"0 or 1\", rt = \"seconds\" }\n"
           "simulator = \"program\"\n[model.a]\nv = \"normal(0, 1)\"\n[model.b]\nv = \"uniform(0, 2)\"\n",
           false,
           false,
           2,
           {{"inv_width", 4},
            {"after_width", 4},
            {"equiv_width", 4},
            {"modules", 1},
            {"post_width", 4},
            {"summary", 2}}},
      Kind{"name = \"doses\"\nn = \"uniform(1, 20)\"\nsimulator = \"program\"\n[columns]\ndose = { role = "
           "\"design\" }\neffect = \"change\"\n[design]\ndose = { levels = [0, 1], shares = \"random\" }\n"
           "[model.none]\ns = 1\n[model.some]\ns = \"normal(0, 1)\"\n",
           false,
           false,
           1,
           {{"inv_width", 4}, {"after_width", 4}, {"post_width", 4}, {"summary", 2}}}};
  return kinds[kind];
}

Ragged<const float> view(const SampleData& data, std::int64_t D) {
  return {{data.values.data(), data.offsets.back(), D, D},
          data.offsets.data(),
          static_cast<std::int64_t>(data.ids.size())};
}

ScopeReference scope_for(const NetworkFile& file, std::size_t kind) {
  constexpr std::int64_t kEach = 100;
  const std::int64_t D = file.config.channels;
  const SampleData data = sample_data(kind, D, 2 * kEach);
  Batch all;
  all.reset(D, 0, file.config.models);
  for (std::int64_t b = 0; b < 2 * kEach; ++b) {
    const std::int64_t n =
        data.offsets[static_cast<std::size_t>(b) + 1] - data.offsets[static_cast<std::size_t>(b)];
    const auto to = all.mutable_data(all.append(static_cast<std::int32_t>(b % file.config.models), n, n));
    std::copy_n(data.values.begin() + data.offsets[static_cast<std::size_t>(b)] * D, to.size(), to.begin());
  }
  std::vector<std::int64_t> rows(2 * kEach);
  std::iota(rows.begin(), rows.end(), 0);
  Comparator comparator(file, pool());
  SilentProgress quiet;
  return build_scope(comparator, all, std::span(rows).first(kEach), std::span(rows).last(kEach),
                     kind_of(kind).ordered, kind_of(kind).time, quiet);
}

NetworkFile make(std::size_t kind) {
  const Kind& k = kind_of(kind);
  const Problem problem = read_problem(k.problem, "sample.toml");
  NetworkFile file;
  file.problem_name = problem.name();
  file.problem = problem_toml(problem);
  file.fingerprint = problem.fingerprint();
  file.ordered = k.ordered;
  for (const Column& column : problem.columns()) file.columns.push_back(column.name);
  file.model_names = problem.model_names();
  file.model_prior.assign(problem.model_prior().begin(), problem.model_prior().end());
  file.smallest_n = problem.size().low();
  file.largest_n = problem.size().high();
  file.ranges.assign(file.columns.size(), {-3, 3, -2, 2});
  const auto D = static_cast<std::int64_t>(file.columns.size());
  file.parameter_names = problem.parameter_names();
  const std::size_t P = file.parameter_names.size();
  file.parameter_mean.assign(P, 0.5);
  file.parameter_scale.assign(P, 1);
  for (std::int64_t j = 0; j < problem.J(); ++j) {
    const auto mask = problem.mask(j);
    file.parameter_mask.emplace_back(mask.begin(), mask.end());
  }
  file.config.channels = D;
  file.config.models = problem.J();
  file.config.parameters = static_cast<std::int64_t>(P);
  file.config.standardisation = {std::vector<double>(file.columns.size(), 0.1),
                                 std::vector<double>(file.columns.size(), 1), 1.0, 0.5, 4};
  file.config.set_options(k.options, "sample");
  const Network<float> network(file.config);
  file.config = network.config();
  for (std::int64_t member = 0; member < k.members; ++member) {
    file.members.emplace_back(static_cast<std::size_t>(network.weight_count()));
    network.layout().initialise<float>(file.members.back(), 1, static_cast<std::uint64_t>(member));
  }
  file.record = {{"steps", 12},
                 {"seed", 1},
                 {"data_sets", 12},
                 {"source", "simulations"},
                 {"program", "occam"},
                 {"validation_loss", 0.5},
                 {"best_step", 10},
                 {"seconds", 1.5},
                 {"data_sets_per_s", 100.0},
                 {"extended", {{"models", {"flat"}}}}};
  std::vector<bool> design;
  for (const Column& column : problem.columns()) design.push_back(column.role == Role::design);
  const SampleData trained_on = sample_data(kind, D, 100);
  file.design = DesignProfile::learn({view(trained_on, D)}, file.columns, design, file.config.missing);
  const SampleData golden = sample_data(kind, D, 2);
  file.golden = make_golden(file, view(golden, D));
  put_scope(scope_for(file, kind), file);
  return file;
}

}  // namespace

ThreadPool& pool() {
  static ThreadPool one(1);
  return one;
}

SampleData sample_data(std::size_t kind, std::int64_t D, std::int64_t sets) {
  std::mt19937 random(7);
  SampleData data;
  for (std::int64_t b = 0; b < sets; ++b) {
    const std::int64_t n = kind_of(kind).ordered ? 24 + b % 17 : 1 + b % 20;
    for (std::int64_t i = 0; i < n * D; ++i) {
      const float uniform = static_cast<float>(random() % 1000) / 500 - 1;
      data.values.push_back(i % D == 0 && !kind_of(kind).ordered ? static_cast<float>(random() % 2)
                                                                 : uniform);
    }
    data.offsets.push_back(data.offsets.back() + n);
    data.ids.push_back(std::to_string(b));
  }
  return data;
}

const NetworkFile& sample_network(std::size_t kind) {
  static const std::array<NetworkFile, kSampleNetworks> networks = {make(0), make(1), make(2), make(3)};
  return networks[kind];
}

}  // namespace occam::fuzz
