// What networks say along a line of changing data: mean u, largest p, which models are chosen and how often
// the scope test notices, as tables, figures and metrics. Experiments that change data in some way share it.
#pragma once

#include <string>
#include <vector>

#include "occam/check/answer_means.hpp"
#include "occam/check/finding.hpp"

namespace occam {

class AnswerCurves {
 public:
  // `name` opens the names of tables; `x` is the title of the axis: "shift [s]".
  AnswerCurves(std::string name, std::string title, std::string x);

  // Metrics are named NETWORK.QUANTITY.AT.
  void add(const std::string& network, const std::string& label, double at, const AnswerMeans& means,
           const std::vector<std::string>& models);
  Finding finding(std::string text);

 private:
  Figure mean_figure() const;
  Figure chosen_figure() const;

  std::string x_;
  Finding finding_;
  Table means_, chosen_;
};

}  // namespace occam
