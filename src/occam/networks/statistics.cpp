#include "occam/networks/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "occam/data/periods.hpp"
#include "occam/data/returned.hpp"
#include "occam/data/slopes.hpp"
#include "occam/data/spreads.hpp"
#include "occam/data/sums.hpp"

namespace occam {
namespace {

// Pairs of more channels than this would be too many numbers to learn from.
constexpr std::int64_t kMostPaired = 10;
constexpr std::size_t kMostPartials = 96;  // for the same reason
constexpr std::int64_t kRowsBefore = 1;    // that a row is held against; with two, one was learned worse
constexpr std::int64_t kLongestDelay = 8;  // between channels
constexpr std::int64_t kMostDelays = 96;
constexpr std::int64_t kMostExplained = 12;  // pairs of channels, for every column of labels
constexpr std::int64_t kMostSlopes = 6;      // the same, of those whose slopes are looked at
constexpr double kTamed = 8;                 // nats from which on gains count less
constexpr std::int64_t kOrders = 3;          // of autoregressions
constexpr std::int64_t kLags = 6;
constexpr double kConstant = 1e-7;
constexpr std::int64_t kMostSymbols = 8;  // of which memory is looked at

double fisher(double r) {
  return std::atanh(std::clamp(r, -0.9999999, 0.9999999));
}
// On the scale on which evidence grows.
double grown(double r, double n) {
  return std::asinh(std::sqrt(n) * fisher(r));
}

// What a correlation gains in log-likelihood over none, twice; a line as long as little is known.
double tamed_gain(double r, std::int64_t n) {
  const double gain = -std::log1p(-std::min(r * r, 1 - 1e-9));
  return std::log1p(static_cast<double>(n) * gain / kTamed);
}

// Writes numbers one after the other; counts them where there is nothing to write to.
class Writer {
 public:
  explicit Writer(double* out) : out_(out) {}
  void operator()(double x) {
    if (out_ != nullptr) out_[count_] = std::isfinite(x) ? x : 0;
    ++count_;
  }
  void skip(std::int64_t count) {
    for (; count > 0; --count) (*this)(0);
  }
  std::int64_t count() const { return count_; }

