// Whether an exact posterior q belongs to the simulator it is said to belong to. If it does, the true model
// of a data set is a draw from q, whatever the data: then
//   -log q_true - entropy(q)   and, for every model j,   [true = j] - q_j
// have mean 0, and their variances and third moments follow from q. Their sums over data sets are held
// against that, with limits corrected for skewness (Cornish & Fisher 1938).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace occam {

// A sum of independent values of mean 0 with known second and third moments.
class CentredSum {
 public:
  void add(double value, double variance, double third_moment);

  // The sum in units of its standard deviation; 0 where there is nothing that could vary.
  double z() const;
  // |z| over what chance reaches with probability `level` on that side: above 1 is an alarm.
  double excess(double level) const;

 private:
  double sum_ = 0;
  double variance_ = 0;
  double third_ = 0;
};

class EvidenceFit {
 public:
  explicit EvidenceFit(std::size_t models) : shares_(models) {}

  // The exact posterior (J) of a data set, and the model that made it.
  void add(std::span<const double> q, std::size_t truth);

  double loss_z() const { return loss_.z(); }
  double share_z(std::size_t model) const { return shares_[model].z(); }
  // The largest excess over all sums, of which `level` is shared out among: above 1, the two do not belong
  // together, which is wrongly said with probability `level`.
  double excess(double level) const;
  // The model whose share deviates most.
  std::size_t worst_model() const;

 private:
  CentredSum loss_;
  std::vector<CentredSum> shares_;
};

}  // namespace occam
