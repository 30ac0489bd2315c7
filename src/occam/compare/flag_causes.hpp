// Why data sets were flagged, all of them together: for one message rather than one for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/compare/model_posterior.hpp"
#include "occam/networks/network_file.hpp"

namespace occam {

class FlagCauses {
 public:
  void add(const NetworkFile& file, const ModelPosterior& answers, std::int64_t b);

  std::int64_t count() const { return by_size_ + otherwise_; }
  // How many were for each cause, and the cause: the sizes trained on, or the flag of the first of the
  // others. `of` says of what they are: "3 data sets".
  std::vector<std::string> sentences(const NetworkFile& file, const std::string& of) const;

 private:
  std::int64_t by_size_ = 0, otherwise_ = 0;
  std::string first_, where_;  // of the others, and its data set
  bool differ_ = false;        // the others
};

}  // namespace occam