 private:
  double* out_;
  std::int64_t count_ = 0;
};

// Of numbers that are all there.
double plain_correlation(const double* a, const double* b, std::int64_t n) {
  const auto mean = [=](const double* x) {
    return sum_of(n, [=](std::int64_t i) { return x[i]; }) / static_cast<double>(n);
  };
  const double ma = mean(a), mb = mean(b);
  const double aa = sum_of(n, [=](std::int64_t i) { return (a[i] - ma) * (a[i] - ma); });
  const double bb = sum_of(n, [=](std::int64_t i) { return (b[i] - mb) * (b[i] - mb); });
  const double ab = sum_of(n, [=](std::int64_t i) { return (a[i] - ma) * (b[i] - mb); });
  return aa * bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// Correlation of two columns of numbers where both are there.
double correlation(const double* a, const double* b, std::int64_t n) {
  if (n >= 2 && !std::isnan(sum_of(n, [=](std::int64_t i) { return a[i] + b[i]; })))
    return plain_correlation(a, b, n);
  double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0, count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    sa += a[i];
    sb += b[i];
    ++count;
  }
  if (count < 2) return 0;
  const double ma = sa / count;
  const double mb = sb / count;
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    saa += (a[i] - ma) * (a[i] - ma);
    sbb += (b[i] - mb) * (b[i] - mb);
    sab += (a[i] - ma) * (b[i] - mb);
  }
  const double product = saa * sbb;
  return product > 0 ? sab / std::sqrt(product) : 0;
}

// The channels of one data set, each as one array.
struct Channels {
  double* values;  // (E, n) relative to the data set: mean 0, spread 1; NaN where missing
  double* mean;    // (E)
  double* spread;  // (E)
  std::int64_t E, n;
  const double* of(std::int64_t e) const { return values + e * n; }
};

Channels channels_of(Matrix<const double> base, Workspace& workspace) {
  Channels c{workspace.take<double>(base.columns * base.rows), workspace.take<double>(base.columns),
             workspace.take<double>(base.columns), base.columns, base.rows};
  for (std::int64_t e = 0; e < c.E; ++e) {
    double* x = c.values + e * c.n;
    double sum = 0, squares = 0, count = 0;
    for (std::int64_t i = 0; i < c.n; ++i) {
      x[i] = base.row(i)[e];
      if (std::isnan(x[i])) continue;
      sum += x[i];
      ++count;
    }
    c.mean[e] = count > 0 ? sum / count : 0;
    for (std::int64_t i = 0; i < c.n; ++i) {
      x[i] -= c.mean[e];
      if (!std::isnan(x[i])) squares += x[i] * x[i];
    }
    c.spread[e] = count > 0 ? std::sqrt(squares / count) : 0;
    const double factor = c.spread[e] > kConstant ? 1 / c.spread[e] : 0;
    for (std::int64_t i = 0; i < c.n; ++i) x[i] *= factor;
  }
  return c;
}

// Sums of products of (1, x_{t-1}, ..., x_{t-kOrders}, x_t), over t from kOrders on, so that orders can be
// compared. (kRegressed, kRegressed), of which the lower half is filled.
constexpr std::int64_t kRegressed = kOrders + 2;
using LagMoments = std::array<double, static_cast<std::size_t>(kRegressed* kRegressed)>;

LagMoments moments_of_lags(const double* x, std::int64_t n) {
  constexpr std::int64_t K = kRegressed;
  const std::int64_t count = std::max<std::int64_t>(n - kOrders, 0);
  const auto lagged = [=](std::int64_t a) { return x + (a == K - 1 ? kOrders : kOrders - a); };
  LagMoments m{};
  m[0] = static_cast<double>(count);
  for (std::int64_t a = 1; a < K && count > 0; ++a) {
    const double* const one = lagged(a);
    m[static_cast<std::size_t>(a * K)] = sum_of(count, [=](std::int64_t i) { return one[i]; });
    for (std::int64_t b = 1; b <= a; ++b) {
      m[static_cast<std::size_t>(a * K + b)] = product_of(one, lagged(b), count);
    }
  }
  return m;
}

// Least squares of x_t on an intercept and its last p values, for p = 1 .. kOrders: what is left of the
// variance, and the coefficients of the largest. Of the values as they are, since a transformation would bend
// what is linear.
void autoregressions(Matrix<const float> raw, std::int64_t column, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const std::int64_t n = raw.rows;
  double* x = workspace.take<double>(n);
  double mean = 0, largest = 0, present = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = raw.row(i)[column];
    if (std::isnan(x[i])) continue;
    mean += x[i];
    ++present;
  }
  mean /= std::max(present, 1.0);
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = std::isnan(x[i]) ? 0 : x[i] - mean;
    largest = std::max(largest, std::abs(x[i]));
  }
  for (std::int64_t i = 0; i < n && largest > 0; ++i) x[i] /= largest;

  constexpr std::int64_t K = kRegressed;
  const LagMoments all = moments_of_lags(x, n);
  double before = NAN;
  for (std::int64_t p = 0; p <= kOrders; ++p) {
    // Of (1, x_{t-1}, ..., x_{t-p}, x_t).
    const std::int64_t k = p + 2;
    const auto place = [=](std::int64_t a) { return a + 1 < k ? a : K - 1; };
    LagMoments m{};
    for (std::int64_t a = 0; a < k; ++a) {
      for (std::int64_t b = 0; b <= a; ++b) {
        m[static_cast<std::size_t>(a * K + b)] = all[static_cast<std::size_t>(place(a) * K + place(b))];
      }
    }
    // Elimination of all but the last column leaves its residual sum of squares.
    std::array<double, K> coefficient{};
    LagMoments l{};
    double residual = 0;
    for (std::int64_t a = 0; a < k; ++a) {
      for (std::int64_t b = 0; b <= a; ++b) {
        double sum = m[static_cast<std::size_t>(a * K + b)];
        for (std::int64_t j = 0; j < b; ++j)
          sum -= l[static_cast<std::size_t>(a * K + j)] * l[static_cast<std::size_t>(b * K + j)];
        if (a == b) {
          residual = sum;
          l[static_cast<std::size_t>(a * K + a)] =
              sum > 1e-13 * m[static_cast<std::size_t>(a * K + a)] ? std::sqrt(sum) : 0;
        } else {
          const double pivot = l[static_cast<std::size_t>(b * K + b)];
          l[static_cast<std::size_t>(a * K + b)] = pivot > 0 ? sum / pivot : 0;
        }
      }
    }
    for (std::int64_t a = k - 2; a >= 0; --a) {
      double sum = l[static_cast<std::size_t>((k - 1) * K + a)];
      for (std::int64_t b = a + 1; b < k - 1; ++b)
        sum -= l[static_cast<std::size_t>(b * K + a)] * coefficient[static_cast<std::size_t>(b)];
      const double pivot = l[static_cast<std::size_t>(a * K + a)];
      coefficient[static_cast<std::size_t>(a)] = pivot > 0 ? sum / pivot : 0;
    }
    const double left = std::log(std::max(residual, 0.0) + 1e-15);
    if (p > 0) {
      const double gained = std::clamp(before - left, 0.0, 40.0);
      write(gained);
      write(std::asinh(std::sqrt(static_cast<double>(n) * gained)));
      for (std::int64_t lag = 1; lag <= p; ++lag)
        write(std::asinh(coefficient[static_cast<std::size_t>(lag)]));
      write(std::asinh(coefficient[0] * 10));
    } else {
      write(left);
    }
    before = left;
  }
  write(std::asinh(std::log(largest + 1e-30) / 4));
}

// Where a sum departs most from its straight line: a change of the mean.
void change(const double* x, std::int64_t n, Writer& write) {
  double total = 0, count = 0;
  for (std::int64_t i = 0; i < n; ++i) total += std::isnan(x[i]) ? 0 : x[i];
  double sum = 0, most = 0, place = 0, most_scaled = 0, place_scaled = 0;
  const auto length = static_cast<double>(n);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    sum += std::isnan(x[i]) ? 0 : x[i];
    ++count;
    const double departure = sum - total * count / length;
    if (std::abs(departure) > std::abs(most)) {
      most = departure;
      place = count / length;
    }
    const double scaled = departure / std::sqrt(count * (length - count) / length);
    if (std::abs(scaled) > std::abs(most_scaled)) {
      most_scaled = scaled;
      place_scaled = count / length;
    }
  }
  write(most / std::sqrt(length));
  write(place);
  write(most_scaled);
  write(std::abs(most_scaled));
  write(place_scaled);
}

