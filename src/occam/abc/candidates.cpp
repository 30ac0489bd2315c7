#include "occam/abc/candidates.hpp"

#include <algorithm>
#include <limits>

#include "occam/simulate/usable.hpp"

namespace occam {
namespace {

constexpr std::int64_t kMemory = std::int64_t{64} << 20;  // bytes of data sets held at a time
constexpr std::int64_t kManyThreads = 16;  // among which they are; how many there are must not show

void copy_design(const std::vector<Column>& columns, DataView from, std::span<float> to) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].given()) continue;
    for (std::size_t i = c; i < from.values().size(); i += columns.size()) to[i] = from.data[i];
  }
}

}  // namespace

Candidates::Candidates(const Problem& problem, DataView observed, std::int64_t n, const Summary& summary,
                       const Distance& distance, std::uint64_t seed, ThreadPool& pool)
    : problem_(problem),
      design_(takes_design(problem) ? observed : DataView()),
      labels_(label_groups(problem.columns())),
      n_(design_.n > 0 ? design_.n : n),
      summary_(summary),
      distance_(distance),
      seed_(seed),
      pool_(pool),
      S_(summary.size()),
      together_(summary.takes_all_threads()),
      scratch_(static_cast<std::size_t>(pool.threads())) {
  std::vector<const Family*> families;
  std::int64_t group = 1;
  bool dear = false;
  for (const Model& model : problem.models()) {
    const Family& family = model.family();
    stride_ = std::max(stride_, static_cast<std::int64_t>(model.parameters().size()));
    floats_ = std::max(floats_, rows_at_most(family) * problem.D());
    group = std::max(group, family.group());
    dear = dear || family.dear();
    slow_ = slow_ || family.may_be_slow();
    if (std::find(families.begin(), families.end(), &family) == families.end()) families.push_back(&family);
  }
  // Where a call of a simulator is dear, each family should get whole groups; a group of one is a slow one's.
  const auto wanted = group * static_cast<std::int64_t>(families.size());
  chunk_ = dear && group == 1 ? 1 : std::clamp<std::int64_t>(wanted, 64, 1024);
  const std::int64_t bytes = std::max<std::int64_t>(1, floats_ * static_cast<std::int64_t>(sizeof(float)));
  if (!together_) chunk_ = std::clamp<std::int64_t>(kMemory / kManyThreads / bytes, 1, chunk_);
  pool.ranks().broadcast_values(std::span(&chunk_, 1));  // groups may follow from the clock
  most_ = together_ ? std::clamp<std::int64_t>(kMemory / bytes, 1, 1 << 14) : 1 << 16;
}

std::int64_t Candidates::rows_at_most(const Family& family) const {
  return design_.n > 0 ? design_.n : family.max_rows(n_);
}

void Candidates::run(std::int64_t population, std::int64_t first, std::int64_t count,
                     const Propose& propose) {
  const auto size = static_cast<std::size_t>(count);
  models_.resize(size);
  thetas_.resize(size * static_cast<std::size_t>(stride_));
  distances_.resize(size);
  failed_.resize(size);
  if (together_) {
    data_.resize(size * static_cast<std::size_t>(floats_));
    sets_.resize(size);
  }
  const std::int64_t chunks = (count + chunk_ - 1) / chunk_;
  const auto end = [&](std::int64_t c) { return std::min(count, (c + 1) * chunk_); };
  loop_.begin(pool_.ranks(), chunks, slow_);
  pool_.for_each(loop_.calls(), [&](std::int64_t call, int worker) {
    loop_.run(call, [&](std::int64_t c) {
      run_chunk(population, first, c * chunk_, end(c), propose, scratch_[static_cast<std::size_t>(worker)]);
    });
  });
  loop_.finish([&](std::int64_t c, ByteWriter& to) { pack(c * chunk_, end(c), to); },
               [&](std::int64_t c, ByteReader& from) { unpack(c * chunk_, end(c), from); });
  if (together_) measure(0, sets_, statistics_);
}

void Candidates::pack(std::int64_t begin, std::int64_t end, ByteWriter& to) const {
  for (std::int64_t b = begin; b < end; ++b) {
    const auto at = static_cast<std::size_t>(b);
    to.put(models_[at]);
    to.put(theta(b));
    to.put(failed_[at]);
    if (!together_) {
      to.put(distances_[at]);
      continue;
    }
    to.put(sets_[at].n);
    to.put(sets_[at].values());
  }
}

