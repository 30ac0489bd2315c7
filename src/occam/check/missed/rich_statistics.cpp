#include "occam/check/missed/rich_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "occam/data/extremes.hpp"
#include "occam/data/returned.hpp"
#include "occam/data/series.hpp"
#include "occam/data/slopes.hpp"
#include "occam/data/spreads.hpp"
#include "occam/data/stays.hpp"
#include "occam/data/tables.hpp"

namespace occam {
namespace {

constexpr std::size_t kMostLevels = 24;      // whose shares are looked at one by one
constexpr std::size_t kMostDescribed = 16;   // columns looked at beyond the sketch
constexpr std::size_t kMostPairs = 45;       // of columns
constexpr std::size_t kMostRegressed = 12;   // columns explained by all others
constexpr std::size_t kMostPolynomial = 4;   // columns explained by powers of another
constexpr std::size_t kMostTransitions = 4;  // levels whose order is looked at pair by pair
constexpr std::size_t kMostRemembered = 8;   // levels that may depend on the two before
constexpr std::size_t kMostLaggedPairs = 6;
constexpr std::size_t kLongestDelay = 8;  // between two columns
constexpr std::size_t kMostProfiles = 6;  // of one column over another
constexpr std::size_t kMostLabelled = 8;  // columns that may differ between the labels of another
constexpr std::size_t kProfile = 16;      // parts of the range of a column
constexpr std::size_t kOrders = 4;        // of autoregressions
constexpr double kTiny = 1e-300;

double log_of(double x) {
  return std::log(std::max(x, kTiny));
}

std::vector<double> without_missing(const std::vector<double>& values) {
  std::vector<double> there;
  std::copy_if(values.begin(), values.end(), std::back_inserter(there),
               [](double x) { return !std::isnan(x); });
  return there;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

Moments moments(const std::vector<double>& values) {
  Moments result;
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  result.mean = mean_of(values);
  double m2 = 0, m3 = 0, m4 = 0;
  for (const double value : values) {
    const double d = value - result.mean;
    m2 += d * d / n;
    m3 += d * d * d / n;
    m4 += d * d * d * d / n;
  }
  result.variance = m2;
  if (m2 > 0) {
    result.skewness = m3 / (m2 * std::sqrt(m2));
    result.kurtosis = m4 / (m2 * m2);
  }
  return result;
}

// Two columns over the rows that have both.
struct Both {
  std::vector<double> a, b;
};

Both both(std::span<const double> a, std::span<const double> b) {
  Both result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    result.a.push_back(a[i]);
    result.b.push_back(b[i]);
  }
  return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty()) return 0;
  const double ma = mean_of(a), mb = mean_of(b);
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
    ab += (a[i] - ma) * (b[i] - mb);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

std::vector<double> squares(std::vector<double> values) {
  const double mean = values.empty() ? 0 : mean_of(values);
  for (double& value : values) value = (value - mean) * (value - mean);
  return values;
}

// What a normal model gains in log-likelihood from explaining the part r2 of a variance.
double gain_of(double r2, double n) {
  return -0.5 * n * std::log1p(-std::clamp(r2, 0.0, 1 - 1e-12));
}

// A symmetric matrix (n, n) from which variables are swept out one by one: afterwards, the entries of those
// that are left are what remains of their covariance given the ones swept.
class Sweep {
 public:
  Sweep(std::vector<double> matrix, std::size_t n) : a_(std::move(matrix)), n_(n) {}
  double at(std::size_t i, std::size_t j) const { return a_[i * n_ + j]; }
  bool can(std::size_t k) const { return at(k, k) > 1e-9; }
  void sweep(std::size_t k) {
    const double pivot = at(k, k);
    const std::vector<double> column = [&] {
      std::vector<double> values(n_);
      for (std::size_t i = 0; i < n_; ++i) values[i] = at(i, k);
      return values;
    }();
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) a_[i * n_ + j] -= column[i] * column[j] / pivot;
    }
  }

 private:
  std::vector<double> a_;
  std::size_t n_;
};

// Least squares of the last variable on the others, one after the other: what is left of its mean square
// after each. `products` (k + 1, k + 1) are mean products.
std::vector<double> residuals(const std::vector<double>& products, std::size_t size) {
  Sweep sweep(products, size);
  std::vector<double> left = {sweep.at(size - 1, size - 1)};
  for (std::size_t k = 0; k + 1 < size; ++k) {
    // Relative to what the variable had before: columns of powers and lags are nearly alike.
    if (sweep.at(k, k) > 1e-9 * (products[k * size + k] + kTiny)) sweep.sweep(k);
    left.push_back(std::max(sweep.at(size - 1, size - 1), 0.0));
  }
  return left;
}

// One variable c explained by others, the best of those left first. C (D, D) are correlations.
struct Selection {
  std::array<double, 4> gains = {};  // in log-likelihood after one, two, three, and all others
  double left = 1;                   // of the variance, after all
  double clear = 0;                  // how many after the first are clearly worth it
};

Selection forward_selection(const std::vector<double>& C, std::size_t D, std::size_t c, double n) {
  Selection result;
  Sweep sweep(C, D);
  std::vector<bool> used(D, false);
  used[c] = true;
  for (std::size_t step = 0; step + 1 < D; ++step) {
    std::size_t best = D;
    double most = -1;
    for (std::size_t k = 0; k < D; ++k) {
      if (used[k] || !sweep.can(k)) continue;
      const double part = sweep.at(c, k) * sweep.at(c, k) / sweep.at(k, k);
      if (part > most) {
        most = part;
        best = k;
      }
    }
    if (best == D) break;
    const double strength = most / std::max(sweep.at(c, c), 1e-12) * (n - static_cast<double>(step) - 1);
    if (step > 0 && strength > 4) result.clear += 1;
    used[best] = true;
    sweep.sweep(best);
    const double gain = C[c * D + c] > 0 ? gain_of(1 - sweep.at(c, c), n) : 0;
    if (step < 3) result.gains[step] = gain;
    result.gains[3] = gain;
  }
  result.left = sweep.at(c, c);
  return result;
}

std::vector<double> mean_products(const std::vector<std::vector<double>>& variables) {
  const std::size_t k = variables.size();
  std::vector<double> products(k * k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t r = 0; r < variables[i].size(); ++r) sum += variables[i][r] * variables[j][r];
      products[i * k + j] = products[j * k + i] =
          sum / static_cast<double>(std::max<std::size_t>(1, variables[i].size()));
    }
  }
  return products;
}

double autocorrelation(const std::vector<double>& values, std::size_t lag) {
  if (values.size() <= lag + 1) return 0;
  const double mean = mean_of(values);
  double all = 0, lagged = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all += (values[i] - mean) * (values[i] - mean);
    if (i >= lag) lagged += (values[i] - mean) * (values[i - lag] - mean);
  }
  return all > 0 ? lagged / all : 0;
}

std::vector<double> steps_of(const std::vector<double>& values) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < values.size(); ++i) steps.push_back(values[i] - values[i - 1]);
  return steps;
}

// A change at one unknown place: the largest and the mean gain in log-likelihood over all places, and where
// the largest is. cost(sum, count) is minus the log-likelihood of a stretch, given its sum.
struct Change {
  double largest = 0, mean = 0, place = 0.5;
};

