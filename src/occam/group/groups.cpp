#include "occam/group/groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "occam/core/error.hpp"
#include "occam/group/variational.hpp"

namespace occam {
namespace {

void check_comparison(const std::vector<std::string>& model_names, const FrequencyOptions& options) {
  if (model_names.size() < 2) {
    throw Error(ErrorKind::usage, "a group comparison needs two or more models; there {} {}",
                model_names.size() == 1 ? "is" : "are", model_names.size());
  }
  if (!(options.alpha0 > 0) || !std::isfinite(options.alpha0)) {
    throw Error(ErrorKind::usage, "the prior concentration of model frequencies is {}; it must be above 0",
                options.alpha0);
  }
  if (!(options.level > 0 && options.level < 1)) {
    throw Error(ErrorKind::usage, "the level of intervals is {}; it must lie between 0 and 1", options.level);
  }
  if (options.sweeps < 1 || options.particles < 2) {
    throw Error(ErrorKind::usage, "{} sweeps and {} particles are too few to sample a group", options.sweeps,
                options.particles);
  }
}

// A group and the evidences of those that count.
struct Gathered {
  GroupResult result;
  Evidences evidences;
};

std::vector<Gathered> by_group(std::size_t J, const std::vector<GroupMember>& members) {
  std::vector<Gathered> groups;
  std::map<std::string, std::size_t> places;
  for (const GroupMember& member : members) {
    const auto [place, is_new] = places.try_emplace(member.group, groups.size());
    if (is_new) {
      groups.push_back({{}, Evidences(static_cast<std::int64_t>(J))});
      groups.back().result.name = member.group;
    }
    Gathered& group = groups[place->second];
    if (member.left_out.empty()) {
      group.evidences.add(member.id, member.log_evidence);
    } else {
      group.result.left_out.push_back({member.id, member.left_out});
    }
  }
  return groups;
}

std::vector<std::string> notes_on(const GroupResult& group, bool all_excluded) {
  std::vector<std::string> notes;
  if (group.n == 0) {
    notes.emplace_back("None of its data sets counts, so nothing is said of this group.");
    return notes;
  }
  if (group.n == 1) {
    notes.emplace_back(
        "A group of one says little about a population: its frequencies are mostly the prior.");
  }
  if (all_excluded) {
    notes.emplace_back(
        "Every model is impossible for some data set, so no single model can describe all of them: there is "
        "no group Bayes factor.");
  }
  if (group.n > 1 && group.p_equal > 0.5) {
    notes.push_back(
        "The evidences do not show that the models differ in frequency; protected exceedance probabilities "
        "take this into account.");
  }
  return notes;
}

void fill_in(Gathered& gathered, const LogMarginal& marginal, const FrequencyOptions& options,
             ThreadPool& pool) {
  const Evidences& evidences = gathered.evidences;
  GroupResult& group = gathered.result;
  const ModelFrequencies exact = frequency_posterior(evidences, options, pool);
  const VariationalFrequencies variational = variational_frequencies(evidences, options.alpha0);
  group.p_equal = probability_of_null(log_evidence_if_equal(evidences), marginal.value);
  group.p_equal_error = group.p_equal * (1 - group.p_equal) * marginal.error;
  group.variational_bor = variational.bor;
  group.error = exact.error;
  const std::vector<double> shielded = protected_exceedance(exact.exceedance, group.p_equal);
  const std::vector<double> fixed = fixed_effects(evidences);
  for (std::size_t k = 0; k < group.models.size(); ++k) {
    group.models[k] = {exact.mean[k],
                       exact.low[k],
                       exact.high[k],
                       exact.exceedance[k],
                       shielded[k],
                       fixed[k],
                       variational.frequency[k],
                       variational.exceedance[k],
                       variational.protected_exceedance[k]};
  }
}

// Marginal likelihoods: of all data sets under one vector of frequencies, of each group under its own.
std::optional<GroupDifference> difference_between(const std::vector<Gathered>& groups,
                                                  const std::vector<LogMarginal>& marginals,
                                                  const FrequencyOptions& options, ThreadPool& pool) {
  GroupDifference result;
  Evidences all(groups.front().evidences.J());
  double separate = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].evidences.N() == 0) continue;
    ++result.groups;
    all.add(groups[g].evidences);
    separate += marginals[g].value;
    result.error += marginals[g].error;
  }
  if (result.groups < 2) return std::nullopt;
  const LogMarginal together = log_marginal(all, options, pool);
  result.error += together.error;
  result.log_bf_different = separate - together.value;
  result.p_same = probability_of_null(together.value, separate);
  return result;
}

}  // namespace

GroupComparison compare_groups(const std::vector<std::string>& model_names,
                               const std::vector<GroupMember>& members, const FrequencyOptions& options,
                               ThreadPool& pool) {
  check_comparison(model_names, options);
  std::vector<Gathered> groups = by_group(model_names.size(), members);
  const bool none = std::all_of(groups.begin(), groups.end(),
                                [](const Gathered& group) { return group.evidences.N() == 0; });
  if (none) {
    throw Error(ErrorKind::bad_data,
                "no data set is left for a group comparison: {} {} given, all left out{}. See their verdicts "
                "in the answers",
                members.size(), members.size() == 1 ? "was" : "were",
                members.empty() ? "" : " (" + members.front().left_out + ")");
  }
  GroupComparison result{model_names, options, {}, std::nullopt};
  std::vector<LogMarginal> marginals(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    GroupResult& group = groups[g].result;
    group.models.resize(model_names.size());
    group.n = groups[g].evidences.N();
    if (group.n > 0) {
      marginals[g] = log_marginal(groups[g].evidences, options, pool);
      fill_in(groups[g], marginals[g], options, pool);
    }
    group.notes = notes_on(group, std::isnan(group.models.front().log_group_bf));
  }
  if (groups.size() == 1 && !groups.front().result.name.empty()) {
    groups.front().result.notes.emplace_back("There is only this group: it is compared with no other.");
  }
  result.difference = difference_between(groups, marginals, options, pool);
  for (Gathered& group : groups) result.groups.push_back(std::move(group.result));
  return result;
}

GroupCollector::GroupCollector(const ModelPosterior& empty) {
  for (std::int64_t j = 0; j < empty.J(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (empty.model_prior()[at] == 0) continue;
    names_.push_back(empty.model_names()[at]);
    models_.push_back(j);
  }
}

void GroupCollector::add(const ModelPosterior& answers, const std::vector<std::string>& groups,
                         const std::vector<std::string>& left_out) {
  for (std::int64_t b = 0; b < answers.size(); ++b) {
    const auto at = static_cast<std::size_t>(b);
    GroupMember member{answers.id(b), groups[at], {}, left_out[at]};
    const std::int64_t best = answers.best(b);
    for (const std::int64_t j : models_) member.log_evidence.push_back(answers.log_bayes_factor(b, j, best));
    members_.push_back(std::move(member));
  }
}

}  // namespace occam
