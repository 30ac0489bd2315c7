// occam._core: the library for Python, in few and plain functions. What users see is written in Python, in
// python/occam. Options come as JSON texts and are checked by the library's own Fields.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "occam/check/check_network.hpp"
#include "occam/check/network_problem.hpp"
#include "occam/core/error.hpp"
#include "occam/core/version.hpp"
#include "occam/group/groups.hpp"
#include "occam/io/file.hpp"
#include "occam/networks/network_text.hpp"
#include "occam/pipeline/comparison.hpp"
#include "occam/pipeline/ready_made.hpp"
#include "occam/pipeline/training_run.hpp"
#include "occam/report/check_text.hpp"
#include "occam/report/report.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/reference_table.hpp"
#include "occam/simulate/simulator.hpp"
#include "parts.hpp"
#include "python_family.hpp"
#include "python_progress.hpp"
#include "python_text.hpp"

namespace nb = nanobind;
using nlohmann::json;

namespace occam {
namespace {

PythonProblem make_problem(const std::string& toml, const Path& folder, const nb::dict& functions) {
  auto raised = std::make_shared<RaisedInPython>();
  const auto make = [&](OwnModel own) -> std::shared_ptr<const OwnFamily> {
    const nb::object function = functions.attr("get")(own.name);
    if (function.is_none())
      throw Error(ErrorKind::bad_config, "model '{}': there is no function for it", own.name);
    return std::make_shared<PythonFamily>(std::move(own), function, raised);
  };
  return {read_problem_with(toml, "problem", folder.string(), make), raised};
}

nb::dict simulate(const PythonProblem& p, std::int64_t data_sets, std::uint64_t seed,
                  std::optional<std::int64_t> n, std::optional<std::string> model, int threads) {
  Batch batch;
  run(p.raised.get(), nullptr, [&] {
    SimulatorOptions options;
    options.n = n;
    if (model) options.model = p.problem.model_index(*model);
    ThreadPool pool(threads);
    Simulator(p.problem, seed, Purpose::simulate, options).simulate_range(0, data_sets, pool, batch);
  });
  const auto B = static_cast<std::size_t>(batch.size());
  const auto rows = static_cast<std::size_t>(batch.rows());
  nb::dict result;
  result["data"] = array(std::vector<float>(batch.data().begin(), batch.data().end()),
                         {rows, static_cast<std::size_t>(batch.columns())});
  result["offsets"] =
      array(std::vector<std::int64_t>(batch.offsets().begin(), batch.offsets().end()), {B + 1});
  result["model"] = array(std::vector<std::int32_t>(batch.models().begin(), batch.models().end()), {B});
  result["parameters"] = array(std::vector<double>(batch.parameters().begin(), batch.parameters().end()),
                               {B, static_cast<std::size_t>(batch.parameters_per_data_set())});
  return result;
}

// Writes a network file, as `occam train` does. `start`: a network to begin from (`occam extend`), or "".
void train(const PythonProblem& p, const Path& output, std::uint64_t seed, int threads,
           const std::string& options, const std::string& network, const Path& start, const Path& table,
           bool resume, nb::object sink) {
  PythonProgress progress(std::move(sink));
  run(p.raised.get(), &progress, [&] {
    const json given = json::parse(options);
    TrainingCommand command;
    command.output = output.string();
    require_writable(command.output);
    command.seed = seed;
    command.table = table.string();
    command.resume = resume;
    json own = json::object(), scope = json::object();
    const json scope_fields = fields_json(fields(command.scope));
    for (const auto& [key, value] : given.items()) (scope_fields.contains(key) ? scope : own)[key] = value;
    if (own.contains("device")) {
      set_fields({device_field(command.device)}, {{"device", own["device"]}}, "train");
      own.erase("device");
    }
    std::shared_ptr<const NetworkFile> from;
    if (!start.empty()) {
      from = std::make_shared<const NetworkFile>(read_network_file(start.string()));
    }
    settle_defaults(p.problem, from.get(), command.train);
    set_fields(fields(command.train), own, "train");
    set_fields(fields(command.scope), scope, "train");
    const json network_options = json::parse(network);
    settle_head(
        from ? from->config : network_for(p.problem, network_options),
        [&](const char* name) { return own.contains(name); }, command.train, progress);
    ThreadPool pool(threads);
    run_training(command, p.problem, network_options, from, pool, progress);
  });
}

nb::object cell(const AnswerCell& value) {
  return std::visit(
      [](const auto& x) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) {
          return nb::none();
        } else {
          return nb::cast(x);
        }
      },
      value);
}

