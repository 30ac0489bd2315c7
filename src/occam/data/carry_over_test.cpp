#include "occam/data/carry_over.hpp"

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/data/test_support.hpp"

namespace occam {
namespace {

// Days of several people: person, day and mood, person by person.
struct Diaries {
  std::vector<double> person, day, mood;

  Diaries(std::size_t rows, double carry, std::uint64_t item) {
    Rng rng(4, Purpose::test, item);
    double own = 0, swing = 0, now = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const bool first = i % 7 == 0;
      const double step = first ? 0 : 1 + std::floor(rng.uniform(0, 2));
      if (first) own = rng.normal();
      now = first ? 0 : now + step;
      const double kept = first ? 0 : std::pow(carry, step);
      swing = kept * swing + std::sqrt(1 - kept * kept) * rng.normal();
      person.push_back(static_cast<double>(i / 7) + 1);
      day.push_back(now);
      mood.push_back(50 + own + swing);
    }
  }
};

struct Asked {
  std::vector<std::int32_t> groups, row_room;
  std::vector<double> time_room;
  std::vector<LineSums> labels;
  OrderedRows order;

  Asked(const Diaries& of, std::span<const double> times) {
    const std::size_t n = of.mood.size();
    groups.resize(n), row_room.resize(n), time_room.resize(n);
    labels.resize(static_cast<std::size_t>(group_rows(of.person, row_room, groups)));
    order = order_within(groups, times, 1, row_room, time_room);
  }
};

CarryOver carried(const Diaries& of, std::span<const double> times) {
  Asked asked(of, times);
  return carry_over(asked.order, asked.groups, of.mood, asked.labels);
}

TEST(CarryOver, EvidencesAreThoseOfTheWholeCovariance) {
  const Diaries diaries(28, 0.6, 1);
  const CarryOver got = carried(diaries, diaries.day);
  const auto averaged = [&](double memory, bool line) {
    double sum = 0;
    for (const double spread : kLevelSpreads) {
      const WholeCovariance whole(diaries.day, diaries.mood, [&](std::size_t i, std::size_t j) {
        if (diaries.person[i] != diaries.person[j]) return 0.0;
        const double apart = std::abs(diaries.day[i] - diaries.day[j]);
        return spread + (i == j ? 1 : memory > 0 ? std::exp(-apart / memory) : 0);
      });
      const double log_likelihood = line ? whole.log_likelihood_of_line() : whole.log_likelihood();
      sum += std::exp(log_likelihood + 60) / kLevelSpreads.size();
    }
    return std::log(sum) - 60;
  };
  const double none = averaged(0, false);
  EXPECT_NEAR(got.line_alone, averaged(0, true) - none, 1e-5);
  for (std::size_t k = 0; k < kCarries; ++k) {
    EXPECT_NEAR(got.level[k], averaged(carry_memory(k), false) - none, 1e-5) << k;
    EXPECT_NEAR(got.line[k], averaged(carry_memory(k), true) - none, 1e-5) << k;
  }
}

TEST(CarryOver, IsFoundWhereItIs) {
  const Diaries carries(210, 0.7, 2), fresh(210, 0, 3);
  EXPECT_GT(CarryOver::any(carried(carries, carries.day).level), 8);
  EXPECT_LT(CarryOver::any(carried(fresh, fresh.day).level), 0);
}

TEST(CarryOver, RowsStandInTheOrderOfTheirTimes) {
  Diaries diaries(42, 0.7, 4);
  const CarryOver before = carried(diaries, diaries.day);
  for (auto* column : {&diaries.person, &diaries.day, &diaries.mood})
    std::reverse(column->begin(), column->end());
  EXPECT_NEAR(CarryOver::any(carried(diaries, diaries.day).line), CarryOver::any(before.line), 1e-9);
  EXPECT_NE(CarryOver::any(carried(diaries, {}).line), CarryOver::any(before.line))
      << "steps are not all alike";
}

TEST(CarryOver, MissingValuesArePassedOver) {
  Diaries diaries(42, 0.7, 5), shorter = diaries;
  diaries.mood[20] = NAN;
  for (auto* column : {&shorter.person, &shorter.day, &shorter.mood}) column->erase(column->begin() + 20);
  EXPECT_NEAR(CarryOver::any(carried(diaries, diaries.day).level),
              CarryOver::any(carried(shorter, shorter.day).level), 1e-9);
}

// Forty data sets of 42 rows: person, day, mood.
std::vector<LabelOrder> orders(double carry, bool ordered, const std::vector<std::int64_t>& design,
                               bool days_of_all = false) {
  std::vector<float> x;
  std::vector<std::int64_t> offsets = {0};
  for (std::uint64_t set = 0; set < 40; ++set) {
    const Diaries diaries(42, carry, 100 + set);
    for (std::size_t i = 0; i < 42; ++i) {
      x.push_back(static_cast<float>(diaries.person[i]));
      x.push_back(static_cast<float>(days_of_all ? 3 : 5 * diaries.day[i]));
      x.push_back(static_cast<float>(diaries.mood[i]));
    }
    offsets.push_back(offsets.back() + 42);
  }
  Ragged<const float> data;
  data.x = {x.data(), 40 * 42, 3, 3};
  data.sets = 40;
  data.offsets = offsets.data();
  return find_orders(data, {0}, ordered, design);
}

TEST(CarryOver, OrdersAreFoundWhereValuesCarryOver) {
  const std::vector<LabelOrder> by_day = orders(0.7, true, {});
  ASSERT_EQ(by_day.size(), 1u);
  EXPECT_EQ(by_day[0].column, 1);
  EXPECT_TRUE(by_day[0].gap == 5 || by_day[0].gap == 10);
  EXPECT_EQ(orders(0.7, false, {1}), by_day);
  EXPECT_TRUE(orders(0.7, false, {}).empty()) << "nothing says in which order rows are";
  EXPECT_EQ(orders(0.7, true, {}, true), (std::vector<LabelOrder>{{0, -1, 1}})) << "as they stand";
  EXPECT_TRUE(orders(0.7, false, {1}, true).empty()) << "a column that is the same throughout is no order";
  EXPECT_TRUE(orders(0, true, {}).empty()) << "nothing carries over";
}

}  // namespace
}  // namespace occam