void time_course(const Channels& c, std::int64_t e, bool many_values, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const double* x = c.of(e);
  const std::int64_t n = c.n;
  const auto length = static_cast<double>(n);
  for (std::int64_t lag = 1; lag <= kLags; ++lag) {
    const double r = n > lag + 1 ? correlation(x, x + lag, n - lag) : 0;
    write(fisher(r));
    write(grown(r, length));
  }
  double* other = workspace.take<double>(n);
  for (std::int64_t i = 0; i < n; ++i) other[i] = static_cast<double>(i) / length - 0.5;
  write(grown(correlation(x, other, n), length));
  for (std::int64_t i = 0; i < n; ++i) other[i] = other[i] * other[i];
  write(grown(correlation(x, other, n), length));
  change(x, n, write);
  if (!many_values) return;
  for (std::int64_t i = 0; i < n; ++i) other[i] = x[i] * x[i] - 1;
  change(other, n, write);
  write(grown(n > 2 ? correlation(other, other + 1, n - 1) : 0, length));
  for (std::int64_t i = 0; i + 1 < n; ++i) other[i] = x[i + 1] - x[i];
  double squares = 0, fourths = 0, count = 0;
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    if (std::isnan(other[i])) continue;
    const double square = other[i] * other[i];
    squares += square;
    fourths += square * square;
    ++count;
  }
  write(std::log(squares / std::max(count, 1.0) + 1e-6));
  write(std::log(fourths * std::max(count, 1.0) / std::max(squares * squares, 1e-12) + 0.1));
}

// What goes with what, and what follows on what: correlations of every channel with every other at the same
// step, one and two steps later.
void succession(const Channels& c, Writer& write) {
  if (c.E < 2 || c.E > kMostPaired) return;
  for (std::int64_t lag = 0; lag <= 2; ++lag) {
    for (std::int64_t a = 0; a < c.E; ++a) {
      for (std::int64_t b = 0; b < c.E; ++b) {
        if (a == b || (lag == 0 && b > a)) continue;
        const double r = c.n > lag + 1 ? correlation(c.of(a), c.of(b) + lag, c.n - lag) : 0;
        write(grown(r, static_cast<double>(c.n)));
      }
    }
  }
}

void waves(const Channels& c, std::int64_t e, Writer& write) {
  std::array<double, kWaveLengths> strengths;
  wave_strengths({c.of(e), static_cast<std::size_t>(c.n)}, strengths);
  for (const double strength : strengths) write(std::asinh(strength / static_cast<double>(c.n)));
}

// Channels first .. first + count - 1 are indicators of the symbols of one column; one alone has two, above
// and below its mean. -1: missing.
std::int64_t* symbols(const Channels& c, std::int64_t first, std::int64_t count, Workspace& workspace) {
  auto* codes = workspace.take<std::int64_t>(c.n);
  for (std::int64_t i = 0; i < c.n; ++i) {
    codes[i] = std::isnan(c.of(first)[i]) ? -1 : 0;
    if (codes[i] < 0) continue;
    if (count == 1) codes[i] = c.of(first)[i] > 0 ? 1 : 0;
    for (std::int64_t k = 1; k < count; ++k) {
      // Indicators have been moved and scaled: that of the symbol that is there is above its mean.
      if (c.of(first + k)[i] > 0) codes[i] = k;
    }
  }
  return codes;
}

// Behind the last of the channels that belong together from `first` on: the indicators of a column with few
// values. One of many values stands alone, and so does each of its atoms.
std::int64_t end_of_column(const std::vector<BaseChannel>& base, std::int64_t first) {
  const auto of = [&](std::int64_t e) { return base[static_cast<std::size_t>(e)]; };
  const bool atom = first > 0 && of(first - 1).column == of(first).column;
  std::int64_t end = first + 1;
  if (of(first).many_values || atom) return end;
  while (end < static_cast<std::int64_t>(base.size()) && of(end).column == of(first).column) ++end;
  return end;
}

// How far back the symbols of a column remember; from the third list on also per observation.
void memory(const Channels& c, const std::vector<BaseChannel>& base, bool gains, Workspace& workspace,
            Writer& write) {
  for (std::int64_t first = 0, end = 0; first < c.E; first = end) {
    end = end_of_column(base, first);
    const std::int64_t L = std::max<std::int64_t>(2, end - first);
    if (base[static_cast<std::size_t>(first)].many_values || L > kMostSymbols) continue;
    const Workspace::Scope scope(workspace);
    const std::int64_t* codes = symbols(c, first, end - first, workspace);
    const std::span<double> counts(workspace.take<double>(L * L * L), static_cast<std::size_t>(L * L * L));
    const auto evidence = [&](int back) {
      return memory_evidence({codes, static_cast<std::size_t>(c.n)}, L, back, counts);
    };
    const double none = evidence(0), one = evidence(1), two = evidence(2);
    for (const double gain : {one - none, two - one}) {
      write(std::asinh(gain));
      write(gain / std::sqrt(static_cast<double>(c.n)));
      if (gains) write(gain / static_cast<double>(c.n));
    }
  }
}

// What is gained by values before, by a wave, by a change of the mean or of the spread.
void gains(const Channels& c, std::int64_t e, bool many_values, Writer& write) {
  const auto n = static_cast<std::size_t>(c.n);
  const auto length = static_cast<double>(c.n);
  const std::span<const double> x(c.of(e), n);
  write(change_evidence(x) / length);
  if (!many_values) return;
  std::array<double, kPartialLags> partials;
  partial_autocorrelations(x, partials);
  for (const double partial : partials) write(std::log1p(-std::min(partial * partial, 1 - 1e-9)));
  std::array<double, kFineWaves> strengths;
  fine_wave_strengths(x, strengths);
  // Of a spread of 1 a pure wave has a strength of n^2 / 2.
  for (const double strength : strengths)
    write(std::log1p(-std::min(2 * strength / (length * length), 1 - 1e-4)));
  write(spread_change_evidence(x) / length);
}

