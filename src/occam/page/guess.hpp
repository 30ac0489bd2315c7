// Which columns of a stranger's csv are those that a network wants: a guess by name, to be corrected by the
// reader of the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occam {

// For each wanted column the place of the one in `header` that fits best, or -1; no column is taken twice.
std::vector<int> guess_columns(const std::vector<std::string>& wanted,
                               const std::vector<std::string>& header);

// The column that tells data sets apart ("dataset", "Subject", "participant_id"), or -1. Those in `taken` are
// none.
int guess_by(const std::vector<std::string>& header, const std::vector<int>& taken);

// A column that tells data sets apart together with that one (a session, a visit), or -1.
int guess_by_too(const std::vector<std::string>& header, const std::vector<int>& taken, int by);

// "s" of "response time [s]"; empty where there is none.
std::string unit_in(std::string_view description);

// Whether numbers under this header are thousandths of what is wanted: the header says ms, or the numbers do
// not fit the range of the training as they are and do so divided by 1000.
bool looks_like_thousandths(std::string_view header, const std::vector<double>& numbers, double low,
                            double high);

}  // namespace occam
