// Family: one simulation program with named parameters and columns. A model is a family with a prior (or a
// fixed value) for each of its parameters. Families are const once made and safe to call from many threads.
//
//   x_i ~ Bernoulli(theta), i = 1..n    ->    simulate({theta}, n, rng, out), out (n, 1)
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/core/fields.hpp"
#include "occam/core/rng.hpp"
#include "occam/data/batch.hpp"
#include "occam/data/column.hpp"
#include "occam/simulate/disturbance.hpp"
#include "occam/simulate/prior.hpp"

namespace occam {

class LoopDevice;

// One parameter of a family: what it means, the values it may take, and its prior where a model names none.
struct Parameter {
  std::string name;
  std::string description;  // with its unit
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  Prior prior = {};         // default
  bool lower_open = false;  // lower itself is not a legal value (a scale of 0)
  bool upper_open = false;

  // Throws Error(bad_config) unless every value of `candidate` is legal.
  void check(const Prior& candidate) const;
};

// One data set asked of Family::simulate_many.
struct SimulationRequest {
  std::span<const double> theta;  // (P) in the order of parameters()
  std::int64_t n = 0;             // size asked for
  Rng* rng = nullptr;             // the data set's own stream
  std::span<float> out;           // (max_rows(n), D), or (n, D) where the design is given
  std::int64_t rows = 0;          // answer: rows written, 0 when the draw gave no usable data
  // The design columns of `out` hold the design of n rows: all of them are simulated, and these columns stay
  // as they are. Otherwise a family with such columns makes a design of its own.
  bool designed = false;
};

class Family {
 public:
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  virtual std::string name() const = 0;         // as in problem files: "bernoulli"
  virtual std::string description() const = 0;  // one line
  virtual std::vector<Column> columns() const = 0;
  virtual std::vector<Parameter> parameters() const = 0;
  // Whether the order of the rows carries information (a time series) or not (exchangeable observations).
  virtual bool ordered() const { return false; }

  // Constants of the simulation such as a time step, bound to this object: the loader sets them from a
  // problem file, then calls configure() once, which checks them together and computes what follows from
  // them.
  virtual Fields settings() { return {}; }
  virtual void configure() {}
  // Present settings as one JSON object.
  nlohmann::json settings_json() const;

  // All that simulations depend on beside the parameters, for the fingerprint of a problem. By default the
  // settings.
  virtual nlohmann::json identity() const;
  // False where data can only come from a table that another program made; simulate() is an error then.
  virtual bool simulates() const { return true; }
  // Data sets that a task takes together, where a call is dear (a worker process).
  virtual std::int64_t group() const { return 1; }
  // Whether data sets are dear beside what a network does with them, so that it should learn from each batch
  // before more are made.
  virtual bool dear() const { return false; }
  // Whether one may take seconds, and another much longer: ranks then get them as they become free.
  virtual bool may_be_slow() const { return dear(); }

  // Whether requests may come with a design.
  virtual bool takes_design() const { return false; }

  // Rows that simulate() writes at most for size n, without a given design.
  virtual std::int64_t max_rows(std::int64_t n) const { return n; }

  // Simulates one data set of size n with parameters theta (P) into out (max_rows(n), D), row-major. Returns
  // the rows written, or 0 when these parameters gave no usable data: the caller counts that and draws again.
  // Everything random comes from rng; nothing outside `out` is written; nothing is printed.
  virtual std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                                std::span<float> out) const = 0;

  // The same for many data sets of any sizes, for families that step several at once (SIMD, a worker
  // process). What it writes for one request must not depend on the others. By default one after the other.
  virtual void simulate_many(std::span<SimulationRequest> requests) const;

  // Whether the family has code for a GPU. It then takes the same from the streams of the requests, and
  // simulates the same up to rounding; what it writes for one request does not depend on the others either.
  virtual bool has_device_code() const { return false; }
  virtual void simulate_many_on(LoopDevice& device, std::span<SimulationRequest> requests) const;

  // The exact log marginal likelihood of the data under the given priors (P), in nats, or nothing where it is
  // not known. Whether it is known depends on the priors alone; an empty data set (n = 0) has log evidence 0.
  // Data that no parameter can produce have -infinity; data that make no sense (a coin showing 0.3) are an
  // Error(bad_data).
  virtual std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const;

  // The same for many data sets into out (B), for families that a call is dear to (a worker process). False
  // where it is not known. By default one after the other.
  virtual bool log_evidences(std::span<const Prior> priors, std::span<const DataView> data,
                             std::span<double> out) const;

  // Whether log_evidence() takes data with missing values (NaN), and is then the evidence of what is there.
  virtual bool marginalises() const { return false; }

  // Ways in which real data of this kind may differ from what the family makes, for robustness curves.
  virtual std::vector<Disturbance> disturbances() const { return {}; }

 protected:
  Family() = default;
};

}  // namespace occam
