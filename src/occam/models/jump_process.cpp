// Markov jump process: a well-stirred reaction network with mass-action kinetics, one exact path (Gillespie's
// direct method, 1977). Reaction r with rate theta_r fires with hazard
//   theta_r h_r(x),   h_r(x) = prod_s binomial(x_s, reactants_rs),   and then x += products_r - reactants_r.
// Rows, in order of time: t and the count of every species. Row 0 is the initial state (0, x_0), so that a
// path without an event is a data set too; each further row is the state after one event. The path ends at
// the time limit (later events are not seen) or when nothing can react any more. A path that needs more than
// n rows is no usable data: cut short, it could not be told from one that ran to the time limit.
//
// Exact evidence: with n_r events of reaction r and H_r the integral of h_r over the observed time,
//   p(path) = prod_events h  *  prod_r integral of theta^n_r exp(-theta H_r) prior_r(theta) dtheta.
//
// Problem jump-process: z + y -> 2 y against z -> y from (z, y) = (40, 3), theta ~ U(0, 100), time limit 0.1.
// Source: second study of Radev et al. 2021 (Amortized Bayesian model comparison with evidential deep
// learning), after Toni et al. 2009. Differences: none from the paper; its code keeps the first event past
// the time limit (variant as_run), repeats the last row up to 41 rows, and divides z and y by 41.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/special_functions/gamma.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/special.hpp"

namespace occam {
namespace {

constexpr std::size_t kMaxSpecies = 16;
constexpr std::size_t kMaxReactions = 64;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

using Counts = std::array<double, kMaxSpecies>;  // counts; doubles, because hazards multiply them

// ---- the network as a table
// ---------------------------------------------------------------------------------

struct Reaction {
  std::string text;                                  // "z + y -> 2 y"
  std::size_t rate = 0;                              // index of its parameter
  std::vector<std::pair<std::size_t, int>> uses;     // species and how many of it
  std::vector<std::pair<std::size_t, int>> changes;  // species and what is added; never empty