// Answers for data sets in memory: a list for each column, warnings, and the groups as JSON ("" without).
nb::dict compare(const NetworkFile& file, const std::vector<std::string>& ids, const Floats& data,
                 const Offsets& offsets, const std::string& options, const std::vector<std::string>& groups,
                 bool group_all, int threads) {
  std::vector<std::vector<AnswerCell>> rows;
  std::vector<std::string> names, warnings;
  std::string population;
  run(nullptr, nullptr, [&] {
    const json given = json::parse(options);
    ComparisonOptions asked;
    asked.model_prior = given.value("model_prior", "");
    asked.parameters = given.value("parameters", false);
    asked.summary = given.value("summary", false);
    if (given.contains("sequential")) {
      asked.sequential = {given["sequential"].get<std::vector<std::int64_t>>(),
                          given.value("orders", std::int64_t{0}), given.value("seed", std::uint64_t{1})};
    }
    set_fields(fields(asked.verdict), given.value("verdict", json::object()), "compare");
    ThreadPool pool(threads);
    Comparison comparison(file, asked, pool);
    names = comparison.columns().names();
    const auto sets = static_cast<std::int64_t>(ids.size());
    if (static_cast<std::int64_t>(offsets.size()) != sets + 1 ||
        data.shape(1) != comparison.file().columns.size()) {
      throw Error(ErrorKind::usage, "{} columns are expected ({} given)", comparison.file().columns.size(),
                  data.shape(1));
    }
    std::optional<GroupCollector> collected;
    if (!groups.empty()) collected.emplace(comparison.empty_answers());
    constexpr std::int64_t kTogether = 1024;
    for (std::int64_t first = 0; first < sets; first += kTogether) {
      const std::int64_t count = std::min(kTogether, sets - first);
      const auto part = [&](const std::vector<std::string>& all) {
        return std::vector<std::string>(all.begin() + first, all.begin() + first + count);
      };
      const std::vector<std::string> some = part(ids), their_groups = groups.empty() ? some : part(groups);
      const std::vector<std::int64_t> dropped(static_cast<std::size_t>(count), 0);
      std::vector<std::int64_t> from(offsets.data() + first, offsets.data() + first + count + 1);
      const std::int64_t begin = from.front();
      for (std::int64_t& offset : from) offset -= begin;
      const auto D = static_cast<std::int64_t>(data.shape(1));
      const ObservedSets observed{
          some, {{data.data() + begin * D, from.back(), D, D}, from.data(), count}, their_groups, dropped};
      const Answered answered = comparison.answer(observed);
      for (std::int64_t b = 0; b < count; ++b) {
        if (asked.sequential) {
          const Answered course = comparison.course(observed, b, answered);
          for (std::int64_t k = 0; k < course.answers.size(); ++k)
            rows.push_back(comparison.columns().row(course.answers, course.extras, k));
        } else {
          rows.push_back(comparison.columns().row(answered.answers, answered.extras, b));
        }
      }
      if (!collected) continue;
      const std::vector<std::string> none(some.size());
      collected->add(answered.answers, their_groups, group_all ? none : left_out_of_group(answered));
    }
    if (collected) {
      FrequencyOptions frequencies;
      frequencies.seed = given.value("seed", std::uint64_t{1});
      population = population_json(collected->compare(frequencies, pool));
    }
    warnings = comparison.warnings();
  });
  nb::dict columns;
  for (std::size_t c = 0; c < names.size(); ++c) {
    nb::list values;
    for (const auto& row : rows) values.append(cell(row[c]));
    columns[names[c].c_str()] = values;
  }
  nb::dict result;
  result["columns"] = columns;
  result["warnings"] = warnings;
  result["groups"] = population;
  return result;
}