// Centred, of length 1; 0 where it does not vary. Missing values count as the mean.
void normalise(std::span<double> x) {
  double sum = 0, squares = 0;
  for (double& value : x) sum += value = std::isnan(value) ? 0 : value;
  for (double& value : x) {
    value -= sum / static_cast<double>(x.size());
    squares += value * value;
  }
  const double factor = squares > kConstant ? 1 / std::sqrt(squares) : 0;
  for (double& value : x) value *= factor;
}

// Rows that have kRowsBefore others before them: their channels, then those of the rows before. (K, rows)
double* successions(const Channels& c, std::int64_t rows, Workspace& workspace) {
  double* const x = workspace.take<double>((1 + kRowsBefore) * c.E * rows);
  double* at = x;
  for (std::int64_t first = kRowsBefore; first >= 0; --first) {
    for (std::int64_t e = 0; e < c.E; ++e) {
      std::copy_n(c.of(e) + first, rows, at);
      normalise({at, static_cast<std::size_t>(rows)});
      at += rows;
    }
  }
  return x;
}

// What the other channels, and all of them before, say of every channel, beyond what some of them say.
void dependence(const Channels& c, const std::vector<PartialCorrelation>& list, Workspace& workspace,
                Writer& write) {
  const std::int64_t K = (1 + kRowsBefore) * c.E, rows = c.n - kRowsBefore;
  if (rows < 2) return write.skip(static_cast<std::int64_t>(list.size()));
  const Workspace::Scope scope(workspace);
  const double* const x = successions(c, rows, workspace);
  const std::span<double> r(workspace.take<double>(K * K), static_cast<std::size_t>(K * K));
  for (std::int64_t a = 0; a < K; ++a) {
    for (std::int64_t b = 0; b <= a; ++b) {
      r[static_cast<std::size_t>(a * K + b)] = r[static_cast<std::size_t>(b * K + a)] =
          product_of(x + a * rows, x + b * rows, rows);
    }
  }
  const std::span<double> out(workspace.take<double>(static_cast<std::int64_t>(list.size())), list.size());
  partial_correlations_of(list, static_cast<int>(K), r, out);
  for (const double partial : out) write(tamed_gain(partial, rows));
}

// What is new in one channel, so many steps after something was new in another.
void delays(const Channels& c, std::int64_t most, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const auto n = static_cast<std::size_t>(c.n);
  double* const x = workspace.take<double>(c.E * c.n);
  const auto of = [&](std::int64_t e) { return std::span<double>(x + e * c.n, n); };
  for (std::int64_t e = 0; e < c.E; ++e) innovations({c.of(e), n}, of(e));
  const std::span<double> out(workspace.take<double>(most + 1), static_cast<std::size_t>(most + 1));
  for (std::int64_t a = 0; a < c.E; ++a) {
    for (std::int64_t b = 0; b < c.E; ++b) {
      if (a == b) continue;
      delayed_correlations(of(a), of(b), out);
      for (std::int64_t lag = a < b ? 0 : 1; lag <= most; ++lag) {
        write(tamed_gain(out[static_cast<std::size_t>(lag)], c.n));
      }
    }
  }
}

// Of a series at irregular times: how long values are remembered, and whether they drift.
void memories(Matrix<const float> raw, const TimeColumn& time, std::span<const double> values,
              Workspace& workspace, Writer& write) {
  const std::span<double> t(workspace.take<double>(raw.rows), values.size());
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = raw.row(static_cast<std::int64_t>(i))[time.column];
  const FadingMemory memory = fading_memory(t, values, time.gap);
  const double level = FadingMemory::any(memory.level), line = FadingMemory::any(memory.line);
  for (const double gain : memory.level) write(std::asinh(gain / 2));
  for (const double gain : memory.line) write(std::asinh(gain / 2));
  for (const double gain : {memory.line_alone, level, line, line - level}) write(std::asinh(gain / 2));
}

void write_periods(const Periods& found, Writer& write) {
  for (const double gain : found.octaves) write(std::asinh(gain / 2));
  write(std::asinh(found.any() / 2));
  write(std::asinh(found.best / 2));
  write(found.best_octave);
}

// And whether they come back.
void periods(Matrix<const float> raw, const TimeColumn& time, std::span<const double> values,
             Workspace& workspace, Writer& write) {
  const auto n = static_cast<std::int64_t>(values.size());
  const std::span<double> t(workspace.take<double>(n), values.size());
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = raw.row(static_cast<std::int64_t>(i))[time.column];
  const std::span<double> room(workspace.take<double>(6 * n), 6 * values.size());
  write_periods(find_periods(t, values, time.gap, room), write);
}

// Values as they are, since a transformation would bend how they fade; from the fifth list on also symbols.
void with_times(const Channels& c, std::int64_t e, const BaseChannel& channel, StatisticsList list,
                const TimeColumn& time, Matrix<const float> raw, Workspace& workspace, Writer& write) {
  const bool of_symbols = list >= StatisticsList::with_delays && c.E <= kMostPaired;
  if (channel.column == time.column || (!channel.many_values && !of_symbols)) return;
  const Workspace::Scope scope(workspace);
  const auto n = static_cast<std::size_t>(c.n);
  const std::span<double> x(workspace.take<double>(c.n), n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = channel.many_values ? raw.row(static_cast<std::int64_t>(i))[channel.column] : c.of(e)[i];
  }
  memories(raw, time, x, workspace, write);
  if (list >= StatisticsList::with_periods) periods(raw, time, x, workspace, write);
}

