// What a statistician would compute first of a series, for the head to read beside what the body has learned:
// autocorrelations, autoregressions, waves, trends, changes, what follows on what, and how far back. They
// carry no weights and no gradient. Sums of products over time, which a recurrent layer learns slowly, are
// there from the first step. (Exchangeable data go without: what a set network pools was as good by itself,
// what columns say of each other included. But where a column says which rows belong together, sums over
// those rows are something no layer can form, and by how much they differ is told, in how one column goes
// with another and over time, too, and of two such columns beside each other; and so it is where columns say
// where something was measured, and values at near places are alike; and what one column says of another
// where that is more than a line, or where both take few values.)
//   base channels: columns as they enter the network, or their indicators; NaN where a value is missing
//   evidence grows with sqrt(n) times a correlation, so both are given
//   gains are what a richer description explains, per observation: log evidence is n times a sum of such
#pragma once

#include <cstdint>
#include <vector>

#include "occam/data/matrix.hpp"
#include "occam/data/partial_correlations.hpp"
#include "occam/data/structure.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {

// One base channel.
struct BaseChannel {
  std::int64_t column = 0;   // of the data
  bool many_values = false;  // has a spread and a shape worth looking at
};

// Files name the list that their network was trained with.
enum class StatisticsList {
  none = 0,  // labels and places alone
  first = 1,
  with_waves_and_memory = 2,
  with_gains = 3,
  with_dependence = 4,
  with_delays = 5,
  with_periods = 6,
  with_shapes = 7
};
inline constexpr StatisticsList kNewestStatistics = StatisticsList::with_shapes;

// What is said of one column of labels; files name it, too.
enum class LabelList { differences = 0, with_slopes = 1, with_spreads = 2 };
inline constexpr LabelList kNewestLabels = LabelList::with_spreads;

class Statistics {
 public:
  Statistics() = default;
  explicit Statistics(std::vector<BaseChannel> base, StatisticsList list = kNewestStatistics,
                      Structure structure = {}, LabelList label_list = kNewestLabels);

  std::int64_t size() const { return size_; }
  std::int64_t base_channels() const { return static_cast<std::int64_t>(base_.size()); }
  // Otherwise there need be none: what columns say of each other is read from values as they are.
  bool reads_base() const {
    return list_ != StatisticsList::none || !structure_.labels.columns.empty() ||
           !structure_.places.columns.empty();
  }

  // Of one data set: its base channels (n, base_channels()) and its values as they are (n, D). out (size()):
  // all finite.
  void of(Matrix<const double> base, Matrix<const float> raw, double* out, Workspace& workspace) const;

 private:
  std::vector<BaseChannel> base_;
  StatisticsList list_ = kNewestStatistics;
  LabelList label_list_ = kNewestLabels;
  Structure structure_;
  std::vector<PartialCorrelation> partials_;
  std::int64_t delays_ = 0;  // the longest that is looked at
  std::int64_t size_ = 0;
};

}  // namespace occam