// Models of functions of the interpreter simulate; others as the network file tells them, where they can.
// With a table nothing does.
CheckResult check_trained(const NetworkFile& file, const PythonProblem* problem, const std::string& options,
                          const Path& table, int threads, nb::object sink) {
  PythonProgress progress(std::move(sink));
  return run(problem == nullptr ? nullptr : problem->raised.get(), &progress, [&] {
    const json given = json::parse(options);
    CheckRequest request;
    request.seed = given.value("seed", std::uint64_t{1});
    request.data_sets = given.value("datasets", std::int64_t{2000});
    request.n = given.value("n", std::vector<std::int64_t>{});
    request.missed_data_sets = given.value("missed_datasets", usual_missed_data_sets(request.data_sets));
    if (given.contains("robustness")) {
      request.robustness.emplace();
      request.robustness->seed = request.seed;
      request.robustness->names = given["robustness"].get<std::vector<std::string>>();
    }
    set_fields(fields(request.options), given.value("options", json::object()), "check");
    if (problem != nullptr && problem->problem.fingerprint() != file.fingerprint)
      throw Error(ErrorKind::bad_config,
                  "the problem is not the one that the network was trained for (fingerprints {} and {})",
                  problem->problem.fingerprint(), file.fingerprint);
    const Problem asked = !table.empty()       ? told_problem(file)
                          : problem != nullptr ? problem->problem
                                               : network_problem(file, "");
    std::optional<ReferenceTable> rows;
    if (!table.empty()) {
      rows.emplace(ReferenceTable::read(table.string(), asked, {}, &progress));
      request.table = &rows->all();
      request.table_rows = rows_to_check(*rows, file, progress);
    }
    ThreadPool pool(threads);
    Comparator comparator(file, pool);
    return check_network(comparator, asked, request, pool, progress);
  });
}

// A network with a new scope reference.
NetworkFile with_scope(NetworkFile file, const PythonProblem* problem, const std::string& options,
                       std::uint64_t seed, int threads, nb::object sink) {
  PythonProgress progress(std::move(sink));
  return run(problem == nullptr ? nullptr : problem->raised.get(), &progress, [&] {
    ScopeOptions asked;
    set_fields(fields(asked), json::parse(options), "scope");
    ThreadPool pool(threads);
    const Problem simulated = problem != nullptr ? problem->problem : network_problem(file, "");
    Comparator comparator(file, pool);
    put_scope(build_scope(comparator, simulated, asked, seed, progress), file);
    return file;
  });
}

// The figures of a report as Vega-Lite specifications with their data, by name.
std::map<std::string, std::string> figures(const Report& report) {
  std::map<std::string, std::string> all;
  for (const Finding& finding : report.findings) {
    for (const Figure& figure : finding.figures) {
      json specification = figure.specification;
      json values = json::array();
      for (const Table& table : finding.tables) {
        if (table.name != figure.table) continue;
        for (const auto& row : table.rows) {
          json value = json::object();
          for (std::size_t c = 0; c < row.size(); ++c)
            std::visit([&](const auto& x) { value[table.columns[c]] = x; }, row[c]);
          values.push_back(std::move(value));
        }
      }
      specification["data"] = {{"values", values}};
      specification["title"] = figure.title;
      all[figure.name] = specification.dump();
    }
  }
  return all;
}

}  // namespace
}  // namespace occam

