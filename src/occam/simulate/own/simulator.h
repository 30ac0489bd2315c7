// occam/simulator.h: for a model of your own in one C++ file. Needs nothing but a compiler. You write one
// function:
//
//   #include <occam/simulator.h>
//
//   bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
//     for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.normal(p["mu"], p["sigma"]);
//     return true;   // false: these parameters give no usable data; others are drawn
//   }
//
// It is called once for each data set and fills every cell of `out`: out.n() rows, out.columns() columns, by
// number or by name: out(i, "rt"). Where the problem file has a [design], the design columns are filled in
// already: out.design(i, "dose") reads one, and only the observed ones are to be written.
// Everything random has to come from rng, which is seeded anew for each data set. Several copies of the
// program that your file becomes run side by side, so nothing may be remembered from one call to the next.
// Exceptions become error messages. A main() of your own belongs between #ifndef OCCAM_WORKER and #endif.
//
// Where you know the exact answer, a second function says it: the log marginal likelihood of a data set under
// the priors of the problem file, in nats.
//
//   double log_evidence(const occam::Parameters& p, const occam::Data& data) {
//     double sum = 0;
//     for (long i = 0; i < data.n(); ++i) sum += data(i, 0);
//     return ...;  // p.is("flat") tells the model, p["sigma"] a parameter that the problem file holds fixed
//   }
#ifndef OCCAM_SIMULATOR_H
#define OCCAM_SIMULATOR_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

// What occam and the compiled file pass to each other: plain C.
extern "C" {
// One data set.
struct occam_request_v1 {
  const char* model;         // name of the model, as in the problem file
  const char* const* names;  // (parameters)
  const double* theta;       // (parameters); NaN: free, where an evidence is asked for
  std::int64_t parameters;
  std::uint64_t seed[2];
  std::int64_t n;        // rows
  std::int64_t columns;  // of each row
  const char* const* column_names;  // (columns)
  const char* design;    // (columns) 1 where the column holds the design that is given
  float* out;            // (n, columns), row after row; the data themselves where an evidence is asked for
  char* message;         // of message_size bytes: why it failed
  std::int64_t message_size;
};

// What a worker is asked to do.
enum occam_task { OCCAM_SIMULATE = 0, OCCAM_EVIDENCE = 1 };

// At the front of the memory that occam shares with the worker: data sets of one model. Names of arrays are
// places, in bytes from the front.
struct occam_work_v2 {
  std::int64_t bytes;       // of the whole memory
  std::int64_t task;        // occam_task
  std::int64_t sets;        // B
  std::int64_t parameters;  // P
  std::int64_t columns;     // D
  std::int64_t model;       // text
  std::int64_t names;       // P texts, one after the other
  std::int64_t column_names;  // D texts
  std::int64_t design;      // char (D): 1 where the column is given; its cells stand in `out`
  std::int64_t theta;       // double (B, P)
  std::int64_t seeds;       // uint64 (B, 2)
  std::int64_t n;           // int64 (B)
  std::int64_t out;         // float (sum of n, D)
  std::int64_t evidences;   // double (B): answers of OCCAM_EVIDENCE
  std::int64_t answers;     // int64 (B): 1 done, 0 no usable data or no log_evidence(), -1 failed: then no more
  std::int64_t at;          // the data set in hand
  char message[512];        // why it failed
};
}

#ifndef OCCAM_HOST  // all below is for your file, not for the program that loads it

namespace occam {
namespace detail {

// Simulators look names up in their innermost loops, and most names differ in their first letters.
inline bool is(const char* text, std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (text[i] != name[i] || text[i] == '\0') return false;
  }
  return text[name.size()] == '\0';
}

}  // namespace detail

// The parameters of one data set, by the names they have in the problem file.
class Parameters {
 public:
  explicit Parameters(const occam_request_v1& request) : request_(request) {}

