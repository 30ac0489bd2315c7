// What a simulator program says when it was asked for data.
#pragma once

#include <string_view>

namespace occam {

// What takes an answer piece by piece, as it comes through a pipe.
class Answer {
 public:
  virtual ~Answer() = default;
  // Error(bad_data), which says why, for what is not an answer; also for bytes beyond its end.
  virtual void add(std::string_view bytes) = 0;
  virtual bool complete() const = 0;
};

}  // namespace occam