NB_MODULE(_core, m) {
  using namespace occam;
  m.attr("version") = kVersion;
  // A problem holds its functions, and a function the globals in which the problem may be: what lives until
  // the interpreter ends is no leak that a user should be told of.
  nb::set_leak_warnings(false);
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      std::string text = error.what();
      if (!error.detail().empty()) text += "\n" + error.detail();
      const nb::object type = nb::module_::import_("occam._errors").attr("of_code")(exit_code(error.kind()));
      PyErr_SetObject(type.ptr(), python_text(text).ptr());
    }
  });

  nb::class_<PythonProblem>(m, "Problem")
      .def_prop_ro("name", [](const PythonProblem& p) { return p.problem.name(); })
      .def_prop_ro("labels", [](const PythonProblem& p) { return label_groups(p.problem.columns()); })
      .def_prop_ro("description", [](const PythonProblem& p) { return p.problem.description(); })
      .def_prop_ro("models", [](const PythonProblem& p) { return p.problem.model_names(); })
      .def_prop_ro("columns",
                   [](const PythonProblem& p) {
                     std::vector<std::string> names;
                     for (const Column& column : p.problem.columns()) names.push_back(column.name);
                     return names;
                   })
      .def_prop_ro("parameters", [](const PythonProblem& p) { return p.problem.parameter_names(); })
      .def_prop_ro("ordered", [](const PythonProblem& p) { return p.problem.ordered(); })
      .def_prop_ro("sizes", [](const PythonProblem& p) { return p.problem.sizes(); })
      .def_prop_ro("has_exact_posterior",
                   [](const PythonProblem& p) { return p.problem.has_exact_posterior(); })
      .def_prop_ro("fingerprint", [](const PythonProblem& p) { return p.problem.fingerprint(); })
      .def_prop_ro("toml", [](const PythonProblem& p) { return problem_toml(p.problem); });
  m.def("shown_text", [](const std::string& text) { return python_text(text); });
  m.def("load_problem", [](const Path& name) { return PythonProblem{load_problem(name.string()), nullptr}; });
  m.def("make_problem", &make_problem);
  m.def("simulate", &simulate, nb::arg("problem"), nb::arg("datasets"), nb::arg("seed"), nb::arg("n").none(),
        nb::arg("model").none(), nb::arg("threads"));
  m.def("train", &train);
  add_abc(m);
  add_groups(m);
  add_observed(m);

  nb::class_<NetworkFile>(m, "Network")
      .def_prop_ro("models", [](const NetworkFile& f) { return f.model_names; })
      .def_prop_ro("model_prior", [](const NetworkFile& f) { return f.model_prior; })
      .def_prop_ro("columns", [](const NetworkFile& f) { return f.columns; })
      .def_prop_ro("missing", [](const NetworkFile& f) { return f.config.missing; })
      .def_prop_ro("labels", [](const NetworkFile& f) { return f.labels; })
      .def_prop_ro("design",
                   [](const NetworkFile& f) {
                     const auto given = f.design.is_design(static_cast<std::int64_t>(f.columns.size()));
                     std::vector<std::string> names;
                     for (std::size_t c = 0; c < given.size(); ++c) {
                       if (given[c]) names.push_back(f.columns[c]);
                     }
                     return names;
                   })
      .def_prop_ro("ordered", [](const NetworkFile& f) { return f.ordered; })
      .def_prop_ro("fingerprint", [](const NetworkFile& f) { return f.fingerprint; })
      .def_prop_ro("text", [](const NetworkFile& f) { return network_text(f); })
      .def_prop_ro("json", [](const NetworkFile& f) { return network_json(f).dump(); })
      .def("save", [](const NetworkFile& f, const Path& path) { write_network_file(path.string(), f); });
  m.def("network_path", [](const Path& name, const Path& installed) {
    return Path(ReadyMadeNetworks::with(installed.string()).path_of(name.string()));
  });
  m.def("load_network", [](const Path& path) {
    NetworkFile file = read_network_file(path.string());
    file.caution = caution_of(record_beside(path.string()));
    return file;
  });
  m.def("compare", &compare);
  m.def("check", &check_trained, nb::arg("network"), nb::arg("problem").none(), nb::arg("options"),
        nb::arg("table"), nb::arg("threads"), nb::arg("progress"));
  m.def("with_scope", &with_scope, nb::arg("network"), nb::arg("problem").none(), nb::arg("options"),
        nb::arg("seed"), nb::arg("threads"), nb::arg("progress"));

  nb::class_<CheckResult>(m, "Report")
      .def_prop_ro("text", [](const CheckResult& r) { return check_text(r); })
      .def_prop_ro("verdict", [](const CheckResult& r) { return r.verdict.text; })
      .def_prop_ro("severity",
                   [](const CheckResult& r) { return std::string(severity_name(r.verdict.severity)); })
      .def_prop_ro("json", [](const CheckResult& r) { return metrics_json(r.report).dump(); })
      .def_prop_ro("html", [](const CheckResult& r) { return report_html(r.report); })
      .def_prop_ro("figures", [](const CheckResult& r) { return figures(r.report); })
      .def("save", [](const CheckResult& r, const Path& folder) { write_report(r.report, folder.string()); });
}
