// Diagnostic: one question about predictions, such as whether they are calibrated. A file x.cpp in the list
// of CMakeLists.txt defines register_x(Registry<Diagnostic>&). A diagnostic makes a Measurement, which takes
// predictions block by block and ends with a Finding.
//
// Chance is told from fault by drawing, for every data set, R true models from its own predictions: what
// could have been if the predictions are right. A statistic of the actual true models is held against the
// same statistic of those replicates (a parametric bootstrap). Judgements that do so are `tests`; the rate of
// false alarms that the user allows is shared out among them, so that predictions without fault pass all of
// them with probability 1 - false_alarm.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "occam/check/finding.hpp"
#include "occam/check/predictions.hpp"
#include "occam/core/fields.hpp"
#include "occam/core/registry.hpp"

namespace occam {

struct CheckOptions {
  std::int64_t bins = 15;           // of a calibration curve
  std::int64_t replicates = 400;    // R, and bootstrap samples
  double confident = 0.95;          // a largest probability from here on counts as confident
  double false_alarm = 0.01;        // that faultless predictions are called anything but fine
  double calibration_limit = 0.03;  // errors beyond these, after what chance explains, are warnings
  double overconfidence_limit = 0.02;
  double share_limit = 0.02;
  double loss_limit = 0.05;    // nats
  double kl_limit = 0.05;      // nats
  double missed_limit = 0.02;  // nats
};
Fields fields(CheckOptions& options);

// What a measurement is made from.
struct CheckContext {
  PredictionLayout layout;
  CheckOptions options;
  std::uint64_t seed = 1;
  double level = 0.001;  // false-alarm probability of one test
};

// Predictions with what follows from them.
struct Block {
  const Predictions& rows;
  std::int64_t J = 0;
  std::int64_t R = 0;
  std::span<const std::int32_t> best;   // (B) the most probable model, the first of equals
  std::span<const std::int32_t> drawn;  // (B, R) true models drawn from the predictions

  std::int64_t size() const { return rows.size(); }
  std::span<const double> p(std::int64_t b) const {
    return {rows.p.data() + b * J, static_cast<std::size_t>(J)};
  }
  std::span<const double> exact(std::int64_t b) const {
    return {rows.exact.data() + b * J, static_cast<std::size_t>(J)};
  }
  std::span<const std::int32_t> drawn_of(std::int64_t b) const {
    return drawn.subspan(static_cast<std::size_t>(b * R), static_cast<std::size_t>(R));
  }
  std::size_t truth(std::int64_t b) const {
    return static_cast<std::size_t>(rows.truth[static_cast<std::size_t>(b)]);
  }
};

class Measurement {
 public:
  virtual ~Measurement() = default;
  virtual void add(const Block& block) = 0;
  // To be called once, after at least one prediction.
  virtual Finding finish() = 0;
};

struct Diagnostic {
  std::string help;  // the question, one line
  int tests = 0;     // judgements that can raise a false alarm
  // Null where the predictions lack what it needs.
  std::function<std::unique_ptr<Measurement>(const CheckContext&)> make;
};

// Every diagnostic listed in CMakeLists.txt.
const Registry<Diagnostic>& diagnostics();
void register_diagnostics(Registry<Diagnostic>& registry);  // generated

// The false-alarm probability of one test, where so many streams of predictions go through all diagnostics
// and there are `further` tests.
double test_level(const CheckOptions& options, std::int64_t streams, std::int64_t further);

// All diagnostics over one stream of predictions. `level` is the false-alarm probability of one test; none:
// as if this stream were all.
class Checker {
 public:
  Checker(PredictionLayout layout, const CheckOptions& options, std::uint64_t seed,
          std::optional<double> level = {});

  void add(const Predictions& predictions, ThreadPool& pool);
  std::int64_t count() const { return count_; }
  // Throws Error(bad_data) when there were no predictions.
  std::vector<Finding> finish();

 private:
  CheckContext context_;
  std::vector<std::unique_ptr<Measurement>> measurements_;
  std::int64_t count_ = 0;
  std::vector<std::int32_t> best_, drawn_;
};

// --- What diagnostics share in writing

// With more models than this, figures and metrics show a selection, and tables have no J x J rows.
inline constexpr std::int64_t kManyModels = 20;

// fine if chance explains the excess; else a note up to the limit, a warning up to four times that, serious
// beyond.
Severity severity_of(double excess, double limit, bool beyond_chance);

// The largest exceedance that chance alone leaves unnoticed, as the end of a sentence: "" when it is below
// `limit`, else " (with so few data sets, less than 0.07 would go unnoticed)".
std::string resolution_text(double unnoticed, double limit);

std::string shown_number(double value);  // three or four digits: "0.0123"
Metric metric(std::string name, std::string meaning, double value);
Metric metric(std::string name, std::string meaning, double value, double lower, double upper);

// Parts of Vega-Lite specifications. Tables are in long form, so that field names are our own.
nlohmann::json vega_field(const std::string& field, const std::string& type, const std::string& title);
nlohmann::json vega_tooltips(const std::vector<std::pair<std::string, std::string>>& fields_and_titles);
// A line with points over x, with a band or bars from `lower` to `upper`.
nlohmann::json vega_curve(const nlohmann::json& x, const nlohmann::json& y, const std::string& lower,
                          const std::string& upper, const nlohmann::json& tooltips);

}  // namespace occam
