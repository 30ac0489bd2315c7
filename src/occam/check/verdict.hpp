// Verdict: what all judgements come to, in words.
#pragma once

#include <string>
#include <vector>

#include "occam/check/finding.hpp"

namespace occam {

struct Verdict {
  Severity severity = Severity::fine;  // the worst
  std::string text;                    // one or two sentences
};

// `false_alarm`: the probability with which faultless predictions are called anything but fine.
Verdict verdict(const std::vector<Finding>& findings, double false_alarm);

}  // namespace occam