template <class Cost>
Change change_point(const std::vector<double>& values, const Cost& cost) {
  Change result;
  const auto n = static_cast<double>(values.size());
  const double total = std::accumulate(values.begin(), values.end(), 0.0);
  const double none = cost(total, n);
  double left = 0;
  std::vector<double> gains;
  for (std::size_t k = 1; k < values.size(); ++k) {
    left += values[k - 1];
    const auto count = static_cast<double>(k);
    const double gain = none - cost(left, count) - cost(total - left, n - count);
    gains.push_back(gain);
    if (gain > result.largest) {
      result.largest = gain;
      result.place = count / n;
    }
  }
  double sum = 0;
  for (const double gain : gains) sum += std::exp(std::min(gain - result.largest, 0.0));
  if (!gains.empty()) result.mean = result.largest + std::log(sum / static_cast<double>(gains.size()));
  return result;
}

Change change_of_mean(const std::vector<double>& values) {
  const Moments all = moments(values);
  const double scale = all.variance > 0 ? 1 / (2 * all.variance) : 0;
  return change_point(values, [&](double sum, double count) {
    const double d = sum / count - all.mean;
    return -scale * count * d * d;
  });
}

Change change_of_rate(const std::vector<double>& values) {
  return change_point(values,
                      [](double sum, double count) { return sum > 0 ? -sum * std::log(sum / count) : 0; });
}

Change change_of_share(const std::vector<double>& values) {
  return change_point(values, [](double sum, double count) {
    const auto part = [&](double k) { return k > 0 ? -k * std::log(k / count) : 0; };
    return part(sum) + part(count - sum);
  });
}

}  // namespace

// Takes values and, when asked for names, their names: in one place, so that the two cannot differ.
class RichStatistics::Collector {
 public:
  explicit Collector(std::span<float> out) : out_(out) {}
  explicit Collector(std::vector<std::string>& names) : names_(&names) {}

  template <class... Parts>
  void put(double value, const char* name, const Parts&... parts) {
    if (names_ != nullptr) {
      names_->push_back(fmt::format(fmt::runtime(name), parts...));
    } else {
      out_[at_++] = std::isfinite(value) ? static_cast<float>(std::asinh(value)) : 0.0F;
    }
  }
  bool naming() const { return names_ != nullptr; }

 private:
  std::span<float> out_;
  std::size_t at_ = 0;
  std::vector<std::string>* names_ = nullptr;
};

RichStatistics RichStatistics::learn(Ragged<const float> data, const std::vector<std::string>& columns,
                                     bool ordered, const std::vector<bool>& design,
                                     const LabelGroups& labels) {
  RichStatistics result = learn_columns(data, columns, ordered, design, labels);
  result.apart_ = AtomsApart(data, kMostLevels, result.structure_.time.column);
  if (!result.apart_.any()) return result;
  std::vector<float> room;
  data.x = result.apart_.rows(data.x, room);
  result.beside_ = std::make_shared<const RichStatistics>(
      learn_columns(data, result.apart_.names(columns), ordered, design, labels));
  const std::set<std::string> known(result.names_.begin(), result.names_.end());
  for (std::size_t i = 0; i < result.beside_->names_.size(); ++i) {
    const std::string& name = result.beside_->names_[i];
    if (known.contains(name)) continue;
    result.fresh_.push_back(i);
    result.names_.push_back(name);
  }
  return result;
}

namespace {

std::vector<std::int64_t> design_columns(const std::vector<bool>& design) {
  std::vector<std::int64_t> columns;
  for (std::size_t c = 0; c < design.size(); ++c) {
    if (design[c]) columns.push_back(static_cast<std::int64_t>(c));
  }
  return columns;
}

}  // namespace

RichStatistics RichStatistics::learn_columns(Ragged<const float> data,
                                             const std::vector<std::string>& columns, bool ordered,
                                             std::vector<bool> design, const LabelGroups& labels) {
  RichStatistics result;
  result.ordered_ = ordered;
  design.resize(columns.size(), false);
  result.structure_ = find_structure(data, ordered, with_labels(columns_in(labels), find_labels(data)),
                                     labels, design_columns(design));
  result.sketch_ = Sketch::learn(data, columns, ordered, false, design);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    Typical typical;
    typical.name = columns[c];
    typical.design = design[c];
    std::vector<float> values;
    for (std::int64_t r = 0; r < data.x.rows; ++r) {
      if (const float x = data.x.row(r)[c]; !std::isnan(x)) values.push_back(x);
    }
    if (values.empty()) values.push_back(0);  // a column of which nothing is there
    std::sort(values.begin(), values.end());
    const auto at = [&](double q) {
      return static_cast<double>(
          values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))]);
    };
    typical.centre = at(0.5);
    typical.scale = (at(0.75) - at(0.25)) / 1.349;
    if (!(typical.scale > 0)) typical.scale = (at(0.99) - at(0.01)) / 4;
    if (!(typical.scale > 0)) typical.scale = values.back() > values.front() ? at(1) - at(0) : 1.0;
    for (std::size_t k = 1; k < kProfile; ++k) {
      const double quantile = at(static_cast<double>(k) / kProfile);
      typical.edges.push_back((quantile - typical.centre) / typical.scale);
    }
    typical.positive = values.front() > 0;
    typical.counts = values.front() >= 0 &&
                     std::all_of(values.begin(), values.end(), [](float x) { return x == std::floor(x); });
    typical.circular = values.front() > -7 && values.back() < 7 && values.back() - values.front() > 5;
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (values.size() <= kMostLevels) typical.levels = std::move(values);
    result.columns_.push_back(std::move(typical));
  }
  result.names_ = result.sketch_.names();
  const std::vector<float> one_row(columns.size(), 1.0F);
  const auto D = static_cast<std::int64_t>(columns.size());
  Collector names(result.names_);
  result.collect({one_row.data(), 1, D, D}, names);
  return result;
}

void RichStatistics::of(Matrix<const float> rows, std::span<float> out) const {
  of_columns(rows, out.first(names_.size() - fresh_.size()));
  if (beside_ == nullptr) return;
  std::vector<float> room, values(beside_->names_.size());
  beside_->of_columns(apart_.rows(rows, room), values);
  for (std::size_t k = 0; k < fresh_.size(); ++k) out[names_.size() - fresh_.size() + k] = values[fresh_[k]];
}

void RichStatistics::of_columns(Matrix<const float> rows, std::span<float> out) const {
  const auto sketched = static_cast<std::size_t>(sketch_.size());
  sketch_.of(rows, out.first(sketched));
  for (float& value : out.first(sketched)) value = std::isfinite(value) ? std::asinh(value) : 0.0F;
  Collector collector(out.subspan(sketched));
  collect(rows, collector);
}

// Columns (D, n) in units of what is typical, with NaN where values are missing; plain, and through asinh.
struct RichStatistics::Values {
  std::vector<std::vector<double>> plain, tame;
};

void RichStatistics::collect(Matrix<const float> rows, Collector& out) const {
  Values data;
  for (std::size_t c = 0, described = 0; c < columns_.size(); ++c) {
    const Typical& typical = columns_[c];
    std::vector<double>& plain = data.plain.emplace_back();
    std::vector<double>& tame = data.tame.emplace_back();
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      plain.push_back((static_cast<double>(rows.row(r)[c]) - typical.centre) / typical.scale);
      tame.push_back(std::asinh(plain.back()));
    }
    if (described++ >= kMostDescribed) continue;
    const std::vector<double> there = without_missing(plain), there_tame = without_missing(tame);
    if (ordered_ && !typical.design) series(typical, there, there_tame, out);
    column(typical, there, there_tame, out);
  }
  pairs(data, out);
  if (columns_.size() > 1 && columns_.size() <= kMostRegressed) {
    regressions(data.plain, "", out);
    regressions(data.tame, "asinh ", out);
  }
  if (columns_.size() > 1 && columns_.size() <= kMostPolynomial) {
    polynomials(data, out);
    profiles(data, out);
  }
  if (ordered_) lagged_pairs(data, out);
  if (structure_.time.column >= 0) fades(rows, out);
  if (!structure_.places.columns.empty()) patches(rows, out);
  shapes(rows, out);
  tables(rows, out);
  differences(data, out);
  slopes(data, out);
  carried(data, out);
  crossings(data, out);
}