  // The hazard without its rate: the number of distinct sets of molecules that can react.
  double combinations(const Counts& x) const {
    double product = 1.0;
    for (const auto& [species, count] : uses) {
      for (int i = 0; i < count; ++i) product *= std::max(0.0, x[species] - i) / (i + 1);
    }
    return product;
  }
  void fire(Counts& x) const {
    for (const auto& [species, change] : changes) x[species] += change;
  }
};

struct ReactionNetwork {
  std::vector<std::string> species;
  Counts initial{};
  std::vector<std::string> rates;  // names of the parameters
  std::vector<Reaction> reactions;
};

std::string without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(without_blanks(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

// Up to six digits.
std::optional<int> whole_number(std::string_view text) {
  if (text.empty() || text.size() > 6) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

// Reads the two texts of a problem file:  initial = "z = 40, y = 3",
// reactions = "theta: z + y -> 2 y; k: y -> 0"  (nothing is written 0).
class NetworkReader {
 public:
  ReactionNetwork read(const std::string& initial, const std::string& reactions) {
    for (const std::string& part : parts_of(initial, ',')) read_count(part);
    for (const std::string& part : parts_of(reactions, ';')) read_reaction(part);
    return std::move(network_);
  }

 private:
  [[noreturn]] static void fail(std::string_view key, std::string_view part, std::string_view expected) {
    throw Error(ErrorKind::bad_config, "{}: '{}' is not {}", key, part, expected);
  }

  void read_count(const std::string& part) {
    const auto sides = parts_of(part, '=');
    const auto count = sides.size() == 2 ? whole_number(sides[1]) : std::nullopt;
    if (!count || !is_name(sides[0])) fail("initial", part, "a species and its count, such as z = 40");
    if (sides[0] == "t" || find_species(sides[0])) fail("initial", part, "a new name (t is the time)");
    if (network_.species.size() == kMaxSpecies) {
      throw Error(ErrorKind::bad_config, "initial: more than {} species", kMaxSpecies);
    }
    network_.initial[network_.species.size()] = *count;
    network_.species.push_back(sides[0]);
  }

  void read_reaction(const std::string& part) {
    const auto colon = part.find(':');
    const auto arrow = part.find("->");
    if (colon == std::string::npos || arrow == std::string::npos || arrow < colon) {
      fail("reactions", part, "a rate and a reaction, such as theta: z + y -> 2 y");
    }
    if (network_.reactions.size() == kMaxReactions) {
      throw Error(ErrorKind::bad_config, "reactions: more than {}", kMaxReactions);
    }
    Reaction reaction;
    reaction.text = without_blanks(std::string_view(part).substr(colon + 1));
    reaction.rate = rate_index(without_blanks(std::string_view(part).substr(0, colon)), part);
    const auto uses = read_side(part, std::string_view(part).substr(colon + 1, arrow - colon - 1));
    const auto makes = read_side(part, std::string_view(part).substr(arrow + 2));
    for (std::size_t s = 0; s < network_.species.size(); ++s) {
      if (uses[s] > 0) reaction.uses.emplace_back(s, uses[s]);
      if (makes[s] != uses[s]) reaction.changes.emplace_back(s, makes[s] - uses[s]);
    }
    if (reaction.changes.empty()) fail("reactions", part, "a reaction that changes a count");
    network_.reactions.push_back(std::move(reaction));
  }

  // How many of each species one side of a reaction names.
  std::array<int, kMaxSpecies> read_side(const std::string& part, std::string_view side) const {
    std::array<int, kMaxSpecies> counts{};
    if (without_blanks(side) == "0") return counts;
    for (const std::string& term : parts_of(side, '+')) {
      const auto letter = std::min(term.find_first_not_of("0123456789 "), term.size());
      const std::string factor = without_blanks(std::string_view(term).substr(0, letter));
      const auto count = factor.empty() ? 1 : whole_number(factor);
      const auto species = find_species(std::string_view(term).substr(letter));
      if (!count || *count < 1 || !species) {
        fail("reactions", part,
             fmt::format("understood at '{}': terms are 0, a species of initial, or 2 y", term));
      }
      counts[*species] += *count;
    }
    return counts;
  }

  std::size_t rate_index(const std::string& name, const std::string& part) {
    // Keys of a model's table in a problem file: a parameter of that name could not be set.
    for (const std::string_view reserved : {"family", "prior_probability", "settings", "simulator"}) {
      if (name == reserved) fail("reactions", part, "a reaction whose rate has a name of its own");
    }
    if (!is_name(name)) fail("reactions", part, "a rate and a reaction, such as theta: z + y -> 2 y");
    auto& rates = network_.rates;
    const auto found = std::find(rates.begin(), rates.end(), name);
    if (found != rates.end()) return static_cast<std::size_t>(found - rates.begin());
    rates.push_back(name);
    return rates.size() - 1;
  }

  std::optional<std::size_t> find_species(std::string_view name) const {
    const auto found = std::find(network_.species.begin(), network_.species.end(), name);
    if (found == network_.species.end()) return std::nullopt;
    return static_cast<std::size_t>(found - network_.species.begin());
  }

  ReactionNetwork network_;
};

// ---- the integral over a rate
// -------------------------------------------------------------------------------

// log of the lower incomplete gamma function g(s, x) for s >= 1, also where it underflows.
double log_gamma_lower(double s, double x) {
  if (x <= 0.0) return -kUnbounded;
  if (x > s + 1.0) return std::log(boost::math::gamma_p(s, x)) + log_gamma(s);
  // x^s exp(-x) / s (1 + x/(s+1) + x^2/((s+1)(s+2)) + ...): all terms positive, falling since x < s + 1.
  double sum = 1.0;
  double term = 1.0;
  for (double k = 1.0; term > 1e-17 * sum; ++k) sum += term *= x / (s + k);
  return s * std::log(x) - x - std::log(s) + std::log(sum);
}

// log of the upper incomplete gamma function for s >= 1, also in the far tail.
double log_gamma_upper(double s, double x) {
  if (x < s + 1.0) return std::log(boost::math::gamma_q(s, x)) + log_gamma(s);
  // Legendre's continued fraction by Lentz's method (Press et al., Numerical Recipes, 6.2).
  double b = x + 1.0 - s;
  double c = 1e300;
  double d = 1.0 / b;
  double fraction = d;
  for (int i = 1; i < 10000; ++i) {
    const double a = -i * (i - s);
    b += 2.0;
    d = 1.0 / (a * d + b);
    c = b + a / c;
    fraction *= d * c;
    if (std::fabs(d * c - 1.0) < 1e-15) break;
  }
  return s * std::log(x) - x + std::log(fraction);
}

double log_difference(double a, double b) {  // log(exp(a) - exp(b)), a >= b
  return a + std::log(-std::expm1(b - a));
}

// log of the integral of theta^n exp(-theta H) over a..b, 0 <= a < b.
double log_power_integral(double n, double H, double a, double b) {
  const double s = n + 1.0;
  if (H <= 0.0) {
    const double whole = s * std::log(b);
    return (a > 0.0 ? log_difference(whole, s * std::log(a)) : whole) - std::log(s);
  }
  // Right of the peak the upper tails differ, left of it the lower ones do.
  const double value = a * H > s ? log_difference(log_gamma_upper(s, a * H), log_gamma_upper(s, b * H))
                       : a > 0.0 ? log_difference(log_gamma_lower(s, b * H), log_gamma_lower(s, a * H))
                                 : log_gamma_lower(s, b * H);
  return value - s * std::log(H);
}

// log of the integral of theta^n exp(-theta H) prior(theta), or nothing where it has no closed form.
std::optional<double> log_rate_integral(const Prior& prior, double n, double H) {
  const auto gamma = [&](double shape, double scale) {
    return log_gamma(shape + n) - log_gamma(shape) - shape * std::log(scale) -
           (shape + n) * std::log(H + 1.0 / scale);
  };
  switch (prior.kind()) {
    case PriorKind::fixed:
      return (n > 0.0 ? n * std::log(prior.argument(0)) : 0.0) - prior.argument(0) * H;
    case PriorKind::uniform: {
      const double a = prior.argument(0);
      const double b = prior.argument(1);
      return log_power_integral(n, H, a, b) - std::log(b - a);
    }
    case PriorKind::gamma:
      return gamma(prior.argument(0), prior.argument(1));
    case PriorKind::exponential:
      return gamma(1.0, 1.0 / prior.argument(0));
    default:
      return std::nullopt;
  }
}

// ---- the family
// ---------------------------------------------------------------------------------------------

class JumpProcess : public Family {
 public:
  std::string name() const override { return "jump-process"; }
  std::string description() const override {
    return "path of a reaction network with mass-action kinetics (Gillespie)";
  }
  std::vector<Column> columns() const override {
    std::vector<Column> result = {{"t", "time of the event"}};
    for (const std::string& species : network_.species) result.push_back({species, "count after the event"});
    return result;
  }
  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> result;
    for (std::size_t i = 0; i < network_.rates.size(); ++i) {
      std::string text;
      for (const Reaction& reaction : network_.reactions) {
        if (reaction.rate == i) text += (text.empty() ? "" : ", ") + reaction.text;
      }
      result.push_back({network_.rates[i], "rate of " + text, 0.0, kUnbounded, Prior::uniform(0.0, 100.0)});
    }
    return result;
  }
  bool ordered() const override { return true; }

  Fields settings() override {
    return {field("reactions", reactions_, "rate and reaction, several apart by ';', nothing written 0"),
            field("initial", initial_, "species and their counts at time 0, in the order of the columns"),
            field("time_limit", time_limit_, "when the observation ends").above(0),
            field("event_past_limit", event_past_limit_, "whether the first event past the limit is a row")};
  }

  void configure() override {
    network_ = NetworkReader().read(initial_, reactions_);
    // Two reactions with the same effect cannot be told apart in a path. If they share their rate it does
    // not matter which one fired; if not, the evidence is a sum over all assignments, which is not computed.
    identified_ = true;
    for (const Reaction& a : network_.reactions) {
      for (const Reaction& b : network_.reactions) {
        if (a.changes == b.changes && a.rate != b.rate) identified_ = false;
      }
    }
  }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    Counts x = network_.initial;
    double t = 0.0;
    std::int64_t rows = write_row(out, 0, t, x);
    std::array<double, kMaxReactions> up_to;  // hazards, summed
    for (;;) {
      double total = 0.0;
      for (std::size_t r = 0; r < network_.reactions.size(); ++r) {
        const Reaction& reaction = network_.reactions[r];
        up_to[r] = total += theta[reaction.rate] * reaction.combinations(x);
      }
      if (!(total > 0.0)) return rows;
      t += rng.exponential() / total;
      const bool past = t > time_limit_;
      if (past && !event_past_limit_) return rows;
      if (rows == n) return 0;
      network_.reactions[pick(up_to, rng)].fire(x);
      rows = write_row(out, rows, t, x);
      if (past) return rows;
    }
  }

  std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const override {
    if (!identified_) return std::nullopt;
    for (const Prior& prior : priors) {
      if (!log_rate_integral(prior, 0.0, 1.0)) return std::nullopt;
    }
    if (data.n == 0) return 0.0;
    Path path(network_.rates.size());
    if (!follow(data, path)) return -kUnbounded;
    double total = path.log_combinations;
    for (std::size_t i = 0; i < priors.size(); ++i) {
      total += *log_rate_integral(priors[i], path.events[i], path.exposure[i]);
    }
    return total;
  }

  std::vector<Disturbance> disturbances() const override {
    // A reaction that none of the models has needs species z and y.
    const auto has = [&](const char* species) {
      return std::find(network_.species.begin(), network_.species.end(), species) != network_.species.end();
    };
    std::vector<Disturbance> result = {
        {"jitter", "times of events moved at random, by up to this part of the time limit", "", 0, 0.5,
         [limit = time_limit_](double part, Rng& rng, MutableData data) {
           for (std::int64_t i = 1; i < data.n; ++i) {
             const double moved = data.at(i, 0) + part * limit * rng.uniform(-1.0, 1.0);
             data.at(i, 0) = static_cast<float>(std::clamp(moved, 0.0, limit));
           }
           // Time runs forwards.
           std::vector<float> times;
           for (std::int64_t i = 1; i < data.n; ++i) times.push_back(data.at(i, 0));
           std::sort(times.begin(), times.end());
           for (std::int64_t i = 1; i < data.n; ++i) data.at(i, 0) = times[static_cast<std::size_t>(i - 1)];
         },
         nullptr}};
    if (has("z") && has("y")) {
      result.push_back({"third_reaction", "also z + y -> 3 y, with this rate", "", 0, 100, nullptr,
                        [](const Model& model, double rate) { return with_reaction(model, rate); }});
    }
    return result;
  }

 private:
  // The model with a further reaction of the given rate.
  static Model with_reaction(const Model& model, double rate) {
    nlohmann::json settings = model.family().settings_json();
    settings["reactions"] = settings["reactions"].get<std::string>() + "; third: z + y -> 3 y";
    Model::NamedPriors priors = {{"third", Prior::fixed(rate)}};
    for (std::size_t i = 0; i < model.parameters().size(); ++i)
      priors.emplace_back(model.parameters()[i].name, model.priors()[i]);
    return Model(model.name(), make_family("jump-process", settings, "third_reaction"), priors);
  }

  // What the evidence needs of a path.
  struct Path {
    explicit Path(std::size_t rates) : events(rates, 0.0), exposure(rates, 0.0) {}
    double log_combinations = 0.0;  // sum of log h over the events
    std::vector<double> events;     // (P) n
    std::vector<double> exposure;   // (P) H
  };

  std::size_t pick(const std::array<double, kMaxReactions>& up_to, Rng& rng) const {
    const std::size_t last = network_.reactions.size() - 1;
    if (last == 0) return 0;
    const double target = rng.uniform() * up_to[last];
    std::size_t r = 0;
    while (r < last && up_to[r] <= target) ++r;
    return r;
  }

  std::int64_t write_row(std::span<float> out, std::int64_t row, double t, const Counts& x) const {
    const std::size_t D = network_.species.size() + 1;
    float* at = out.data() + static_cast<std::size_t>(row) * D;
    at[0] = static_cast<float>(t);
    for (std::size_t s = 0; s + 1 < D; ++s) at[s + 1] = static_cast<float>(x[s]);
    return row + 1;
  }

  Counts counts(DataView data, std::int64_t row) const {
    Counts x{};
    for (std::size_t s = 0; s < network_.species.size(); ++s) {
      x[s] = data.at(row, static_cast<std::int64_t>(s) + 1);
      if (!(x[s] >= 0.0) || x[s] != std::floor(x[s])) {
        throw Error(ErrorKind::bad_data, "row {}: {} = {} is not a count, as family 'jump-process' needs",
                    row, network_.species[s], x[s]);
      }
    }
    return x;
  }

  // Sums up the path; false when the network cannot produce it.
  bool follow(DataView data, Path& path) const {
    Counts x = counts(data, 0);
    if (data.at(0, 0) != 0.0f || x != network_.initial) return false;
    double t = 0.0;
    for (std::int64_t row = 1; row < data.n; ++row) {
      const Counts after = counts(data, row);
      const double next = data.at(row, 0);
      if (!(next >= t)) {
        throw Error(ErrorKind::bad_data, "row {}: t = {} is before the row above ({})", row, next, t);
      }
      // Times were rounded to float: one just below the limit may lie just above it.
      const bool past = next > time_limit_ * (1.0 + 1e-6);
      if (past && !(event_past_limit_ && row + 1 == data.n)) return false;
      expose(x, next - t, path);
      if (!count_event(x, after, path)) return false;
      x = after;
      t = next;
    }
    if (t < time_limit_ && !event_past_limit_) expose(x, time_limit_ - t, path);
    // Where the first event past the limit is kept, a path ends there or when nothing can react any more.
    return !event_past_limit_ || t > time_limit_ * (1.0 - 1e-6) || !can_react(x);
  }

  bool can_react(const Counts& x) const {
    return std::any_of(network_.reactions.begin(), network_.reactions.end(),
                       [&](const Reaction& reaction) { return reaction.combinations(x) > 0.0; });
  }

  void expose(const Counts& x, double duration, Path& path) const {
    for (const Reaction& reaction : network_.reactions) {
      path.exposure[reaction.rate] += reaction.combinations(x) * duration;
    }
  }

  // Adds the event that led from x to `after`, or returns false where no reaction does.
  bool count_event(const Counts& x, const Counts& after, Path& path) const {
    double combinations = 0.0;
    std::size_t rate = 0;
    for (const Reaction& reaction : network_.reactions) {
      Counts fired = x;
      reaction.fire(fired);
      if (fired != after) continue;
      combinations += reaction.combinations(x);
      rate = reaction.rate;
    }
    if (!(combinations > 0.0)) return false;
    path.log_combinations += std::log(combinations);
    path.events[rate] += 1.0;
    return true;
  }

  std::string reactions_ = "theta: z + y -> 2 y";
  std::string initial_ = "z = 40, y = 3";
  double time_limit_ = 0.1;
  bool event_past_limit_ = false;

  ReactionNetwork network_;
  bool identified_ = true;
};

ProblemSpec jump_process(bool event_past_limit) {
  const auto family = [&](const char* reactions) {
    return make_family("jump-process", {{"reactions", reactions}, {"event_past_limit", event_past_limit}},
                       "jump-process");
  };
  ProblemSpec spec;
  spec.size = SizeDistribution::fixed(41);  // the start and at most one event for each of the 40 z
  spec.network = std::make_shared<const nlohmann::json>(nlohmann::json{{"architecture", "sequence"},
                                                                       {"inputs", "plain"},
                                                                       {"growth", false},
                                                                       {"statistics", false},
                                                                       {"lstm", 64},
                                                                       {"window", 0},
                                                                       {"filters", nlohmann::json::array()},
                                                                       {"kernels", nlohmann::json::array()},
                                                                       {"strides", nlohmann::json::array()},
                                                                       {"post_width", 64},
                                                                       {"post_layers", 2}});
  spec.train = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"optimiser", "adam"}, {"batch", 64}, {"iterations", 10000}, {"learning_rate", 2e-3}});
  // As published: one species at 20 times, mean absolute difference, minimum epsilon .7, 15 populations.
  spec.abc = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"summary", "time-grid points=20 columns=y end=0.1"},
                     {"distance", "mean-absolute"},
                     {"scale", false},
                     {"min_epsilon", 0.7},
                     {"populations", 15},
                     {"population_size", 500},
                     {"adaptive", true}});
  spec.models = {Model("autocatalysis", family("theta: z + y -> 2 y")),
                 Model("conversion", family("theta: z -> y"))};
  return spec;
}

}  // namespace

void register_jump_process(Catalogue& catalogue) {
  catalogue.families.add("jump-process", [] { return std::make_unique<JumpProcess>(); });
  catalogue.problems.add(
      "jump-process",
      {{{"", "Does a species turn into another by itself, or only on meeting it?",
         [] { return jump_process(false); }},
        {"as_run", "The same with the first event past the time limit, as in the authors' code",
         [] { return jump_process(true); }}}});
}

}  // namespace occam