  double operator[](std::string_view name) const {
    for (std::int64_t i = 0; i < request_.parameters; ++i) {
      if (!detail::is(request_.names[i], name)) continue;
      if (!std::isnan(request_.theta[i])) return request_.theta[i];
      throw std::out_of_range("parameter '" + std::string(name) + "' of model '" + request_.model +
                              "' is free: it has a prior, not a value");
    }
    throw std::out_of_range("the problem file gives model '" + std::string(request_.model) +
                            "' no parameter '" + std::string(name) + "'");
  }
  bool has(std::string_view name) const {
    for (std::int64_t i = 0; i < request_.parameters; ++i) {
      if (detail::is(request_.names[i], name)) return true;
    }
    return false;
  }
  // The name of the model, for a file that simulates several.
  const char* model() const { return request_.model; }
  bool is(std::string_view model) const { return detail::is(request_.model, model); }

 private:
  const occam_request_v1& request_;
};

// The data set to fill.
class Rows {
 public:
  explicit Rows(const occam_request_v1& request)
      : request_(request),
        data_(request.out),
        n_(static_cast<long>(request.n)),
        columns_(static_cast<long>(request.columns)) {}

  long n() const { return n_; }
  long columns() const { return columns_; }
  float& operator()(long row, long column) {
    if (row < 0 || row >= n_ || column < 0 || column >= columns_) {
      throw std::out_of_range("cell (" + std::to_string(row) + ", " + std::to_string(column) +
                              ") of a data set with " + std::to_string(n_) + " rows and " +
                              std::to_string(columns_) + " columns");
    }
    return data_[row * columns_ + column];
  }
  float& operator()(long row, std::string_view column) { return (*this)(row, place(column)); }
  float* row(long row) { return &(*this)(row, 0); }

  // What the experimenter set in this row.
  float design(long row, std::string_view column) {
    const long at = place(column);
    if (request_.design[at] == 0) {
      throw std::out_of_range("column '" + std::string(column) +
                              "' is not given: the problem file has no [design] for it");
    }
    return (*this)(row, at);
  }

 private:
  long place(std::string_view column) const {
    for (long c = 0; c < columns_; ++c) {
      if (detail::is(request_.column_names[c], column)) return c;
    }
    throw std::out_of_range("the problem file has no column '" + std::string(column) + "'");
  }

  const occam_request_v1& request_;
  float* data_;
  long n_, columns_;
};

// A data set to look at.
class Data {
 public:
  explicit Data(const occam_request_v1& request) : rows_(request) {}

  long n() const { return rows_.n(); }
  long columns() const { return rows_.columns(); }
  float operator()(long row, long column) const { return rows_(row, column); }
  float operator()(long row, std::string_view column) const { return rows_(row, column); }

 private:
  mutable Rows rows_;
};