// Where columns say where: in what patches the values of every other column are alike.
void patches(const Channels& c, const std::vector<BaseChannel>& base, const PlaceColumns& places,
             Matrix<const float> raw, Workspace& workspace, Writer& write) {
  for (std::int64_t e = 0; e < c.E; ++e) {
    const std::int64_t column = base[static_cast<std::size_t>(e)].column;
    if (std::find(places.columns.begin(), places.columns.end(), column) != places.columns.end()) continue;
    const Workspace::Scope scope(workspace);
    auto* const values = workspace.take<Placed>(c.n);
    std::size_t n = 0;
    for (std::int64_t i = 0; i < c.n; ++i) {
      if (!std::isnan(c.of(e)[i])) values[n++] = placed(raw.row(i), places, c.of(e)[i]);
    }
    const Patches found = find_patches({values, n}, places.columns.size());
    const double level = Patches::any(found.level), slope = Patches::any(found.slope);
    for (const double gain : found.level) write(std::asinh(gain / 2));
    for (const double gain : found.slope) write(std::asinh(gain / 2));
    for (const double gain : {found.slope_alone, level, slope, slope - level}) write(std::asinh(gain / 2));
  }
}

// Which rows of a data set belong together.
struct Groups {
  std::span<std::int32_t> of;  // each row
  std::int64_t count;
};

Groups groups_of(Matrix<const float> raw, std::int64_t label, Workspace& workspace) {
  const auto n = static_cast<std::size_t>(raw.rows);
  const std::span<std::int32_t> of(workspace.take<std::int32_t>(raw.rows), n);
  const Workspace::Scope scope(workspace);
  const std::span<std::int32_t> order(workspace.take<std::int32_t>(raw.rows), n);
  const std::span<double> labels(workspace.take<double>(raw.rows), n);
  for (std::size_t i = 0; i < n; ++i) labels[i] = raw.row(static_cast<std::int64_t>(i))[label];
  return {of, group_rows(labels, order, of)};
}

// Of every column but some: use(values), as it enters or, of indicators, as the numbers they stand for.
template <class Use>
void each_column(const Channels& c, const std::vector<BaseChannel>& base, std::span<const std::int64_t> but,
                 Matrix<const float> raw, Workspace& workspace, Use use) {
  for (std::int64_t first = 0, end = 0; first < c.E; first = end) {
    end = end_of_column(base, first);
    const std::int64_t column = base[static_cast<std::size_t>(first)].column;
    if (std::find(but.begin(), but.end(), column) != but.end()) continue;
    const Workspace::Scope scope(workspace);
    std::span<const double> values(c.of(first), static_cast<std::size_t>(c.n));
    if (end - first > 1) {
      double* const numbers = workspace.take<double>(c.n);
      for (std::int64_t i = 0; i < c.n; ++i) numbers[i] = raw.row(i)[column];
      values = {numbers, values.size()};
    }
    use(values, first);
  }
}

// Of at most so many pairs of channels of different columns, all but some: use(values, other values).
template <class Use>
void each_pair(const Channels& c, const std::vector<BaseChannel>& base, std::span<const std::int64_t> but,
               std::int64_t most, Use use) {
  const auto of = [&](std::int64_t e) { return base[static_cast<std::size_t>(e)].column; };
  const auto left_out = [&](std::int64_t e) { return std::find(but.begin(), but.end(), of(e)) != but.end(); };
  const auto values = [&](std::int64_t e) {
    return std::span<const double>(c.of(e), static_cast<std::size_t>(c.n));
  };
  std::int64_t pairs = 0;
  for (std::int64_t a = 0; a < c.E; ++a) {
    if (left_out(a)) continue;
    for (std::int64_t b = 0; b < c.E; ++b) {
      if (of(a) == of(b) || left_out(b)) continue;
      if (pairs++ == most) return;  // of thousands of channels the others are not even looked at
      use(values(a), values(b));
    }
  }
}

// By how much the values of every other column differ from label to label.
void differences(const Channels& c, const std::vector<BaseChannel>& base, std::int64_t label,
                 const Groups& groups, Matrix<const float> raw, Workspace& workspace, Writer& write) {
  each_column(c, base, {&label, 1}, raw, workspace, [&](std::span<const double> values, std::int64_t) {
    const std::span<LabelMean> labels(workspace.take<LabelMean>(groups.count),
                                      static_cast<std::size_t>(groups.count));
    const BetweenLabels between = between_labels(groups.of, values, labels);
    for (const double gain : between.gains) write(std::asinh(gain / 2));
    write(std::asinh(between.any() / 2));
    write(std::log1p(2 * between.own_means / kTamed));
    write(std::log1p(between.labels));
    write(std::log1p(between.partners));
  });
}

// What each other column explains of each, where rows of one label are alike to some degree.
void explanations(const Channels& c, const std::vector<BaseChannel>& base, std::int64_t label,
                  const Groups& groups, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const std::span<LabelSums> labels(workspace.take<LabelSums>(groups.count),
                                    static_cast<std::size_t>(groups.count));
  each_pair(c, base, {&label, 1}, kMostExplained, [&](auto x, auto y) {
    for (const double gain : explained_between_labels(groups.of, x, y, labels))
      write(std::log1p(2 * gain / kTamed));
  });
}

// Whether slopes of each column on each other differ from label to label.
void differing_slopes(const Channels& c, const std::vector<BaseChannel>& base, std::int64_t label,
                      const Groups& groups, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const std::span<LineSums> labels(workspace.take<LineSums>(groups.count),
                                   static_cast<std::size_t>(groups.count));
  each_pair(c, base, {&label, 1}, kMostSlopes, [&](auto x, auto y) {
    const SlopesBetween slopes = slopes_between(groups.of, x, y, labels);
    const double any = slopes.any();
    for (const double gain : slopes.spreads) write(std::asinh((gain - slopes.same) / 2));
    for (const double gain : {slopes.same, any, any - slopes.same}) write(std::asinh(gain / 2));
  });
}