// Values are in units of what is typical, missing ones left out.
void RichStatistics::column(const Typical& typical, const std::vector<double>& values,
                            const std::vector<double>& tame_values, Collector& out) const {
  const std::string& name = typical.name;
  const auto n = static_cast<double>(values.size());
  if (!typical.levels.empty()) levels(typical, values, out);
  const Moments plain = moments(values);
  const Moments tame = moments(tame_values);
  out.put(plain.mean, "mean of {}", name);
  out.put(log_of(plain.variance), "log variance of {}", name);
  out.put(plain.skewness, "skewness of {}", name);
  out.put(plain.kurtosis, "kurtosis of {}", name);
  out.put(plain.variance > 0 ? plain.mean * std::sqrt(n / plain.variance) : 0,
          "t statistic of the mean of {}", name);
  out.put(log_of(plain.variance + plain.mean * plain.mean), "log mean square of {}", name);
  out.put(tame.mean, "mean of asinh {}", name);
  out.put(log_of(tame.variance), "log variance of asinh {}", name);
  out.put(tame.skewness, "skewness of asinh {}", name);
  out.put(tame.kurtosis, "kurtosis of asinh {}", name);
  if (typical.positive) logarithms(typical, values, out);
  if (typical.counts && typical.levels.size() != 2) counts(typical, values, out);
  if (typical.circular) angles(typical, values, out);
  tails(typical, values, out);
  if (typical.levels.empty()) ends(typical, values, out);
}

// Where values begin and end, and whether they crowd there, as behind a delay or up to a limit.
void RichStatistics::ends(const Typical& typical, const std::vector<double>& values, Collector& out) const {
  const std::string& name = typical.name;
  const auto n = static_cast<double>(values.size());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double mean = mean_of(values);
  for (const auto& [at, what] : {std::pair{low, "least"}, std::pair{high, "largest"}}) {
    const double end = values.empty() ? 0 : *at;
    const double far = std::fabs(mean - end);
    double logs = 0;
    for (const double value : values) logs += 2 * from_end(std::fabs(value - end), far, n);
    out.put(end, "{} value of {}", what, name);
    out.put(log_of(far), "log distance of the mean of {} from the {}", name, what);
    out.put(logs / n, "mean log distance of {} from the {}", name, what);
    out.put(logs, "how {} crowd at the {}", name, what);
  }
}

void RichStatistics::logarithms(const Typical& typical, const std::vector<double>& values,
                                Collector& out) const {
  const std::string& name = typical.name;
  const auto n = static_cast<double>(values.size());
  std::vector<double> logs;
  double inverse = 0, sum = 0;
  for (const double value : values) {
    const double x = std::max(value * typical.scale + typical.centre, kTiny);
    logs.push_back(std::log(x));
    inverse += 1 / x / n;
    sum += x / n;
  }
  const Moments of_logs = moments(logs);
  out.put(of_logs.mean, "mean of log {}", name);
  out.put(log_of(of_logs.variance), "log variance of log {}", name);
  out.put(of_logs.skewness, "skewness of log {}", name);
  out.put(of_logs.kurtosis, "kurtosis of log {}", name);
  out.put(n * (log_of(sum) - of_logs.mean), "arithmetic against geometric mean of {}", name);
  out.put(n * (log_of(inverse) + of_logs.mean), "geometric against harmonic mean of {}", name);
  out.put(0.5 * log_of(moments(values).variance) + log_of(typical.scale) - log_of(sum),
          "log coefficient of variation of {}", name);
}

void RichStatistics::counts(const Typical& typical, const std::vector<double>& values, Collector& out) const {
  const std::string& name = typical.name;
  const auto n = static_cast<double>(values.size());
  const double variance = moments(values).variance;
  double sum = 0, zeros = 0, factorials = 0;
  for (const double value : values) {
    const double x = value * typical.scale + typical.centre;
    sum += x / n;
    zeros += x < 0.5 ? 1 / n : 0;
    factorials += std::lgamma(x + 1) / n;
  }
  const double dispersion = log_of(variance) + 2 * log_of(typical.scale) - log_of(sum);
  out.put(sum > 0 && variance > 0 ? dispersion : 0, "log of variance over mean of {}", name);
  out.put(sum > 0 && variance > 0 ? n * dispersion : 0, "n times log of variance over mean of {}", name);
  out.put(zeros, "share of zeros of {}", name);
  out.put(zeros - std::exp(-sum), "zeros of {} beyond a Poisson's", name);
  out.put(factorials, "mean log factorial of {}", name);
}

void RichStatistics::angles(const Typical& typical, const std::vector<double>& values, Collector& out) const {
  const std::string& name = typical.name;
  const auto n = static_cast<double>(values.size());
  for (const double order : {1.0, 2.0}) {
    std::complex<double> sum = 0;
    for (const double value : values)
      sum += std::polar(1 / n, order * (value * typical.scale + typical.centre));
    out.put(std::abs(sum), "length of the mean of {} times {} as an angle", name, order);
    out.put(std::arg(sum), "direction of the mean of {} times {} as an angle", name, order);
    out.put(n * std::norm(sum), "Rayleigh's statistic of {} times {}", name, order);
  }
}

// What common families with their own centre and spread would say: normal against the others.
void RichStatistics::tails(const Typical& typical, std::vector<double> values, Collector& out) const {
  const std::string& name = typical.name;
  const auto n = static_cast<double>(values.size());
  const double variance = moments(values).variance;
  std::sort(values.begin(), values.end());
  const double middle = values.empty() ? 0 : values[values.size() / 2];
  std::vector<double> away;
  for (const double value : values) away.push_back(std::fabs(value - middle));
  std::sort(away.begin(), away.end());
  const double spread = away.empty() ? 0 : away[away.size() / 2];
  const double mean_away = away.empty() ? 0 : mean_of(away);
  double cauchy = 0, student = 0, logistic = 0, log_away = 0;
  for (const double value : away) {
    const double u = spread > 0 ? value / spread : 0;
    cauchy += std::log1p(u * u);
    student += 2 * std::log1p(u * u / 3);
    logistic += 2 * std::log1p(std::exp(-std::min(1.6 * u, 700.0))) + 1.6 * u;
    log_away += log_of(value + 1e-12) / n;
  }
  const double log_sd = 0.5 * log_of(variance);
  const double log_spread = log_of(spread);
  out.put(log_spread, "log median deviation of {}", name);
  out.put(log_away, "mean log deviation of {}", name);
  out.put(n * (log_sd - log_of(mean_away)), "normal against Laplace tails of {}", name);
  out.put(n * (log_sd - log_spread) - cauchy, "normal against Cauchy tails of {}", name);
  out.put(n * (log_sd - log_spread) - student, "normal against Student tails of {}", name);
  out.put(n * (log_sd - log_spread) - logistic, "normal against logistic tails of {}", name);
  out.put(n * (log_of(mean_away) - log_spread) - student, "Laplace against Student tails of {}", name);
  out.put(student - cauchy, "Student against Cauchy tails of {}", name);
  const double range = values.empty() ? 0 : values.back() - values.front();
  out.put(n * (log_sd - log_of(range)), "normal against uniform shape of {}", name);
  out.put(spread > 0 ? log_of(away.back() / spread) : 0, "log largest deviation of {}", name);
  const auto different = std::unique(values.begin(), values.end()) - values.begin();
  out.put(static_cast<double>(different), "number of different values of {}", name);
  out.put(n - static_cast<double>(different), "number of values of {} that repeat others", name);
}

