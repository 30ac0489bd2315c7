#include "occam/abc/summary.hpp"

#include <algorithm>
#include <sstream>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"

namespace occam {

void set_words(Fields fields, const SummaryWords& words) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  for (const auto& [key, value] : words) {
    const auto found = std::find(names.begin(), names.end(), key);
    if (found == names.end()) {
      throw Error(ErrorKind::usage, "unknown option '{}'{}", key,
                  names.empty() ? " (it has none)" : did_you_mean(key, names));
    }
    fields[static_cast<std::size_t>(found - names.begin())].parse(value);
  }
}

SummarySpec::SummarySpec(const std::string& text) {
  std::istringstream words(text);
  words >> name_;
  kind_ = &summaries().at(name_);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "summary '{}': '{}' is not KEY=VALUE, such as \"quantiles count=5\"",
                  name_, word);
    }
    words_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  try {
    kind_->check(words_);
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, "summary '{}': {}", name_, error.what());
  }
}

std::unique_ptr<Summary> SummarySpec::make(const SummaryContext& context) const {
  return kind_->make(words_, context);
}

const Registry<SummaryKind>& summaries() {
  static const Registry<SummaryKind> all = [] {
    Registry<SummaryKind> registry("summary");
    register_summaries(registry);
    return registry;
  }();
  return all;
}

std::vector<std::int64_t> column_indices(const Problem& problem, const std::string& names) {
  std::vector<std::string> known;
  for (const Column& column : problem.columns()) known.push_back(column.name);
  std::vector<std::int64_t> indices;
  std::istringstream parts(names);
  for (std::string name; std::getline(parts, name, ',');) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw Error(ErrorKind::usage, "summary: problem '{}' has no column '{}'{}", problem.name(), name,
                  did_you_mean(name, known));
    }
    indices.push_back(found - known.begin());
  }
  for (std::int64_t d = 0; names.empty() && d < problem.D(); ++d) indices.push_back(d);
  return indices;
}

void PlainSummary::of(std::span<const DataView> sets, std::span<float> out) const {
  const std::size_t S = sets.empty() ? 0 : out.size() / sets.size();
  for (std::size_t b = 0; b < sets.size(); ++b) of_one(sets[b], out.subspan(b * S, S));
}

}  // namespace occam