// Whether the values of every other column of many values are spread more widely in some labels.
void differing_spreads(const Channels& c, const std::vector<BaseChannel>& base, std::int64_t label,
                       const Groups& groups, Matrix<const float> raw, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const std::span<LabelSums> labels(workspace.take<LabelSums>(groups.count),
                                    static_cast<std::size_t>(groups.count));
  each_column(c, base, {&label, 1}, raw, workspace, [&](std::span<const double> values, std::int64_t e) {
    if (!base[static_cast<std::size_t>(e)].many_values) return;
    const SpreadsBetween spreads = spreads_between(groups.of, values, labels);
    for (const double gain : spreads.shapes) write(std::asinh(gain / 2));
    write(std::asinh(spreads.any() / 2));
  });
}

// Whether values of every other column carry over from row to row of a label.
void carried(const Channels& c, const std::vector<BaseChannel>& base, const LabelOrder& order,
             const Groups& groups, Matrix<const float> raw, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const auto n = static_cast<std::size_t>(raw.rows);
  const auto room = [&](std::size_t size) {
    return std::span<double>(workspace.take<double>(static_cast<std::int64_t>(size)), size);
  };
  const std::span<double> times = room(order.column < 0 ? 0 : n);
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i] = raw.row(static_cast<std::int64_t>(i))[order.column];
  const OrderedRows rows =
      order_within(groups.of, times, order.gap, {workspace.take<std::int32_t>(raw.rows), n}, room(n));
  const std::span<LineSums> labels(workspace.take<LineSums>(groups.count),
                                   static_cast<std::size_t>(groups.count));
  const std::array<std::int64_t, 2> but = {order.label, order.column};
  each_column(c, base, but, raw, workspace, [&](std::span<const double> values, std::int64_t) {
    const CarryOver found = carry_over(rows, groups.of, values, labels);
    const double level = CarryOver::any(found.level), line = CarryOver::any(found.line);
    for (const double gain : found.level) write(std::asinh(gain / 2));
    for (const double gain : found.line) write(std::asinh((gain - found.line_alone) / 2));
    for (const double gain : {found.line_alone, level, line, line - found.line_alone, line - level})
      write(std::asinh(gain / 2));
  });
}

void write_shapes(const Shapes& of, Writer& write) {
  for (const double gain : {of.line, of.curve - of.line, of.level_step, of.step - of.line, of.bend - of.line,
                            of.lines - of.line, of.step - of.curve, of.bend - of.curve, of.step - of.bend})
    write(std::asinh(gain / 2));
}

// Whether a value follows otherwise on the one before it where that is large, or from some time on.
void regimes(Matrix<const float> raw, std::int64_t column, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const std::span<Point> room(workspace.take<Point>(raw.rows), static_cast<std::size_t>(raw.rows));
  std::size_t n = 0;
  for (std::int64_t i = 1; i < raw.rows; ++i) {
    const Point p{raw.row(i - 1)[column], raw.row(i)[column]};
    if (!std::isnan(p.x) && !std::isnan(p.y)) room[n++] = p;
  }
  const std::span<Point> points = room.first(n);
  const Shapes over_time = find_shapes(points);
  sort_by_x(points);
  const Shapes over_values = find_shapes(points);
  write_shapes(over_values, write);
  for (const double gain : {over_time.lines - over_time.line, over_time.step - over_time.line,
                            over_time.lines - over_values.lines})
    write(std::asinh(gain / 2));
}

// Whether values one gap after the other come back.
void even_periods(const Channels& c, std::int64_t e, Workspace& workspace, Writer& write) {
  const Workspace::Scope scope(workspace);
  const std::span<const double> values(c.of(e), static_cast<std::size_t>(c.n));
  const std::size_t size = even_room(values.size());
  write_periods(find_even_periods(values, {workspace.take<double>(static_cast<std::int64_t>(size)), size}),
                write);
}

// Where one column over another is more than a line.
void shapes(Matrix<const float> raw, const std::vector<ShapedColumns>& shaped, Workspace& workspace,
            Writer& write) {
  for (const ShapedColumns& columns : shaped) {
    const Workspace::Scope scope(workspace);
    const std::span<Point> room(workspace.take<Point>(raw.rows), static_cast<std::size_t>(raw.rows));
    write_shapes(find_shapes(points_by_x(raw, columns, room)), write);
  }
}

// Whether columns of few values depend on each other.
void tables(Matrix<const float> raw, const std::vector<std::int64_t>& tabled, Workspace& workspace,
            Writer& write) {
  if (tabled.size() < 2) return;
  const Workspace::Scope scope(workspace);
  const auto n = static_cast<std::size_t>(raw.rows);
  const std::span<std::int32_t> codes(
      workspace.take<std::int32_t>(raw.rows * static_cast<std::int64_t>(tabled.size())), n * tabled.size());
  std::array<std::int64_t, kMostTabled> categories{};
  for (std::size_t k = 0; k < tabled.size(); ++k)
    categories[k] = categories_of(raw, tabled[k], kMostCategories, codes.subspan(k * n, n));
  const std::size_t size = table_pairs(tabled.size()) + table_triples(tabled.size());
  const std::span<double> gains(workspace.take<double>(static_cast<std::int64_t>(size)), size);
  table_evidences(codes, std::span(categories).first(tabled.size()), gains);
  for (const double gain : gains) write(std::asinh(gain / 2));
}