void RichStatistics::levels(const Typical& typical, const std::vector<double>& values, Collector& out) const {
  const auto n = static_cast<double>(values.size());
  double entropy = 0;
  double evidence = std::lgamma(static_cast<double>(typical.levels.size())) -
                    std::lgamma(n + static_cast<double>(typical.levels.size()));
  for (const float level : typical.levels) {
    const double place = (level - typical.centre) / typical.scale;
    const auto count = static_cast<double>(std::count_if(values.begin(), values.end(), [&](double x) {
      return std::fabs(x - place) < 1e-9 * (1 + std::fabs(place));
    }));
    out.put(n > 0 ? count / n : 0, "share of {} = {}", typical.name, level);
    out.put(count, "number of {} = {}", typical.name, level);
    if (count > 0) entropy -= count * std::log(count / n);
    evidence += std::lgamma(count + 1);
  }
  out.put(entropy, "n times entropy of {}", typical.name);
  out.put(evidence, "log evidence of unequal shares of {}", typical.name);
}

void RichStatistics::pairs(const Values& data, Collector& out) const {
  std::size_t count = 0;
  for (std::size_t a = 0; a < columns_.size(); ++a) {
    for (std::size_t b = a + 1; b < columns_.size() && count < kMostPairs; ++b) {
      if (columns_[a].design && columns_[b].design) continue;
      ++count;
      const Both plain = both(data.plain[a], data.plain[b]), tame = both(data.tame[a], data.tame[b]);
      const auto n = static_cast<double>(plain.a.size());
      const double product = std::inner_product(plain.a.begin(), plain.a.end(), plain.b.begin(), 0.0);
      const double r = correlation(plain.a, plain.b);
      const double s = correlation(tame.a, tame.b);
      const std::string names =
          out.naming() ? fmt::format("{} and {}", columns_[a].name, columns_[b].name) : "";
      out.put(r * std::sqrt(n), "correlation of {} times root n", names);
      out.put(s, "correlation of asinh {}", names);
      out.put(s * std::sqrt(n), "correlation of asinh {} times root n", names);
      out.put(gain_of(r * r, n), "evidence for correlation of {}", names);
      out.put(n > 0 ? product / n : 0, "mean product of {}", names);
      const std::vector<double> aa = squares(tame.a), bb = squares(tame.b);
      out.put(correlation(aa, tame.b) * std::sqrt(n), "correlation of the square of the first of {}", names);
      out.put(correlation(tame.a, bb) * std::sqrt(n), "correlation of the square of the second of {}", names);
      out.put(correlation(aa, bb) * std::sqrt(n), "correlation of the squares of {}", names);
    }
  }
}

// Every observed column on all others, and on the one, two and three that explain it best.
void RichStatistics::regressions(const std::vector<std::vector<double>>& columns, const char* scale,
                                 Collector& out) const {
  const std::size_t D = columns_.size();
  std::vector<std::vector<double>> values(D);
  for (std::size_t r = 0; r < columns.front().size(); ++r) {
    if (std::any_of(columns.begin(), columns.end(),
                    [&](const auto& column) { return std::isnan(column[r]); }))
      continue;
    for (std::size_t c = 0; c < D; ++c) values[c].push_back(columns[c][r]);
  }
  const auto n = static_cast<double>(values.front().size());
  for (std::vector<double>& column : values) {
    const Moments m = moments(column);
    const double unit = m.variance > 0 ? 1 / std::sqrt(m.variance) : 0;
    for (double& value : column) value = (value - m.mean) * unit;
  }
  const std::vector<double> C = mean_products(values);
  for (std::size_t c = 0; c < D; ++c) {
    if (columns_[c].design) continue;
    const std::string name = scale + columns_[c].name;
    const Selection chosen = forward_selection(C, D, c, n);
    const std::array<double, 4>& gains = chosen.gains;
    out.put(gains[0], "evidence that {} depends on another column", name);
    out.put(gains[3], "evidence that {} depends on all other columns", name);
    if (D <= 2) continue;
    out.put(gains[1] - gains[0], "evidence that {} depends on a second column", name);
    out.put(gains[2] - gains[1], "evidence that {} depends on a third column", name);
    out.put(gains[3] - gains[0], "evidence that {} depends on more than one column", name);
    out.put(gains[3] - gains[1], "evidence that {} depends on more than two columns", name);
    out.put(
        n > static_cast<double>(D) ? log_of(chosen.left) - std::log(1 - static_cast<double>(D) / (n + 1)) : 0,
        "log share of {} that other columns leave unexplained", name);
    out.put(chosen.clear, "number of columns that explain {} beyond the first", name);
  }
  if (D > 2) partial_correlations(C, n, scale, out);
}

void RichStatistics::partial_correlations(const std::vector<double>& C, double n, const char* scale,
                                          Collector& out) const {
  const std::size_t D = columns_.size();
  for (std::size_t a = 0, count = 0; a < D; ++a) {
    for (std::size_t b = a + 1; b < D && count < kMostPairs; ++b) {
      if (columns_[a].design && columns_[b].design) continue;
      ++count;
      Sweep sweep(C, D);
      for (std::size_t k = 0; k < D; ++k) {
        if (k != a && k != b && sweep.can(k)) sweep.sweep(k);
      }
      const double product = sweep.at(a, a) * sweep.at(b, b);
      out.put(product > 0 ? sweep.at(a, b) / std::sqrt(product) * std::sqrt(n) : 0,
              "correlation of {}{} and {} given all others times root n", scale, columns_[a].name,
              columns_[b].name);
    }
  }
}

