// occam.groups: the population behind log evidences, from networks or from other programs.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "occam/group/group_writer.hpp"
#include "parts.hpp"

namespace occam {
namespace {

using Evidence = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::string groups(const std::vector<std::string>& models, const std::vector<std::string>& ids,
                   const std::vector<std::string>& groups, const Evidence& log_evidence,
                   const std::string& options, int threads) {
  return run(nullptr, nullptr, [&] {
    const nlohmann::json given = nlohmann::json::parse(options);
    FrequencyOptions asked;
    asked.alpha0 = given.value("alpha0", asked.alpha0);
    asked.level = given.value("level", asked.level);
    asked.seed = given.value("seed", asked.seed);
    if (log_evidence.shape(0) != ids.size() || log_evidence.shape(1) != models.size() ||
        groups.size() != ids.size())
      throw Error(ErrorKind::usage, "{} data sets and {} models are expected ({} and {} given)", ids.size(),
                  models.size(), log_evidence.shape(0), log_evidence.shape(1));
    std::vector<GroupMember> members;
    for (std::size_t b = 0; b < ids.size(); ++b) {
      const double* row = log_evidence.data() + b * models.size();
      members.push_back({ids[b], groups[b], {row, row + models.size()}, ""});
    }
    ThreadPool pool(threads);
    return population_json(compare_groups(models, members, asked, pool));
  });
}

}  // namespace

std::string population_json(const GroupComparison& comparison) {
  nlohmann::json all = groups_json(comparison);
  all["text"] = groups_text(comparison);
  return all.dump();
}

void add_groups(nb::module_& m) {
  m.def("groups", &groups);
}

}  // namespace occam
