// Model: one hypothesis. A family and, for each of its parameters, a prior or a fixed value.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "occam/simulate/family.hpp"

namespace occam {

class Model {
 public:
  using NamedPriors = std::vector<std::pair<std::string, Prior>>;

  // Parameters that `priors` does not name keep the family's default. Throws Error(bad_config) on an unknown
  // or repeated parameter, a prior that reaches outside the legal range, or a name with other characters than
  // letters, digits, '_', '-', '+' and '.'. `where` (file:line:column, or empty) opens those messages.
  Model(std::string name, std::shared_ptr<const Family> family, const NamedPriors& priors = {},
        std::string where = "");

  const std::string& name() const { return name_; }
  const Family& family() const { return *family_; }
  const std::shared_ptr<const Family>& shared_family() const { return family_; }
  std::span<const Parameter> parameters() const { return parameters_; }  // all of the family, in its order
  std::span<const Prior> priors() const { return priors_; }              // one for each of parameters()
  const std::string& where() const { return where_; }

  // Draws every parameter, fixed ones included, in the family's order, into theta (P).
  void sample_parameters(Rng& rng, std::span<double> theta) const;

 private:
  std::string name_;
  std::shared_ptr<const Family> family_;
  std::vector<Parameter> parameters_;
  std::vector<Prior> priors_;
  std::string where_;
};

}  // namespace occam
