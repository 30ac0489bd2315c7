// Whether observed values lie within the range of the data sets trained on, and are whole numbers where these
// were: a wrong unit (ms for s), another coding (1/2 for 0/1), means in place of counts or a mistaken column
// shows here, where the network would answer all the same.
#pragma once

#include <string>
#include <vector>

#include "occam/networks/network_file.hpp"

namespace occam {

class RangeCheck {
 public:
  // A file without ranges (an old one) is never complained about.
  explicit RangeCheck(const NetworkFile& file);

  // Returns for each data set a note on such values of it, or an empty text.
  std::vector<std::string> add(const std::vector<std::string>& ids, Ragged<const float> data);
  // One message for each column with values outside: the column, how many, the furthest value and where, the
  // range; and one for each that is not whole.
  std::vector<std::string> warnings() const;

 private:
  struct Column {
    std::string name;
    ColumnRange range;
    bool label = false;  // its numbers are no amounts; too many of them are the design's affair
    bool whole = false;  // in training
    std::int64_t values = 0, outside = 0, broken = 0;
    double furthest = 0, distance = 0;  // from the range
    std::string where;                  // id of its data set
    double first_broken = 0;            // the first that is not whole
    std::string where_broken;
  };
  void look_at(Column& column, double x, const std::string& id);

  std::vector<Column> columns_;
};

}  // namespace occam