// Every observed column on powers of every other: what is left, and what each power gains.
void RichStatistics::polynomials(const Values& data, Collector& out) const {
  const std::size_t D = columns_.size();
  const auto from_zero = [&](std::size_t c) { return columns_[c].centre / columns_[c].scale; };
  for (std::size_t b = 0; b < D; ++b) {
    if (columns_[b].design) continue;
    for (std::size_t a = 0; a < D; ++a) {
      if (a == b) continue;
      std::vector<std::vector<double>> powers(5);  // 1, x, x^2, x^3, y
      std::vector<std::vector<double>> through_zero(2);
      for (std::size_t r = 0; r < data.plain[a].size(); ++r) {
        const double x = data.plain[a][r];
        const double y = data.plain[b][r] + from_zero(b);
        if (std::isnan(x) || std::isnan(y)) continue;
        // Nearly x itself where it is usual; far out, powers would drown everything.
        const double u = std::fabs(x) < 2 ? x : std::copysign(2 + std::log(std::fabs(x) / 2), x);
        for (std::size_t k = 0; k < 4; ++k) powers[k].push_back(k == 0 ? 1 : powers[k - 1].back() * u);
        powers[4].push_back(y);
        through_zero[0].push_back(x + from_zero(a));
        through_zero[1].push_back(y);
      }
      const auto n = static_cast<double>(powers[0].size());
      const std::vector<double> left = residuals(mean_products(powers), 5);
      const std::vector<double> origin = residuals(mean_products(through_zero), 2);
      const std::string names =
          out.naming() ? fmt::format("{} on {}", columns_[b].name, columns_[a].name) : "";
      out.put(log_of(left[0]), "log mean square for {}", names);
      out.put(log_of(left[2]), "log mean square left by a line of {}", names);
      out.put(log_of(left[3]), "log mean square left by a parabola of {}", names);
      const auto gain = [&](double before, double after) {
        return 0.5 * n * std::min(log_of(before) - log_of(after), 30.0);
      };
      out.put(gain(left[0], left[1]), "evidence for a level of {}", names);
      out.put(gain(left[1], left[2]), "evidence for a slope of {}", names);
      out.put(gain(left[2], left[3]), "evidence for a curve of {}", names);
      out.put(gain(left[3], left[4]), "evidence for a third power of {}", names);
      out.put(gain(origin[0], origin[1]), "evidence for a line through zero of {}", names);
      out.put(gain(origin[1], left[2]), "evidence for a line beside zero of {}", names);
    }
  }
}

// Every observed column over the range of every other: what it is where the other is lowest, ..., highest.
// Sees dependence of any shape.
void RichStatistics::profiles(const Values& data, Collector& out) const {
  std::size_t count = 0;
  for (std::size_t b = 0; b < columns_.size(); ++b) {
    for (std::size_t a = 0; a < columns_.size(); ++a) {
      if (a == b || columns_[b].design || count == kMostProfiles) continue;
      ++count;
      const Both pair = both(data.plain[a], data.tame[b]);
      const double mean = pair.b.empty() ? 0 : mean_of(pair.b);
      std::array<double, kProfile> sums = {}, rows = {};
      const std::vector<double>& edges = columns_[a].edges;
      for (std::size_t i = 0; i < pair.a.size(); ++i) {
        const auto part =
            static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), pair.a[i]) - edges.begin());
        sums[part] += pair.b[i] - mean;
        rows[part] += 1;
      }
      double spread = 0;
      for (std::size_t k = 0; k < kProfile; ++k) {
        const double strength = sums[k] / std::sqrt(rows[k] + 1);
        spread += strength * strength;
        out.put(strength, "{} where {} is in part {} of {} of its range", columns_[b].name, columns_[a].name,
                k + 1, kProfile);
      }
      out.put(spread, "how much {} differs over the range of {}", columns_[b].name, columns_[a].name);
    }
  }
}

// Values in units of what is typical, in their order.
void RichStatistics::series(const Typical& typical, const std::vector<double>& values,
                            const std::vector<double>& tame, Collector& out) const {
  const std::string& name = typical.name;
  const double root = std::sqrt(static_cast<double>(values.size()));
  const std::vector<double> square = squares(tame);
  for (const std::size_t lag : {1, 2, 3, 4, 5, 6, 7, 12}) {
    out.put(autocorrelation(values, lag) * root, "autocorrelation of {} at lag {} times root n", name, lag);
    out.put(autocorrelation(tame, lag), "autocorrelation of asinh {} at lag {}", name, lag);
    if (lag > 3) continue;
    out.put(autocorrelation(square, lag) * root, "autocorrelation of squared {} at lag {} times root n", name,
            lag);
  }
  autoregressions(values, typical.centre / typical.scale, name, out);
  autoregressions(tame, 0, "asinh " + name, out);
  if (typical.levels.empty()) regimes(typical, values, out);
  if (typical.levels.empty() && structure_.time.column < 0) {
    std::vector<double> room(even_room(values.size()));
    put_periods(find_even_periods(values, room), name, 2, out);
  }
  steps(typical, values, out);
  changes(typical, values, tame, out);
  out.put(tame.empty() ? 0 : tame.front(), "first {}", name);
  out.put(tame.empty() ? 0 : tame.back(), "last {}", name);
  if (!typical.levels.empty() && typical.levels.size() <= kMostTransitions) transitions(typical, values, out);
  if (typical.levels.size() >= 2 && typical.levels.size() <= kMostRemembered) memory(typical, values, out);
  if (typical.levels.empty() || typical.levels.size() > kMostTransitions) waves(typical, tame, out);
}

// On 1, 2, ... earlier values, with and without a mean. `from_zero`: what to add to values to get them as
// they were.
void RichStatistics::autoregressions(const std::vector<double>& values, double from_zero,
                                     const std::string& name, Collector& out) const {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value + from_zero));
  if (!(largest > 0)) largest = 1;
  const double n = static_cast<double>(values.size()) - static_cast<double>(kOrders);
  for (const bool centred : {false, true}) {
    std::vector<std::vector<double>> variables(kOrders + 2);  // 1, lags, the value itself
    for (std::size_t i = kOrders; i < values.size(); ++i) {
      variables[0].push_back(centred ? 1 : 0);
      for (std::size_t lag = 1; lag <= kOrders; ++lag) {
        variables[lag].push_back((values[i - lag] + from_zero) / largest);
      }
      variables[kOrders + 1].push_back((values[i] + from_zero) / largest);
    }
    const std::vector<double> left = residuals(mean_products(variables), kOrders + 2);
    const char* mean = centred ? "around its mean" : "around zero";
    const double unit = 2 * std::log(largest);
    out.put(log_of(left[2]) + unit, "log mean square that one earlier value leaves of {} {}", name, mean);
    out.put(log_of(left[3]) + unit, "log mean square that two earlier values leave of {} {}", name, mean);
    for (std::size_t lag = 1; lag <= kOrders; ++lag) {
      out.put(0.5 * n * std::min(log_of(left[lag]) - log_of(left[lag + 1]), 30.0),
              "evidence that {} depends on {} earlier values {}", name, lag, mean);
    }
  }
}

void RichStatistics::steps(const Typical& typical, const std::vector<double>& values, Collector& out) const {
  const std::string& name = typical.name;
  const std::vector<double> steps = steps_of(values);
  const Moments of_steps = moments(steps);
  const double drift = of_steps.mean * std::sqrt(static_cast<double>(steps.size()) / of_steps.variance);
  out.put(log_of(of_steps.variance), "log variance of the steps of {}", name);
  out.put(of_steps.kurtosis, "kurtosis of the steps of {}", name);
  out.put(of_steps.skewness, "skewness of the steps of {}", name);
  out.put(of_steps.variance > 0 ? drift : 0, "drift of {}", name);
  out.put(autocorrelation(steps, 1), "autocorrelation of the steps of {} at lag 1", name);
  out.put(autocorrelation(squares(steps), 1), "autocorrelation of the squared steps of {} at lag 1", name);
  double stays = 0, turns = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    stays += steps[i] == 0 ? 1 : 0;
    if (i > 0) turns += (steps[i] < 0) != (steps[i - 1] < 0) ? 1 : 0;
  }
  out.put(stays, "number of steps of {} that stay", name);
  out.put(turns, "number of turning points of {}", name);
}

