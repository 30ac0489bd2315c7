// Summary: a data set as a list of statistics, for distances between data sets. Kinds of summaries are listed
// in CMakeLists.txt; a file x.cpp there defines register_x(Registry<SummaryKind>&). A summary is named in
// text with its options behind it: "time-grid points=20 columns=y".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "occam/core/fields.hpp"
#include "occam/core/registry.hpp"
#include "occam/data/batch.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

class Summary {
 public:
  virtual ~Summary() = default;

  virtual std::vector<std::string> names() const = 0;  // (S)
  std::int64_t size() const { return static_cast<std::int64_t>(names().size()); }

  // Statistics of some data sets, out (sets, S). What is written for one data set depends on it alone. Safe
  // from many threads, unless takes_all_threads().
  virtual void of(std::span<const DataView> sets, std::span<float> out) const = 0;
  // Whether of() spreads its work over the threads by itself: then it is called from one of them, with many
  // data sets at a time.
  virtual bool takes_all_threads() const { return false; }
};

// What a summary is made from.
struct SummaryContext {
  const Problem& problem;
  DataView observed;
  const Batch* simulated;  // data sets of the prior predictive; null unless the kind learns from them
  std::string network;     // path of a network file, or empty
  ThreadPool& pool;
};

using SummaryWords = std::vector<std::pair<std::string, std::string>>;  // keys and values

struct SummaryKind {
  std::string help;  // one line
  bool learns = false;
  std::function<void(const SummaryWords& options)> check;  // throws Error(usage)
  std::function<std::unique_ptr<Summary>(const SummaryWords& options, const SummaryContext& context)> make;
  std::function<std::string()> markdown;  // table of options; empty where there are none
};

// Sets fields from words; an unknown key is Error(usage) that suggests the nearest one.
void set_words(Fields fields, const SummaryWords& words);

// Describes a kind whose class is Type(const Options&, const SummaryContext&).
template <class Type, class Options>
SummaryKind make_summary_kind(std::string help, bool learns = false) {
  const auto read = [](const SummaryWords& words) {
    Options options;
    set_words(fields(options), words);
    return options;
  };
  return {std::move(help), learns, [read](const SummaryWords& words) { read(words); },
          [read](const SummaryWords& words, const SummaryContext& context) -> std::unique_ptr<Summary> {
            return std::make_unique<Type>(read(words), context);
          },
          [] {
            Options options;
            const Fields all = fields(options);
            return all.empty() ? std::string() : fields_markdown(all);
          }};
}

// A kind and its options, from text. Throws Error(usage) on an unknown name, key or value.
class SummarySpec {
 public:
  explicit SummarySpec(const std::string& text);

  const std::string& name() const { return name_; }
  bool learns() const { return kind_->learns; }
  std::unique_ptr<Summary> make(const SummaryContext& context) const;

 private:
  std::string name_;
  SummaryWords words_;
  const SummaryKind* kind_;
};

// Every kind of the list.
const Registry<SummaryKind>& summaries();
void register_summaries(Registry<SummaryKind>& registry);  // generated

// Indices of the columns named in "a,b"; all of them for an empty text. Throws Error(usage).
std::vector<std::int64_t> column_indices(const Problem& problem, const std::string& names);

// Base of summaries that look at one data set at a time.
class PlainSummary : public Summary {
 public:
  void of(std::span<const DataView> sets, std::span<float> out) const final;

 protected:
  virtual void of_one(DataView data, std::span<float> out) const = 0;  // out (S)
};

}  // namespace occam
