#include "occam/simulate/model.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"

namespace occam {
namespace {

// Names become csv columns and parts of flags such as --model-prior a=0.2,b=0.8.
bool is_model_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) || c == '_' || c == '-' || c == '+' || c == '.');
  });
}

}  // namespace

Model::Model(std::string name, std::shared_ptr<const Family> family, const NamedPriors& priors,
             std::string where)
    : name_(std::move(name)), family_(std::move(family)), where_(std::move(where)) {
  const std::string place = where_.empty() ? "" : where_ + ": ";
  if (!is_model_name(name_)) {
    throw Error(ErrorKind::bad_config,
                "{}model name '{}' is not usable: letters, digits, '_', '-', '+' and '.' are allowed", place,
                name_);
  }
  if (family_ == nullptr) throw Error(ErrorKind::bad_config, "{}model '{}' has no family", place, name_);
  parameters_ = family_->parameters();
  std::vector<std::string> known;
  for (const Parameter& parameter : parameters_) {
    known.push_back(parameter.name);
    priors_.push_back(parameter.prior);
  }
  std::vector<bool> given(parameters_.size(), false);
  for (const auto& [key, prior] : priors) {
    const auto found = std::find(known.begin(), known.end(), key);
    if (found == known.end()) {
      throw Error(ErrorKind::bad_config, "{}model '{}': family '{}' has no parameter '{}'{}", place, name_,
                  family_->name(), key, did_you_mean(key, known));
    }
    const auto index = static_cast<std::size_t>(found - known.begin());
    if (given[index])
      throw Error(ErrorKind::bad_config, "{}model '{}': '{}' is given twice", place, name_, key);
    given[index] = true;
    priors_[index] = prior;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    try {
      parameters_[i].check(priors_[i]);
    } catch (const Error& error) {
      throw Error(ErrorKind::bad_config, "{}model '{}': {}", place, name_, error.what());
    }
  }
}

void Model::sample_parameters(Rng& rng, std::span<double> theta) const {
  for (std::size_t i = 0; i < priors_.size(); ++i) theta[i] = priors_[i].sample(rng);
}

}  // namespace occam
