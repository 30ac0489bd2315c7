#include "occam/compare/flag_causes.hpp"

#include <fmt/format.h>

namespace occam {

void FlagCauses::add(const NetworkFile& file, const ModelPosterior& answers, std::int64_t b) {
  const std::string& flag = answers.flag(b);
  if (flag.empty()) return;
  const std::int64_t n = answers.n(b);
  if (file.doubt().empty() && (n < file.smallest_n || n > file.largest_n)) {
    ++by_size_;
    return;
  }
  if (otherwise_++ == 0) {
    first_ = flag;
    where_ = answers.id(b);
  }
  differ_ = differ_ || flag != first_;
}

std::vector<std::string> FlagCauses::sentences(const NetworkFile& file, const std::string& of) const {
  std::vector<std::string> sentences;
  if (by_size_ > 0) {
    sentences.push_back(
        fmt::format("{} of {} {} unlike those that the network was trained on, which had {} to {} rows",
                    by_size_, of, by_size_ == 1 ? "is" : "are", file.smallest_n, file.largest_n));
  }
  if (otherwise_ > 0) {
    sentences.push_back(
        fmt::format("{} of {} {} {}: {}{}", otherwise_, of, otherwise_ == 1 ? "is" : "are",
                    file.doubt().empty() ? "unlike those that the network was trained on" : "flagged", first_,
                    differ_ ? fmt::format(" in data set '{}', and other things in others", where_) : ""));
  }
  return sentences;
}

}  // namespace occam