// Trends, and changes at one place.
void RichStatistics::changes(const Typical& typical, const std::vector<double>& values,
                             const std::vector<double>& tame, Collector& out) const {
  const std::string& name = typical.name;
  const auto n = static_cast<double>(values.size());
  const std::vector<double> square = squares(tame);
  std::vector<double> time(values.size());
  std::iota(time.begin(), time.end(), 0.0);
  const auto trend = [&](const std::vector<double>& of) {
    const double r = correlation(time, of);
    return std::copysign(gain_of(r * r, n), r);
  };
  out.put(trend(values), "evidence for a trend of {}", name);
  out.put(trend(tame), "evidence for a trend of asinh {}", name);
  out.put(trend(square), "evidence for a trend of the spread of {}", name);
  const auto put_change = [&](const Change& change, const char* of) {
    out.put(change.largest, "evidence for a change of {} {} at the best place", of, name);
    out.put(change.mean, "evidence for a change of {} {} at any place", of, name);
    out.put(change.place, "place of the change of {} {}", of, name);
  };
  put_change(change_of_mean(values), "the level of");
  put_change(change_of_mean(tame), "the level of asinh");
  put_change(change_of_mean(square), "the spread of");
  if (!typical.counts) return;
  std::vector<double> counts(values);
  for (double& value : counts) value = std::max(0.0, value * typical.scale + typical.centre);
  if (typical.levels.size() == 2 && typical.levels.back() == 1) {
    put_change(change_of_share(counts), "the share of");
  } else {
    put_change(change_of_rate(counts), "the rate of");
  }
}

void RichStatistics::transitions(const Typical& typical, const std::vector<double>& values,
                                 Collector& out) const {
  const auto is = [&](double x, float level) {
    return std::fabs(x * typical.scale + typical.centre - level) < 1e-6 * (1 + std::fabs(level));
  };
  for (const float from : typical.levels) {
    for (const float to : typical.levels) {
      double count = 0;
      for (std::size_t i = 1; i < values.size(); ++i)
        count += is(values[i - 1], from) && is(values[i], to) ? 1 : 0;
      out.put(count, "number of steps of {} from {} to {}", typical.name, from, to);
    }
  }
}

void RichStatistics::memory(const Typical& typical, const std::vector<double>& values, Collector& out) const {
  std::vector<std::int64_t> codes;
  for (const double value : values) {
    const auto x = static_cast<float>(value * typical.scale + typical.centre);
    const auto nearest =
        std::min_element(typical.levels.begin(), typical.levels.end(),
                         [&](float a, float b) { return std::fabs(a - x) < std::fabs(b - x); });
    codes.push_back(nearest - typical.levels.begin());
  }
  const std::size_t L = typical.levels.size();
  std::vector<double> counts(L * L * L);
  const auto evidence = [&](int back) {
    return memory_evidence(codes, static_cast<std::int64_t>(L), back, counts);
  };
  const double none = evidence(0), one = evidence(1);
  out.put(one - none, "evidence that {} depends on the one before", typical.name);
  out.put(evidence(2) - one, "evidence that {} depends on the two before", typical.name);
  std::vector<Stays> stays(L);
  find_stays(codes, stays);
  for (std::size_t k = 0; k < L; ++k) {
    out.put(stays[k].ageing(), "evidence that how long {} stays {} depends on how long it has", typical.name,
            typical.levels[k]);
    out.put(stays[k].logs / std::max(stays[k].count, 1.0), "mean log time for which {} stays {}",
            typical.name, typical.levels[k]);
  }
}

void RichStatistics::waves(const Typical& typical, std::vector<double> tame, Collector& out) const {
  const Moments all = moments(tame);
  const double unit = all.variance > 0 ? 1 / (all.variance * static_cast<double>(tame.size())) : 0;
  for (double& value : tame) value -= all.mean;
  std::array<double, kWaveLengths> strengths;
  wave_strengths(tame, strengths);
  for (int k = 1; k <= kWaveLengths; ++k) {
    out.put(strengths[static_cast<std::size_t>(k - 1)] * unit, "strength of waves of {} with period {:.3g}",
            typical.name, wave_period(k));
  }
  out.put(static_cast<double>(std::max_element(strengths.begin(), strengths.end()) - strengths.begin() + 1),
          "frequency of the strongest wave of {}", typical.name);
}

void RichStatistics::lagged_pairs(const Values& data, Collector& out) const {
  std::size_t count = 0;
  for (std::size_t a = 0; a < columns_.size(); ++a) {
    for (std::size_t b = 0; b < columns_.size(); ++b) {
      if (a == b || columns_[b].design || count == kMostLaggedPairs) continue;
      ++count;
      const std::size_t n = data.tame[a].size();
      const Both lagged = both(std::span(data.tame[a]).first(n - 1), std::span(data.tame[b]).subspan(1));
      out.put(correlation(lagged.a, lagged.b) * std::sqrt(static_cast<double>(lagged.a.size())),
              "correlation of {} with the next {} times root n", columns_[a].name, columns_[b].name);
      leads(data.plain[a], data.plain[b], columns_[a].name, columns_[b].name, out);
      delays(data.plain[a], data.plain[b], columns_[a].name, columns_[b].name, out);
    }
  }
}

// The next b on the present one, then on a, then on the product of both: what each explains beyond those
// before.
void RichStatistics::leads(const std::vector<double>& a, const std::vector<double>& b,
                           const std::string& of_a, const std::string& of_b, Collector& out) const {
  std::vector<std::vector<double>> variables(5);
  for (std::size_t t = 0; t + 1 < a.size(); ++t) {
    if (std::isnan(a[t]) || std::isnan(b[t]) || std::isnan(b[t + 1])) continue;
    variables[0].push_back(1);
    variables[1].push_back(b[t]);
    variables[2].push_back(a[t]);
    variables[3].push_back(a[t] * b[t]);
    variables[4].push_back(b[t + 1]);
  }
  const auto n = static_cast<double>(variables[0].size());
  const std::vector<double> left = residuals(mean_products(variables), variables.size());
  const auto gain = [&](std::size_t k) { return 0.5 * n * (log_of(left[k]) - log_of(left[k + 1])); };
  out.put(gain(2), "evidence that {} leads {}", of_a, of_b);
  out.put(gain(3), "evidence that {} decides how {} goes on", of_a, of_b);
}

// What is new in b, so many rows after something was new in a.
void RichStatistics::delays(const std::vector<double>& a, const std::vector<double>& b,
                            const std::string& of_a, const std::string& of_b, Collector& out) const {
  const auto news = [](std::vector<double> x) {
    const std::vector<double> there = without_missing(x);
    const double mean = there.empty() ? 0 : mean_of(there);
    for (double& value : x) value -= mean;
    innovations(x, x);
    return x;
  };
  std::array<double, kLongestDelay + 1> correlations;
  delayed_correlations(news(a), news(b), correlations);
  const auto n = static_cast<double>(a.size());
  double best = 0;
  for (std::size_t lag = 0; lag <= kLongestDelay; ++lag) {
    const double gain = gain_of(correlations[lag] * correlations[lag], n);
    out.put(gain, "evidence that {} follows on {} after {} rows", of_b, of_a, lag);
    best = std::max(best, gain);
  }
  out.put(best, "evidence that {} follows on {} at all", of_b, of_a);
}

