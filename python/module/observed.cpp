// Observed data from files, read as the command line reads them.
#include "occam/compare/observed.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include "parts.hpp"

namespace occam {
namespace {

// {"ids", "data" (rows, columns), "offsets", "groups"}. What was left out or recognised is told to `sink`.
nb::dict read_data(const Path& file, const std::vector<std::string>& columns,
                   const std::vector<std::string>& by, const std::string& group_by,
                   const std::vector<std::int64_t>& may_miss, const LabelGroups& labels, bool drop,
                   nb::object sink) {
  PythonProgress progress(std::move(sink));
  const std::string path = file.string();
  std::vector<std::string> ids, groups;
  std::vector<float> data;
  std::vector<std::int64_t> offsets{0};
  run(nullptr, &progress, [&] {
    ObservedOptions options;
    options.columns = columns;
    options.by = by;
    options.group = group_by;
    options.missing = drop ? MissingRows::drop : MissingRows::refuse;
    options.may_miss = may_miss;
    options.labels = labels;
    options.given = columns_in(labels);
    options.missing_advice =
        "leave such rows out with missing=\"drop\", or train for them: declare how often values of column "
        "'{}' "
        "are missing in the problem";
    options.given_advice =
        "column '{}' says which rows belong together, so every row needs it: leave such rows out with "
        "missing=\"drop\"";
    options.notes = &progress;
    const ObservedSummary left_out = read_observed(path, options, [&](const ObservedSets& sets) {
      ids.insert(ids.end(), sets.ids.begin(), sets.ids.end());
      groups.insert(groups.end(), sets.groups.begin(), sets.groups.end());
      const float* const values = sets.data.x.row(0);
      data.insert(data.end(), values, values + sets.data.offsets[sets.data.sets] * sets.data.x.columns);
      for (std::int64_t b = 0; b < sets.data.sets; ++b) offsets.push_back(offsets.back() + sets.data.size(b));
    });
    if (left_out.dropped_rows > 0)
      progress.warn(fmt::format("{}: left out {} rows with missing values", path, left_out.dropped_rows));
    for (const std::string& id : left_out.lost_sets)
      progress.warn(
          fmt::format("{}: data set '{}' has no row without a missing value and gets no answer", path, id));
    if (ids.empty())
      throw Error(ErrorKind::bad_data, "{}: no data set has a row without a missing value", path);
  });
  nb::dict result;
  result["ids"] = ids;
  result["groups"] = groups;
  result["data"] = array(std::move(data), {static_cast<std::size_t>(offsets.back()), columns.size()});
  const std::size_t size = offsets.size();
  result["offsets"] = array(std::move(offsets), {size});
  return result;
}

}  // namespace

void add_observed(nb::module_& m) {
  m.def("read_data", &read_data);
}

}  // namespace occam