// What one column of labels says of a value beside another one.
void write_apart(const CrossedEvidence& evidence, Writer& write) {
  // Differences: what one column adds is little beside what the other may explain.
  for (const double gain : evidence.of_first) write(std::asinh((gain - evidence.second) / 2));
  for (const double gain : evidence.of_second) write(std::asinh((gain - evidence.first) / 2));
  for (const double gain : {evidence.both - evidence.first, evidence.both - evidence.second,
                            evidence.first - evidence.second, evidence.both})
    write(std::asinh(gain / 2));
}

// And what is said of it where both columns name the same things.
void write_joint(const CrossedGains& joint, const CrossedEvidence& apart, Writer& write) {
  const double any = joint_evidence(joint);
  for (std::size_t k = 1; k < kCrossedSpreads; ++k) write(std::asinh(joint[0][k].gain / 2));
  for (const double gain : {any, any - apart.both, any - apart.first, any - apart.second})
    write(std::asinh(gain / 2));
}

// And where pairs of labels come first, labels of one column second.
void write_pairs(const CrossedEvidence& pairs, const CrossedEvidence& apart, Writer& write) {
  write_apart(pairs, write);
  for (const double other : {apart.first, apart.second, apart.both})
    write(std::asinh((pairs.both - other) / 2));
}

// What goes with what is said the other way around.
void write_returned(const Returned& of, Writer& write) {
  write(std::copysign(std::asinh(of.gain() / 2), of.correlation));
  write(grown(of.correlation, of.pairs));
  write(std::log1p(of.pairs));
}

// By how much a mean differs from any number, where labels differ: in its standard errors.
void write_level(const CrossedGain& of, double mean, double spread, Writer& write) {
  const double error = spread * of.error;
  write(error > kConstant ? std::asinh((mean + spread * of.mean) / error) : 0);
  write(std::log(error + kConstant));
}

// Two columns of labels beside each other: by how much values differ from label to label, how much each other
// column explains then, and what is left to say of means.
class Crossed {
 public:
  Crossed(const Channels& c, const std::vector<BaseChannel>& base, Matrix<const float> raw,
          Workspace& workspace)
      : c_(c), base_(base), raw_(raw), workspace_(workspace) {}

  // Of one pair of columns, which stand in all of these.
  void operator()(std::span<const CrossedColumns> ways, Writer& write) {
    const Workspace::Scope scope(workspace_);
    const std::array<std::int64_t, 2> both = {ways.front().first, ways.front().second};
    const std::span<const double> first = numbers(both[0]), second = numbers(both[1]);
    std::array<TwoLabels, kMostCrossings> labels{};
    ReturnedPairs pairs;
    std::size_t room_for = 0;
    for (std::size_t w = 0; w < ways.size(); ++w) {
      labels[w] = group(first, second, ways[w].crossing);
      const bool returned = ways[w].crossing == Crossing::returned;
      if (returned) pairs = pair_up(labels[w]);
      room_for = std::max(room_for, returned ? 4 * pairs.count : crossed_room(labels[w]));
    }
    const TwoLabels& apart = labels[0];  // which comes first
    const std::span<double> room = take(room_for);
    each_column(c_, base_, both, raw_, workspace_, [&](std::span<const double> values, std::int64_t e) {
      const auto at = static_cast<std::size_t>(e);
      const auto levels = [&](auto of) {
        for (std::size_t k = 1; k < kCrossedSpreads; ++k)
          write_level(of(k), c_.mean[at], c_.spread[at], write);
      };
      const CrossedGains beside = crossed_gains(apart, Crossing::apart, values, room);
      const CrossedEvidence evidence = crossed_evidence(beside);
      write_apart(evidence, write);
      levels([&](std::size_t k) { return beside[k][k]; });
      for (std::size_t w = 1; w < ways.size(); ++w) {
        if (ways[w].crossing == Crossing::returned) {
          write_returned(returned(pairs, values, room), write);
          continue;
        }
        const bool same = of_the_same(ways[w].crossing);
        const CrossedGains gains = crossed_gains(labels[w], ways[w].crossing, values, room);
        same ? write_joint(gains, evidence, write) : write_pairs(crossed_evidence(gains), evidence, write);
        levels([&](std::size_t k) { return gains[same ? 0 : k][k]; });
      }
    });
    explanations(both, apart, room, write);
  }

 private:
  std::span<double> take(std::size_t count) {
    return {workspace_.take<double>(static_cast<std::int64_t>(count)), count};
  }
  std::span<const double> numbers(std::int64_t column) {
    const std::span<double> values = take(static_cast<std::size_t>(raw_.rows));
    for (std::int64_t i = 0; i < raw_.rows; ++i) values[static_cast<std::size_t>(i)] = raw_.row(i)[column];
    return values;
  }
  TwoLabels group(std::span<const double> first, std::span<const double> second, Crossing crossing) {
    const std::size_t size = crossed_groups_room(first.size());
    return group_crossed(first, second, crossing,
                         {workspace_.take<std::int32_t>(static_cast<std::int64_t>(size)), size});
  }
  ReturnedPairs pair_up(const TwoLabels& labels) {
    const std::size_t size = returned_room(labels.first.size());
    return returned_pairs(labels.first, labels.second,
                          {workspace_.take<std::int32_t>(static_cast<std::int64_t>(size)), size});
  }
  void explanations(const std::array<std::int64_t, 2>& both, const TwoLabels& labels, std::span<double> room,
                    Writer& write) {
    each_pair(c_, base_, both, kMostExplained, [&](auto x, auto y) {
      for (const double gain : explained_between_crossed(labels, x, y, room))
        write(std::log1p(2 * gain / kTamed));
    });
  }

