#include "occam/check/verdict.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace occam {

Verdict verdict(const std::vector<Finding>& findings, double false_alarm) {
  Verdict result;
  std::string where;
  for (const Finding& finding : findings) {
    for (const Judgement& judgement : finding.judgements) {
      if (judgement.severity > result.severity) {
        result.severity = judgement.severity;
        where.clear();
      }
      if (judgement.severity != result.severity || where.find(finding.title) != std::string::npos) continue;
      where += (where.empty() ? "" : ", ") + finding.title;
    }
  }
  switch (result.severity) {
    case Severity::fine:
      result.text = "no fault was found.";
      break;
    case Severity::note:
      result.text = fmt::format("usable; small things to know about ({}).", where);
      break;
    case Severity::warning:
      result.text = fmt::format("use with care: see the warnings ({}).", where);
      break;
    case Severity::serious:
      result.text = fmt::format("not to be trusted as it is: see {}.", where);
      break;
  }
  result.text += fmt::format(" (Faultless predictions would raise an alarm in about {:.3g} % of checks.)",
                             100 * false_alarm);
  return result;
}

}  // namespace occam