// Where one column says when: how long the others are remembered, and whether they drift.
void RichStatistics::fades(Matrix<const float> rows, Collector& out) const {
  std::vector<double> times, values;
  for (std::int64_t r = 0; r < rows.rows; ++r) times.push_back(rows.row(r)[structure_.time.column]);
  for (std::size_t c = 0; c < std::min(columns_.size(), kMostDescribed); ++c) {
    const Typical& typical = columns_[c];
    if (typical.design || static_cast<std::int64_t>(c) == structure_.time.column) continue;
    // Of more than two levels it is their order that would be remembered, which may mean nothing.
    if (!typical.levels.empty() && typical.levels.size() != 2) continue;
    values.clear();
    for (std::int64_t r = 0; r < rows.rows; ++r) values.push_back(rows.row(r)[c]);
    const FadingMemory memory = fading_memory(times, values, structure_.time.gap);
    for (std::size_t k = 0; k < kMemories; ++k) {
      out.put(memory.level[k], "evidence that {} is remembered for {:.3g}", typical.name,
              structure_.time.gap * memory_of(k));
    }
    const double level = FadingMemory::any(memory.level), line = FadingMemory::any(memory.line);
    out.put(level, "evidence that {} is remembered", typical.name);
    out.put(memory.line_alone, "evidence that {} drifts with time", typical.name);
    out.put(line, "evidence that {} drifts with time, or is remembered", typical.name);
    out.put(line - level, "evidence that {} drifts with time beyond memory", typical.name);
    comes_back(typical, times, values, out);
  }
}

void RichStatistics::comes_back(const Typical& typical, std::span<const double> times,
                                std::span<const double> values, Collector& out) const {
  std::vector<double> room(6 * values.size());
  const double gap = structure_.time.gap;
  put_periods(find_periods(times, values, gap, room), typical.name, gap, out);
}

void RichStatistics::put_periods(const Periods& found, const std::string& name, double shortest,
                                 Collector& out) const {
  for (std::size_t o = 0; o < kOctaves; ++o) {
    const double period = shortest * static_cast<double>(std::size_t{1} << o);
    out.put(found.octaves[o], "evidence that {} comes back after {:.3g} to {:.3g}", name, period, 2 * period);
  }
  out.put(found.any(), "evidence that {} comes back", name);
  out.put(found.best, "what the best period explains of {}", name);
  out.put(found.best_octave, "octave of the best period of {}", name);
}

// Whether a value follows otherwise on the one before it where that is large, or from some time on.
void RichStatistics::regimes(const Typical& typical, const std::vector<double>& values,
                             Collector& out) const {
  std::vector<Point> points;
  for (std::size_t i = 1; i < values.size(); ++i) points.push_back({values[i - 1], values[i]});
  const Shapes over_time = find_shapes(points);
  sort_by_x(points);
  const Shapes found = find_shapes(points);
  const std::string& name = typical.name;
  out.put(found.curve - found.line, "evidence that {} follows on itself along a curve", name);
  out.put(found.step - found.line, "evidence for a step in what follows on {}", name);
  out.put(found.bend - found.line, "evidence for a bend in what follows on {}", name);
  out.put(found.lines - found.line, "evidence that {} follows on itself otherwise where it was large", name);
  out.put(over_time.lines - over_time.line, "evidence that {} follows on itself otherwise from some time on",
          name);
  out.put(over_time.lines - found.lines, "evidence for that rather than for where {} was large", name);
}

// What one column is over another where that is more than a line.
void RichStatistics::shapes(Matrix<const float> rows, Collector& out) const {
  std::vector<Point> room(static_cast<std::size_t>(rows.rows));
  for (const ShapedColumns& columns : structure_.relations.shaped) {
    const Shapes found = find_shapes(points_by_x(rows, columns, room));
    const std::string of = fmt::format("{} over {}", columns_[static_cast<std::size_t>(columns.y)].name,
                                       columns_[static_cast<std::size_t>(columns.x)].name);
    out.put(found.line, "evidence for a line of {}", of);
    out.put(found.curve - found.line, "evidence for a curve of {} beside a line", of);
    out.put(found.step - found.line, "evidence for a step of {} beside a line", of);
    out.put(found.bend - found.line, "evidence for a bend of {}", of);
    out.put(found.lines - found.line, "evidence for two lines of {}", of);
    out.put(found.level_step, "evidence for a step of {}", of);
    out.put(found.step - found.curve, "evidence for a step rather than a curve of {}", of);
    out.put(found.bend - found.curve, "evidence for a bend rather than a curve of {}", of);
    out.put(found.step - found.bend, "evidence for a step rather than a bend of {}", of);
  }
}

// Whether columns of few values depend on each other.
void RichStatistics::tables(Matrix<const float> rows, Collector& out) const {
  const std::vector<std::int64_t>& tabled = structure_.relations.tabled;
  const std::size_t K = tabled.size(), n = static_cast<std::size_t>(rows.rows);
  if (K < 2) return;
  std::vector<std::int32_t> codes(K * n);
  std::vector<std::int64_t> categories;
  for (std::size_t k = 0; k < K; ++k)
    categories.push_back(categories_of(rows, tabled[k], kMostCategories, std::span(codes).subspan(k * n, n)));
  std::vector<double> gains(table_pairs(K) + table_triples(K));
  table_evidences(codes, categories, gains);
  const auto name = [&](std::size_t k) -> const std::string& {
    return columns_[static_cast<std::size_t>(tabled[k])].name;
  };
  std::size_t at = 0;
  for (std::size_t a = 0; a < K; ++a) {
    for (std::size_t b = a + 1; b < K; ++b)
      out.put(gains[at++], "evidence that {} and {} depend on each other", name(a), name(b));
  }
  for (std::size_t a = 0; a < K && table_triples(K) > 0; ++a) {
    for (std::size_t b = a + 1; b < K; ++b) {
      for (std::size_t c = 0; c < K; ++c) {
        if (c != a && c != b)
          out.put(gains[at++], "evidence that {} and {} depend on each other beside {}", name(a), name(b),
                  name(c));
      }
    }
  }
}

// Where columns say where: in what patches the others are alike.
void RichStatistics::patches(Matrix<const float> rows, Collector& out) const {
  std::vector<Placed> values;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Typical& typical = columns_[c];
    if (typical.design) continue;
    values.clear();
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const float* row = rows.row(r);
      if (!std::isnan(row[c])) values.push_back(placed(row, structure_.places, row[c]));
    }
    const Patches found = find_patches(values, structure_.places.columns.size());
    for (std::size_t k = 0; k < kPatches; ++k) {
      out.put(found.level[k], "evidence for patches of {} within {:.2g} that make {:.1f} of it", typical.name,
              patch_reach(k / kPatchShares.size()), kPatchShares[k % kPatchShares.size()]);
    }
    const double level = Patches::any(found.level), slope = Patches::any(found.slope);
    out.put(level, "evidence that {} is alike at near places", typical.name);
    out.put(found.slope_alone, "evidence for a slope of {} over places", typical.name);
    out.put(slope, "evidence that {} has a slope over places and is alike at near ones", typical.name);
    out.put(slope - found.slope_alone, "evidence that {} is alike at near places beyond a slope",
            typical.name);
  }
}

