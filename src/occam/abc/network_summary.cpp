// What a trained network makes of a data set: its summary layer, or its log model probabilities. The latter
// carry all that matters for the choice of a model, as far as the network has learned it.
#include <cmath>

#include <fmt/format.h>

#include "occam/abc/summary.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"

namespace occam {
namespace {

struct NetworkSummaryOptions {
  std::string output = "summary";
};

Fields fields(NetworkSummaryOptions& o) {
  return {field("output", o.output, "the summary layer, or the logarithms of the model probabilities")
              .one_of({"summary", "log-p"})};
}

class NetworkSummary : public Summary {
 public:
  NetworkSummary(const NetworkSummaryOptions& options, const SummaryContext& context)
      : log_p_(options.output == "log-p") {
    if (context.network.empty()) {
      throw Error(ErrorKind::usage,
                  "summary 'network' needs a network: --summary-network NET.occam (see `occam train`)");
    }
    comparator_ = std::make_unique<Comparator>(read_network_file(context.network), context.pool);
    const NetworkFile& file = comparator_->file();
    std::vector<std::string> columns;
    for (const Column& column : context.problem.columns()) columns.push_back(column.name);
    if (columns != file.columns) {
      throw Error(ErrorKind::bad_config, "{}: this network reads columns {}, problem '{}' has {}",
                  context.network, fmt::format("{}", fmt::join(file.columns, ", ")), context.problem.name(),
                  fmt::format("{}", fmt::join(columns, ", ")));
    }
    for (std::int64_t s = 0; !log_p_ && s < comparator_->summary_width(); ++s)
      names_.push_back(fmt::format("summary {}", s));
    for (std::size_t j = 0; log_p_ && j < file.model_names.size(); ++j)
      names_.push_back("log p of " + file.model_names[j]);
  }

  std::vector<std::string> names() const override { return names_; }
  bool takes_all_threads() const override { return true; }

  // Data sets without rows (failed simulations) get NaN.
  void of(std::span<const DataView> sets, std::span<float> out) const override {
    std::vector<float> rows;
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::size_t> kept;
    for (std::size_t b = 0; b < sets.size(); ++b) {
      if (sets[b].n == 0) continue;
      kept.push_back(b);
      rows.insert(rows.end(), sets[b].values().begin(), sets[b].values().end());
      offsets.push_back(offsets.back() + sets[b].n);
    }
    std::fill(out.begin(), out.end(), NAN);
    if (kept.empty()) return;
    const std::int64_t D = sets[kept.front()].D;
    const NetworkOutputs outputs = comparator_->outputs(
        {{rows.data(), offsets.back(), D, D}, offsets.data(), static_cast<std::int64_t>(kept.size())});
    const std::size_t S = names_.size();
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const std::span<float> to = out.subspan(kept[k] * S, S);
      if (log_p_) {
        log_probabilities({outputs.log_alpha.data() + k * S, S}, to);
      } else {
        std::copy_n(outputs.summary.begin() + static_cast<std::ptrdiff_t>(k * S), S, to.begin());
      }
    }
  }

 private:
  static void log_probabilities(std::span<const double> log_alpha, std::span<float> out) {
    const double top = *std::max_element(log_alpha.begin(), log_alpha.end());
    double sum = 0;
    for (const double a : log_alpha) sum += std::exp(a - top);
    for (std::size_t j = 0; j < out.size(); ++j)
      out[j] = static_cast<float>(log_alpha[j] - top - std::log(sum));
  }

  bool log_p_;
  std::unique_ptr<Comparator> comparator_;
  std::vector<std::string> names_;
};

}  // namespace

void register_network_summary(Registry<SummaryKind>& registry) {
  registry.add("network", make_summary_kind<NetworkSummary, NetworkSummaryOptions>(
                              "what a trained network makes of the data; needs --summary-network"));
}

}  // namespace occam
