// occam.abc: approximate Bayesian computation on one data set.
#include "occam/abc/abc.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include "occam/abc/abc_result.hpp"
#include "occam/data/labels.hpp"
#include "parts.hpp"

namespace occam {
namespace {

// Populations as JSON and as text; the particles go to a file (.npz).
nb::dict abc(const PythonProblem& p, const Floats& data, std::optional<std::int64_t> n,
             const std::string& options, const std::string& particles, std::uint64_t seed, int threads,
             nb::object sink) {
  PythonProgress progress(std::move(sink));
  std::string text, all;
  run(p.raised.get(), &progress, [&] {
    AbcOptions asked = abc_options(p.problem);
    set_fields(fields(asked), nlohmann::json::parse(options), "abc");
    check(asked);
    const auto rows = static_cast<std::int64_t>(data.shape(0));
    if (static_cast<std::int64_t>(data.shape(1)) != p.problem.D())
      throw Error(ErrorKind::usage, "{} columns are expected ({} given)", p.problem.D(), data.shape(1));
    const std::int64_t offsets[] = {0, rows};
    const NumberedLabels numbered({{data.data(), rows, p.problem.D(), p.problem.D()}, offsets, 1},
                                  label_groups(p.problem.columns()));
    const DataView observed{numbered.view().x.data, rows, p.problem.D()};
    const std::int64_t size = n ? *n : size_to_simulate(p.problem, rows);
    ThreadPool pool(threads);
    const AbcResult result = run_abc(p.problem, observed, size, asked, seed, pool, progress);
    const AbcRecord record{p.problem, asked, seed, "",
                           "",        rows,  size, exact_posterior(p.problem, observed, progress)};
    tell_failures(result, p.problem, progress);
    text = abc_text(result, record);
    all = abc_json(result, record).dump();
    write_particles(particles, result, p.problem);
  });
  nb::dict answer;
  answer["text"] = text;
  answer["json"] = all;
  return answer;
}

}  // namespace

void add_abc(nb::module_& m) {
  m.def("abc", &abc, nb::arg("problem"), nb::arg("data"), nb::arg("n").none(), nb::arg("options"),
        nb::arg("particles"), nb::arg("seed"), nb::arg("threads"), nb::arg("progress"));
}

}  // namespace occam