// Where a column says which rows belong together: by how much the others differ between these.
void RichStatistics::differences(const Values& data, Collector& out) const {
  std::size_t pairs = 0;
  for (const std::int64_t label : structure_.labels.columns) {
    const auto l = static_cast<std::size_t>(label);
    std::vector<std::int32_t> order(data.plain[l].size()), groups(order.size());
    std::vector<LabelMean> room(static_cast<std::size_t>(group_rows(data.plain[l], order, groups)));
    std::vector<LabelSums> sums(room.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c == l || columns_[c].design || pairs == kMostLabelled) continue;
      ++pairs;
      const BetweenLabels between = between_labels(groups, data.plain[c], room);
      for (std::size_t k = 0; k < kSpreadsBetween.size(); ++k) {
        out.put(between.gains[k],
                "evidence that {} differs between values of {} by {:.2g} standard deviations",
                columns_[c].name, columns_[l].name, std::sqrt(kSpreadsBetween[k]));
      }
      out.put(between.any(), "evidence that {} differs between values of {}", columns_[c].name,
              columns_[l].name);
      out.put(between.own_means, "what a mean for each value of {} explains of {}", columns_[l].name,
              columns_[c].name);
      out.put(spreads_between(groups, data.plain[c], sums).any(),
              "evidence that {} is spread more widely for some values of {}", columns_[c].name,
              columns_[l].name);
    }
  }
}

// And in how they go with each other.
void RichStatistics::slopes(const Values& data, Collector& out) const {
  for (const std::int64_t label : structure_.labels.columns) {
    const auto l = static_cast<std::size_t>(label);
    std::vector<std::int32_t> order(data.plain[l].size()), groups(order.size());
    std::vector<LineSums> room(static_cast<std::size_t>(group_rows(data.plain[l], order, groups)));
    std::size_t pairs = 0;
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      for (std::size_t y = 0; y < columns_.size(); ++y) {
        if (x == l || y == l || x == y || columns_[y].design || pairs == kMostLabelled) continue;
        ++pairs;
        const SlopesBetween found = slopes_between(groups, data.plain[x], data.plain[y], room);
        const std::string of = fmt::format("slopes of {} on {}", columns_[y].name, columns_[x].name);
        out.put(found.same, "evidence for {} beside {}", of, columns_[l].name);
        out.put(found.any(), "evidence for {} that differ between values of {}", of, columns_[l].name);
        out.put(found.any() - found.same, "evidence that {} differ between values of {}", of,
                columns_[l].name);
      }
    }
  }
}

// And where their rows follow on each other: whether values carry over.
void RichStatistics::carried(const Values& data, Collector& out) const {
  for (const LabelOrder& by : structure_.labels.orders) {
    const auto l = static_cast<std::size_t>(by.label);
    const std::size_t n = data.plain[l].size();
    std::vector<std::int32_t> row_room(n), groups(n);
    std::vector<LineSums> room(static_cast<std::size_t>(group_rows(data.plain[l], row_room, groups)));
    std::vector<double> times, time_room(n);
    if (by.column >= 0) {
      const Typical& time = columns_[static_cast<std::size_t>(by.column)];
      for (const double t : data.plain[static_cast<std::size_t>(by.column)]) times.push_back(t * time.scale);
    }
    const OrderedRows order = order_within(groups, times, by.gap, row_room, time_room);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c == l || static_cast<std::int64_t>(c) == by.column || columns_[c].design) continue;
      const CarryOver found = carry_over(order, groups, data.plain[c], room);
      const double level = CarryOver::any(found.level), line = CarryOver::any(found.line);
      const std::string& name = columns_[c].name;
      const std::string& of = columns_[l].name;
      out.put(level, "evidence that {} carries over within values of {}", name, of);
      out.put(found.line_alone, "evidence for a trend of {} within values of {}", name, of);
      out.put(line, "evidence that {} carries over and has a trend within values of {}", name, of);
      out.put(line - found.line_alone, "evidence that {} carries over beyond a trend within values of {}",
              name, of);
      out.put(line - level, "evidence for a trend of {} beyond what carries over within values of {}", name,
              of);
    }
  }
}

// Where two columns say which rows belong together: what each of them says beside the other.
void RichStatistics::crossings(const Values& data, Collector& out) const {
  const auto column = [&](std::int64_t c) -> const Typical& { return columns_[static_cast<std::size_t>(c)]; };
  for (const CrossedColumns& crossed : structure_.labels.crossings) {
    const std::vector<double>& first = data.plain[static_cast<std::size_t>(crossed.first)];
    const std::vector<double>& second = data.plain[static_cast<std::size_t>(crossed.second)];
    // Columns that name the same things are compared with each other, so back to what was given.
    std::vector<std::int32_t> groups(crossed_groups_room(first.size()));
    const TwoLabels labels =
        group_crossed(given(crossed.first, first), given(crossed.second, second), crossed.crossing, groups);
    const bool back = crossed.crossing == Crossing::returned;
    std::vector<std::int32_t> pair_room(returned_room(first.size()));
    const ReturnedPairs pairs =
        back ? returned_pairs(labels.first, labels.second, pair_room) : ReturnedPairs{};
    std::vector<double> room(back ? 4 * pairs.count : crossed_room(labels));
    const CrossedNames names(crossed, column(crossed.first).name, column(crossed.second).name);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto place = static_cast<std::int64_t>(c);
      if (place == crossed.first || place == crossed.second || columns_[c].design) continue;
      if (back) {
        const Returned found = returned(pairs, data.plain[c], room);
        out.put(std::copysign(found.gain(), found.correlation),
                "evidence that {} goes with what it is the other way around between {}", columns_[c].name,
                names.both);
        continue;
      }
      const CrossedGains gains = crossed_gains(labels, crossed.crossing, data.plain[c], room);
      put_crossing(crossed.crossing, gains, columns_[c], names, out);
    }
  }
}

std::vector<double> RichStatistics::given(std::int64_t c, std::vector<double> values) const {
  const Typical& typical = columns_[static_cast<std::size_t>(c)];
  for (double& value : values) value = std::round(value * typical.scale + typical.centre);
  return values;
}

RichStatistics::CrossedNames::CrossedNames(const CrossedColumns& crossed, const std::string& a,
                                           const std::string& b)
    : first(a), second(b), both(fmt::format("{} and {}", a, b)) {
  if (of_the_same(crossed.crossing))
    both += fmt::format(" ({})", kCrossings[static_cast<std::size_t>(crossed.crossing)]);
  if (crossed.crossing != Crossing::in_first && crossed.crossing != Crossing::in_second) return;
  first = fmt::format("pairs of {}", both);
  second = crossed.crossing == Crossing::in_first ? a : b;
  both = fmt::format("{} and {}", first, second);
}

void RichStatistics::put_crossing(Crossing crossing, const CrossedGains& gains, const Typical& typical,
                                  const CrossedNames& names, Collector& out) const {
  const bool same = of_the_same(crossing);
  const CrossedEvidence evidence = crossed_evidence(gains);
  out.put(same ? joint_evidence(gains) : evidence.both, "evidence that {} differs by {}", typical.name,
          names.both);
  if (!same) {
    out.put(evidence.both - evidence.first, "evidence that {} differs by {} beside {}", typical.name,
            names.second, names.first);
    out.put(evidence.both - evidence.second, "evidence that {} differs by {} beside {}", typical.name,
            names.first, names.second);
    out.put(evidence.first - evidence.second, "evidence that {} differs by {}, not by {}", typical.name,
            names.first, names.second);
  }
  for (const std::size_t k : kExplainedSpreads) {
    const CrossedGain& of = gains[same ? 0 : k][k];
    out.put(of.error > 0 ? (of.mean + typical.centre / typical.scale) / of.error : 0,
            "mean of {} in standard errors where it differs by {} by {:.2g} standard deviations",
            typical.name, names.both, std::sqrt(crossed_spread(k)));
    if (same)
      out.put(of.gain, "evidence that {} differs by {} by {:.2g} standard deviations", typical.name,
              names.both, std::sqrt(crossed_spread(k)));
  }
}

}  // namespace occam
