#include "occam/simulate/family.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/stop.hpp"
#include "occam/simulate/call_text.hpp"

namespace occam {

void Parameter::check(const Prior& candidate) const {
  const auto outside = [&](double end, double limit, bool open, bool beyond) {
    // An open end matters only to a prior that can draw it.
    return beyond || (open && end == limit && candidate.is_discrete());
  };
  if (!outside(candidate.lower(), lower, lower_open, candidate.lower() < lower) &&
      !outside(candidate.upper(), upper, upper_open, candidate.upper() > upper)) {
    return;
  }
  throw Error(ErrorKind::bad_config, "{} = {} reaches outside the legal values {}{}, {}{} of {}", name,
              candidate.text(), lower_open ? '(' : '[', number_text(lower), number_text(upper),
              upper_open ? ')' : ']', name);
}

nlohmann::json Family::settings_json() const {
  // settings() binds fields to the object so that a loader can set them; here they are only read.
  return fields_json(const_cast<Family*>(this)->settings());
}

nlohmann::json Family::identity() const {
  return settings_json();
}

void Family::simulate_many(std::span<SimulationRequest> requests) const {
  for (SimulationRequest& request : requests) {
    end_if_stopped();
    request.rows = simulate(request.theta, request.n, *request.rng, request.out);
  }
}

void Family::simulate_many_on(LoopDevice&, std::span<SimulationRequest> requests) const {
  simulate_many(requests);
}

std::optional<double> Family::log_evidence(std::span<const Prior>, DataView) const {
  return std::nullopt;
}

bool Family::log_evidences(std::span<const Prior> priors, std::span<const DataView> data,
                           std::span<double> out) const {
  for (std::size_t b = 0; b < data.size(); ++b) {
    const std::optional<double> evidence = log_evidence(priors, data[b]);
    if (!evidence) return false;
    out[b] = *evidence;
  }
  return true;
}

}  // namespace occam
