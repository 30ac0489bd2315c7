// Problem: the question. Two or more models, the model prior over them, the distribution of N. Checked whole
// at construction, immutable, cheap to copy (copies share one state), safe to read from many threads. J
// models; D columns; P parameter slots: the union, by name, of the parameters that are free in any model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/data/batch.hpp"
#include "occam/simulate/design.hpp"
#include "occam/simulate/missing.hpp"
#include "occam/simulate/model.hpp"
#include "occam/simulate/size_distribution.hpp"

namespace occam {

// What a Problem is made from.
struct ProblemSpec {
  std::string name;
  std::string description;
  std::vector<Model> models;
  std::vector<double> model_prior;  // (J) probabilities that sum to one; empty: all equal
  SizeDistribution size = SizeDistribution::fixed(1);
  bool one_n_per_batch = false;          // one N shared by a whole batch, instead of one per data set
  std::shared_ptr<const Design> design;  // none: families make their own
  std::vector<MissingColumn> missing;    // observed columns in which values go missing
  std::shared_ptr<const nlohmann::json> network;  // options carried for their consumers; none: empty tables
  std::shared_ptr<const nlohmann::json> train;
  std::shared_ptr<const nlohmann::json> abc;
  std::string where;  // file:line:column that opens messages, or empty
};

class Problem {
 public:
  // Throws Error(bad_config) on fewer than two models, repeated names, a model prior that does not sum to one
  // within 1e-9 (it is never normalised silently), families whose columns or order differ, a design that a
  // family cannot take, or missing values in columns that have none.
  explicit Problem(ProblemSpec spec);
  // What it was made from, to make another one like it.
  const ProblemSpec& spec() const;

  const std::string& name() const;
  const std::string& description() const;

  std::int64_t J() const { return static_cast<std::int64_t>(models().size()); }
  std::span<const Model> models() const;
  const std::vector<std::string>& model_names() const;
  std::span<const double> model_prior() const;  // (J)
  // Throws Error(usage) that suggests the nearest name.
  std::int64_t model_index(std::string_view name) const;
  // Draws a model index from the model prior with one uniform number.
  std::int64_t sample_model(Rng& rng) const;

  const SizeDistribution& size() const;
  bool one_n_per_batch() const;
  // Where the values of design columns come from; null where the families make their own or have none.
  const Design* design() const;
  // Columns in which values are taken away after simulation, in the order of the columns.
  const std::vector<MissingColumn>& missing() const;
  // Rows of a data set of model j and size n at most.
  std::int64_t max_rows(std::int64_t model, std::int64_t n) const;
  // Smallest and largest n that simulations have.
  std::pair<std::int64_t, std::int64_t> sizes() const;
  const std::vector<Column>& columns() const;  // (D)
  std::int64_t D() const { return static_cast<std::int64_t>(columns().size()); }
  bool ordered() const;
  // False where no model can be simulated: data come from a table then, and size() means nothing.
  bool simulates() const;

  // Parameters with the same name in different models share a slot; slots are in order of first appearance.
  const std::vector<std::string>& parameter_names() const;  // (P)
  std::int64_t P() const { return static_cast<std::int64_t>(parameter_names().size()); }
  std::span<const std::uint8_t> mask(
      std::int64_t model) const;  // (P) 1 where the model has the parameter free
  // For each of the model's parameters its slot, or -1 where fixed.
  std::span<const std::int64_t> slots(std::int64_t model) const;
  // The prior behind a slot, or null where the mask is 0.
  const Prior* prior(std::int64_t model, std::int64_t slot) const;

  // Everything that affects simulations as text, and 16 hexadecimal digits made from it. Names of models
  // count (outputs are labelled by them); name, description and the options for network, train and abc do
  // not.
  const std::string& canonical_text() const;
  const std::string& fingerprint() const;

  // Whether every family knows its exact evidence under its model's priors, with missing values if there are
  // any.
  bool has_exact_posterior() const;
  // log p(model | data), (J), exact under the model prior, or nothing where some evidence is not known. NaN
  // is a missing value. Throws Error(bad_data) when the data are impossible under every model or have another
  // number of columns.
  std::optional<std::vector<double>> exact_log_posterior(DataView data) const;
  // The same for many data sets, (B, J); nothing where it is not known for all of them.
  std::optional<std::vector<double>> exact_log_posteriors(std::span<const DataView> data) const;

  const nlohmann::json& network() const;
  const nlohmann::json& train() const;
  const nlohmann::json& abc() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

// Whether data sets can be simulated with any design: there are design columns, and every family takes them.
bool takes_design(const Problem& problem);

}  // namespace occam