// Random numbers: xoshiro256++ (Blackman & Vigna 2019), seeded by splitmix64.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) {
    std::uint64_t x = seed;
    for (int i = 0; i < 4; ++i) {
      state_[i] = mix(x += 0x9e3779b97f4a7c15u);
      if (i == 1) x ^= stream;
    }
  }

  // A UniformRandomBitGenerator, for the distributions of <random>.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<std::uint64_t>::max(); }
  result_type operator()() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // In (0, 1), neither end.
  double uniform() { return (static_cast<double>((*this)() >> 12) + 0.5) * 0x1p-52; }
  double uniform(double low, double high) {
    if (low > high) refuse("uniform: low must not be above high");
    return low + (high - low) * uniform();
  }
  bool bernoulli(double p) {
    if (!is_probability(p)) refuse("bernoulli: p must be in 0..1");
    return uniform() < p;
  }
  // An integer in low..high.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    if (low > high) refuse("integer: low must not be above high");
    const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    if (span == 0) return static_cast<std::int64_t>((*this)());
    const std::uint64_t even = max() - max() % span;  // redrawn above, so that all are equally likely
    std::uint64_t bits = (*this)();
    while (bits >= even) bits = (*this)();
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + bits % span);
  }
  // Polar method (Marsaglia & Bray 1964), two at a time.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u, v, s;
    do {
      u = 2.0 * uniform() - 1.0;
      v = 2.0 * uniform() - 1.0;
      s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(s) / s);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }
  double normal(double mean, double sd) {
    if (sd < 0.0) refuse("normal: the standard deviation must not be below 0");
    return mean + sd * normal();
  }
  double exponential(double rate = 1.0) {
    if (rate < 0.0) refuse("exponential: the rate must not be below 0");
    return -std::log(uniform()) / rate;
  }
  // Marsaglia & Tsang 2001; mean shape * scale.
  double gamma(double shape, double scale = 1.0) {
    if (!(shape > 0.0)) refuse("gamma: the shape must be above 0");
    if (scale < 0.0) refuse("gamma: the scale must not be below 0");
    if (shape < 1.0) return gamma(shape + 1.0, scale) * std::exp(-exponential() / shape);
    const double d = shape - 1.0 / 3.0;
    const double c = 1.0 / std::sqrt(9.0 * d);
    for (;;) {
      const double x = normal();
      const double root = 1.0 + c * x;
      if (root <= 0.0) continue;
      const double v = root * root * root;
      if (std::log(uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return scale * d * v;
    }
  }
  double beta(double a, double b) {
    const double x = gamma(a);
    return x / (x + gamma(b));
  }
  // Trials are halved through the order statistics of uniforms (Devroye 1986, X.4), then counted.
  std::int64_t binomial(std::int64_t trials, double p) {
    if (trials < 0) refuse("binomial: the number of trials must not be below 0");
    if (!is_probability(p)) refuse("binomial: p must be in 0..1");
    std::int64_t successes = 0;
    while (trials > 16) {
      const std::int64_t middle = trials / 2 + 1;
      const double y = beta(static_cast<double>(middle), static_cast<double>(trials + 1 - middle));
      if (y <= p) {
        successes += middle;
        trials -= middle;
        p = (p - y) / (1.0 - y);
      } else {
        trials = middle - 1;
        p = p / y;
      }
    }
    for (; trials > 0; --trials) successes += uniform() < p ? 1 : 0;
    return successes;
  }
  // Large means are split: a gamma tells when the k-th event comes (Ahrens & Dieter 1974).
  std::int64_t poisson(double mean) {
    if (!(mean >= 0.0 && mean < 1e15)) refuse("poisson: the mean must be in 0..1e15");
    std::int64_t events = 0;
    while (mean > 16.0) {
      const auto k = static_cast<std::int64_t>(0.875 * mean);
      const double time = gamma(static_cast<double>(k));
      if (time > mean) return events + binomial(k - 1, mean / time);
      events += k;
      mean -= time;
    }
    for (double below = uniform(), floor = std::exp(-mean); below > floor; below *= uniform()) ++events;
    return events;
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(const char* why) {
    throw std::invalid_argument(why);
  }
  // Sums of probabilities may lie beyond the ends by what rounding does.
  static bool is_probability(double p) { return p >= -1e-9 && p <= 1.0 + 1e-9; }
  static std::uint64_t rotate(std::uint64_t x, int k) { return x << k | x >> (64 - k); }
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  std::uint64_t state_[4];
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace occam

// Yours.
bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out);
// Yours too, if you like: weak, so that a file without it links.
__attribute__((weak)) double log_evidence(const occam::Parameters& p, const occam::Data& data);

namespace occam {

// -1 and a message where `call` throws.
template <class Call>
int guarded(const occam_request_v1& request, const Call& call) {
  const auto fail = [&request](const char* why) {
    std::strncpy(request.message, why, static_cast<std::size_t>(request.message_size - 1));
    request.message[request.message_size - 1] = '\0';
    return -1;
  };
  try {
    return call();
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("an exception that is no std::exception");
  }
}

}  // namespace occam

// What the worker calls: 1 data, 0 no usable data, -1 an exception.
extern "C" __attribute__((visibility("default"), used)) inline int occam_simulate_v1(
    const occam_request_v1* request) {
  return occam::guarded(*request, [request] {
    const occam::Parameters parameters(*request);
    occam::Random random(request->seed[0], request->seed[1]);
    occam::Rows rows(*request);
    return simulate(parameters, random, rows) ? 1 : 0;
  });
}

// 1 the evidence, 0 the file has no log_evidence(), -1 an exception. No data are certain: log evidence 0.
extern "C" __attribute__((visibility("default"), used)) inline int occam_evidence_v1(
    const occam_request_v1* request, double* evidence) {
  if (log_evidence == nullptr) return 0;
  return occam::guarded(*request, [request, evidence] {
    *evidence = request->n == 0 ? 0.0 : log_evidence(occam::Parameters(*request), occam::Data(*request));
    return 1;
  });
}

#endif  // OCCAM_HOST
#endif  // OCCAM_SIMULATOR_H