void Candidates::unpack(std::int64_t begin, std::int64_t end, ByteReader& from) {
  for (std::int64_t b = begin; b < end; ++b) {
    const auto at = static_cast<std::size_t>(b);
    from.take(std::span(&models_[at], 1));
    from.take(std::span(thetas_).subspan(at * static_cast<std::size_t>(stride_),
                                         static_cast<std::size_t>(stride_)));
    from.take(std::span(&failed_[at], 1));
    if (!together_) {
      from.take(std::span(&distances_[at], 1));
      continue;
    }
    const auto n = from.take<std::int64_t>();
    float* const data = data_.data() + b * floats_;
    from.take(std::span(data, static_cast<std::size_t>(n * problem_.D())));
    sets_[at] = {data, n, problem_.D()};
  }
}

void Candidates::run_chunk(std::int64_t population, std::int64_t first, std::int64_t begin, std::int64_t end,
                           const Propose& propose, Scratch& scratch) {
  const auto count = static_cast<std::size_t>(end - begin);
  scratch.rngs.clear();
  scratch.rngs.reserve(count);
  for (std::int64_t b = begin; b < end; ++b) {
    Rng& rng = scratch.rngs.emplace_back(seed_, Purpose::abc,
                                         static_cast<std::uint64_t>((population << 40) + first + b));
    const std::span<double> theta(thetas_.data() + b * stride_, static_cast<std::size_t>(stride_));
    propose(rng, models_[static_cast<std::size_t>(b)], theta);
  }
  scratch.sets.resize(count);
  simulate(begin, end, scratch);
  if (together_) {
    std::copy(scratch.sets.begin(), scratch.sets.end(), sets_.begin() + begin);
  } else {
    measure(begin, scratch.sets, scratch.statistics);
  }
}

// Simulates candidates of a chunk, those of one family together; data sets that are not usable become empty.
void Candidates::simulate(std::int64_t begin, std::int64_t end, Scratch& scratch) {
  const std::int64_t count = end - begin;
  if (!together_) scratch.data.resize(static_cast<std::size_t>(count * floats_));
  float* const data = together_ ? data_.data() + begin * floats_ : scratch.data.data();
  const auto family = [&](std::int64_t i) -> const Family& {
    return problem_.models()[static_cast<std::size_t>(models_[static_cast<std::size_t>(begin + i)])].family();
  };
  scratch.order.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) scratch.order[static_cast<std::size_t>(i)] = i;
  std::vector<SimulationRequest>& requests = scratch.requests;
  for (std::int64_t done = 0; done < count;) {
    // Those of the first family left go to the front.
    const Family& next = family(scratch.order[static_cast<std::size_t>(done)]);
    const auto split = std::stable_partition(scratch.order.begin() + done, scratch.order.end(),
                                             [&](std::int64_t i) { return &family(i) == &next; });
    const std::int64_t until = split - scratch.order.begin();
    requests.clear();
    for (std::int64_t o = done; o < until; ++o) {
      const std::int64_t i = scratch.order[static_cast<std::size_t>(o)];
      const std::size_t P =
          problem_.models()[static_cast<std::size_t>(models_[static_cast<std::size_t>(begin + i)])]
              .parameters()
              .size();
      requests.push_back({{thetas_.data() + (begin + i) * stride_, P},
                          n_,
                          &scratch.rngs[static_cast<std::size_t>(i)],
                          {data + i * floats_, static_cast<std::size_t>(rows_at_most(next) * problem_.D())},
                          0,
                          design_.n > 0});
      if (design_.n > 0) copy_design(problem_.columns(), design_, requests.back().out);
    }
    simulate_usable(next, problem_.D(), labels_, requests);
    for (std::int64_t o = done; o < until; ++o) {
      const std::int64_t i = scratch.order[static_cast<std::size_t>(o)];
      const SimulationRequest& request = requests[static_cast<std::size_t>(o - done)];
      DataView& set = scratch.sets[static_cast<std::size_t>(i)];
      set = {request.out.data(), request.rows, problem_.D()};
      failed_[static_cast<std::size_t>(begin + i)] = set.n == 0 ? 1 : 0;
    }
    done = until;
  }
}

void Candidates::measure(std::int64_t begin, std::span<const DataView> sets, std::vector<float>& statistics) {
  const auto S = static_cast<std::size_t>(S_);
  statistics.resize(sets.size() * S);
  if (together_) {
    summary_.of(sets, statistics);
  } else {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].n > 0) summary_.of(sets.subspan(i, 1), std::span(statistics).subspan(i * S, S));
    }
  }
  for (std::size_t i = 0; i < sets.size(); ++i) {
    distances_[static_cast<std::size_t>(begin) + i] =
        sets[i].n > 0 ? distance_(std::span<const float>(statistics).subspan(i * S, S))
                      : std::numeric_limits<double>::infinity();
  }
}

}  // namespace occam