  const Channels& c_;
  const std::vector<BaseChannel>& base_;
  Matrix<const float> raw_;
  Workspace& workspace_;
};

struct Wanted {
  StatisticsList list;
  LabelList label_list;
  const std::vector<PartialCorrelation>& partials;
  std::int64_t delays;
  const Structure& structure;
};

void of_series(const Channels& c, const std::vector<BaseChannel>& base, const Wanted& wanted,
               Matrix<const float> raw, Workspace& workspace, Writer& write) {
  const StatisticsList list = wanted.list;
  for (std::int64_t e = 0; e < c.E; ++e) {
    const BaseChannel& channel = base[static_cast<std::size_t>(e)];
    write(c.mean[e]);
    write(std::log(c.spread[e] + kConstant));
    time_course(c, e, channel.many_values, workspace, write);
    if (channel.many_values) autoregressions(raw, channel.column, workspace, write);
  }
  succession(c, write);
  if (list == StatisticsList::first) return;
  for (std::int64_t e = 0; e < c.E; ++e) {
    if (base[static_cast<std::size_t>(e)].many_values) waves(c, e, write);
  }
  memory(c, base, list >= StatisticsList::with_gains, workspace, write);
  if (list < StatisticsList::with_gains) return;
  for (std::int64_t e = 0; e < c.E; ++e) gains(c, e, base[static_cast<std::size_t>(e)].many_values, write);
  if (!wanted.partials.empty()) dependence(c, wanted.partials, workspace, write);
  if (wanted.delays > 0) delays(c, wanted.delays, workspace, write);
  for (std::int64_t e = 0; e < c.E && list >= StatisticsList::with_shapes; ++e) {
    const BaseChannel& channel = base[static_cast<std::size_t>(e)];
    if (!channel.many_values || channel.column == wanted.structure.time.column) continue;
    regimes(raw, channel.column, workspace, write);
    if (wanted.structure.time.column < 0) even_periods(c, e, workspace, write);
  }
  for (std::int64_t e = 0; e < c.E && wanted.structure.time.column >= 0; ++e)
    with_times(c, e, base[static_cast<std::size_t>(e)], list, wanted.structure.time, raw, workspace, write);
}

void of_channels(const Channels& c, const std::vector<BaseChannel>& base, const Wanted& wanted,
                 Matrix<const float> raw, Workspace& workspace, Writer& write) {
  if (wanted.list != StatisticsList::none) of_series(c, base, wanted, raw, workspace, write);
  for (const std::int64_t label : wanted.structure.labels.columns) {
    const Workspace::Scope scope(workspace);
    const Groups groups = groups_of(raw, label, workspace);
    differences(c, base, label, groups, raw, workspace, write);
    explanations(c, base, label, groups, workspace, write);
    if (wanted.label_list < LabelList::with_slopes) continue;
    differing_slopes(c, base, label, groups, workspace, write);
    for (const LabelOrder& order : wanted.structure.labels.orders) {
      if (order.label == label) carried(c, base, order, groups, raw, workspace, write);
    }
    if (wanted.label_list >= LabelList::with_spreads)
      differing_spreads(c, base, label, groups, raw, workspace, write);
  }
  Crossed crossed(c, base, raw, workspace);
  const std::span<const CrossedColumns> crossings(wanted.structure.labels.crossings);
  for (std::size_t first = 0, end = 0; first < crossings.size(); first = end) {
    end = first + 1;
    while (end < crossings.size() && crossings[end].same_columns(crossings[first])) ++end;
    crossed(crossings.subspan(first, end - first), write);
  }
  if (!wanted.structure.places.columns.empty())
    patches(c, base, wanted.structure.places, raw, workspace, write);
}

void of_values(const Relations& relations, Matrix<const float> raw, Workspace& workspace, Writer& write) {
  shapes(raw, relations.shaped, workspace, write);
  tables(raw, relations.tabled, workspace, write);
}

}  // namespace

Statistics::Statistics(std::vector<BaseChannel> base, StatisticsList list, Structure structure,
                       LabelList label_list)
    : base_(std::move(base)), list_(list), label_list_(label_list), structure_(std::move(structure)) {
  const std::int64_t E = base_channels();
  // Indicators of one column say nothing of each other but what memory tells.
  const bool several = E > 0 && base_.front().column != base_.back().column;
  if (list_ >= StatisticsList::with_dependence && several) {
    partials_ =
        partial_correlations(static_cast<int>((1 + kRowsBefore) * E), static_cast<int>(E), kMostPartials);
  }
  if (list_ >= StatisticsList::with_delays && several)
    delays_ = std::min(kLongestDelay, kMostDelays / (E * (E - 1)));
  // How many there are follows from a data set of nothing.
  Workspace workspace;
  std::int64_t columns = 0;
  for (const BaseChannel& channel : base_) columns = std::max(columns, channel.column + 1);
  const Matrix<double> zeros = workspace.zeros<double>(1, E);
  const Matrix<float> raw = workspace.zeros<float>(1, columns);
  Writer count(nullptr);
  of_channels(channels_of(zeros, workspace), base_, {list_, label_list_, partials_, delays_, structure_}, raw,
              workspace, count);
  of_values(structure_.relations, raw, workspace, count);
  size_ = count.count();
}

void Statistics::of(Matrix<const double> base, Matrix<const float> raw, double* out,
                    Workspace& workspace) const {
  const Workspace::Scope scope(workspace);
  Writer write(out);
  if (reads_base()) {
    of_channels(channels_of(base, workspace), base_, {list_, label_list_, partials_, delays_, structure_},
                raw, workspace, write);
  }
  of_values(structure_.relations, raw, workspace, write);
}

}  // namespace occam
