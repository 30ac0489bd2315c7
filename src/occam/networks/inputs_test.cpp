#include "occam/networks/inputs.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"

namespace occam {
namespace {

ColumnInput learned(const std::vector<float>& values) {
  const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(values.size())};
  return learn_inputs({{values.data(), offsets[1], 1, 1}, offsets.data(), 1})[0];
}

template <class Draw>
std::vector<float> drawn(Draw draw) {
  Rng rng(1, Purpose::test, 0);
  std::vector<float> values(20000);
  for (float& x : values) x = static_cast<float>(draw(rng));
  return values;
}

TEST(Inputs, WhatHasNoLongTailsStaysAsItIs) {
  for (const std::vector<float>& values :
       {drawn([](Rng& rng) { return rng.normal(); }), drawn([](Rng& rng) { return 5 + rng.uniform(); }),
        drawn([](Rng& rng) { return 1e9 + 1e3 * rng.normal(); })}) {
    const ColumnInput input = learned(values);
    EXPECT_EQ(input.transformation, Transformation::none);
    EXPECT_TRUE(input.local);
  }
}

TEST(Inputs, WhatIsFarOutIsBroughtNearerAndKeepsItsOrder) {
  for (const double z : {0.0, 3.0, -15.9, 16.0}) EXPECT_EQ(tamed(z, 16), z);
  EXPECT_NEAR(tamed(2016, 16), 16 + std::log(2001), 1e-12);
  EXPECT_NEAR(tamed(-2016, 16), -16 - std::log(2001), 1e-12);
  EXPECT_LT(tamed(1e6, 16), tamed(2e6, 16));
  EXPECT_NEAR(tamed(16 + 1e-9, 16), 16 + 1e-9, 1e-12);
  EXPECT_EQ(tamed(2016, 0), 2016) << "files from before";
}

// Sums of squares are what evidence of such columns is made of.
TEST(Inputs, TailsOfAChangingSpreadStayAsTheyAre) {
  const ColumnInput mixed =
      learned(drawn([](Rng& rng) { return rng.normal() / std::sqrt((0.5 * rng.gamma(3))); }));
  EXPECT_EQ(mixed.transformation, Transformation::none);
}

TEST(Inputs, LongTailsAreTamed) {
  const ColumnInput positive = learned(drawn([](Rng& rng) { return std::exp(3 * rng.normal()); }));
  EXPECT_EQ(positive.transformation, Transformation::log);
  EXPECT_TRUE(std::isfinite(positive(-1)));  // what was never simulated

  const ColumnInput cauchy =
      learned(drawn([](Rng& rng) { return 7 + std::tan(3.14159 * (rng.uniform() - 0.5)); }));
  EXPECT_EQ(cauchy.transformation, Transformation::asinh);
  EXPECT_NEAR(cauchy.centre, 7, 0.1);
  EXPECT_NEAR(cauchy.width, 1, 0.1);
  EXPECT_LT(std::abs(cauchy(1e30)), 100);

  const ColumnInput counts = learned(drawn([](Rng& rng) { return std::floor(std::exp(2 * rng.normal())); }));
  EXPECT_EQ(counts.transformation, Transformation::asinh);
  EXPECT_EQ(counts.centre, 0);
  EXPECT_EQ(counts.width, 1);
}

// Concentrations over four decades: what is below one in ten would else be one value.
TEST(Inputs, WhatSpansOrdersOfMagnitudeIsReadByItsLogarithm) {
  const auto over = [](double decades) {
    return drawn([=](Rng& rng) { return 1e-9 * std::pow(10, decades * rng.uniform()); });
  };
  EXPECT_EQ(learned(over(4)).transformation, Transformation::log);
  EXPECT_EQ(learned(over(2)).transformation, Transformation::log);
  EXPECT_EQ(learned(over(1)).transformation, Transformation::none);
  EXPECT_EQ(learned(drawn([](Rng& rng) { return rng.uniform(); })).transformation, Transformation::none);
  std::vector<float> with_none = over(4);  // as many zeros as are no atom
  for (std::size_t i = 0; i < with_none.size(); i += 100) with_none[i] = 0;
  EXPECT_EQ(learned(with_none).transformation, Transformation::asinh);
  EXPECT_LT(learned(with_none).width, 1e-8);
  // Estimates of a parameter with such a prior come back positive.
  const ColumnInput target = learn_transformation(over(4));
  EXPECT_GT(target.inverse(target(1e-9) - 1), 0);
}

TEST(Inputs, FewValuesBecomeIndicators) {
  EXPECT_EQ(learned(drawn([](Rng& rng) { return std::floor(4 * rng.uniform()); })).levels,
            (std::vector<float>{0, 1, 2, 3}));
  const ColumnInput two = learned(drawn([](Rng& rng) { return rng.uniform() < 0.3; }));
  EXPECT_TRUE(two.levels.empty());  // one number says it all
  EXPECT_FALSE(two.local);
  EXPECT_EQ(two.channels(), 1);
}

TEST(Inputs, FewValuesOfASeriesComeWithTheirAge) {
  const auto in_order = [](const std::vector<float>& values) {
    const std::vector<std::int64_t> offsets = {0, static_cast<std::int64_t>(values.size())};
    return learn_inputs({{values.data(), offsets[1], 1, 1}, offsets.data(), 1}, true)[0];
  };
  const std::vector<float> two = drawn([](Rng& rng) { return rng.uniform() < 0.3; });
  const std::vector<float> four = drawn([](Rng& rng) { return std::floor(4 * rng.uniform()); });
  EXPECT_TRUE(in_order(two).stays);
  EXPECT_EQ(in_order(two).channels(), 2);
  EXPECT_TRUE(in_order(four).stays);
  EXPECT_EQ(in_order(four).channels(), 6);
  EXPECT_FALSE(learned(four).stays);
  EXPECT_FALSE(in_order(std::vector<float>(10, 3.0f)).stays) << "what never changes";
  EXPECT_FALSE(in_order(drawn([](Rng& rng) { return rng.normal(); })).stays);
}

TEST(Inputs, WhatComesAgainAndAgainIsMarkedAndLeftOutOfTheRest) {
  const auto rain = [](Rng& rng) { return rng.uniform() < 0.6 ? 0 : std::exp(2 * rng.normal()); };
  const ColumnInput input = learned(drawn(rain));
  EXPECT_EQ(input.atoms, std::vector<float>{0});
  EXPECT_EQ(input.transformation, Transformation::log) << "of what is not 0";
  EXPECT_TRUE(input.local);
  EXPECT_FALSE(input.stays);
  EXPECT_EQ(input.channels(), 3 + 2 * kWaves + kEndChannels);
  EXPECT_NE(input.text().find("but for 0"), std::string::npos) << input.text();
}

// Visits, the first of which is in month 0.
TEST(Inputs, ATimeThatBeginsWithZeroIsReadAsItIs) {
  Rng rng(1, Purpose::test, 4);
  std::vector<float> rows;
  std::vector<std::int64_t> offsets = {0};
  for (int set = 0; set < 100; ++set) {
    double month = 0;
    for (int i = 0; i < 10; ++i, month -= std::log(1 - rng.uniform())) {
      rows.push_back(static_cast<float>(month));
      rows.push_back(static_cast<float>(rng.normal()));
    }
    offsets.push_back(offsets.back() + 10);
  }
  const Ragged<const float> data{{rows.data(), 1000, 2, 2}, offsets.data(), 100};
  EXPECT_TRUE(learn_inputs(data, true)[0].atoms.empty());
  EXPECT_EQ(learn_inputs(data, false)[0].atoms, std::vector<float>{0});
}

TEST(Inputs, MissingValuesAndConstantsAreNoObstacle) {
  std::vector<float> values = drawn([](Rng& rng) { return rng.normal(); });
  for (std::size_t i = 0; i < values.size(); i += 2) values[i] = NAN;
  EXPECT_EQ(learned(values).transformation, Transformation::none);
  EXPECT_EQ(learned(std::vector<float>(10, NAN)), ColumnInput{});
  EXPECT_EQ(learned(std::vector<float>(10, 3.0f)), ColumnInput{});
}

TEST(Inputs, FewColumnsComeAsWavesToo) {
  Rng rng(1, Purpose::test, 0);
  for (const std::int64_t columns : {1, 3, 4}) {
    std::vector<float> values(static_cast<std::size_t>(1000 * columns));
    for (float& x : values) x = static_cast<float>(rng.normal());
    const std::vector<std::int64_t> offsets = {0, 1000};
    const Ragged<const float> data{{values.data(), 1000, columns, columns}, offsets.data(), 1};
    for (const ColumnInput& input : learn_inputs(data)) {
      EXPECT_EQ(input.waves, columns <= kMostWavyColumns ? kWaves : 0) << columns;
      EXPECT_EQ(input.ends, input.waves > 0);
      EXPECT_EQ(input.channels(), 2 + 2 * input.waves + (input.ends ? kEndChannels : 0));
    }
    for (const ColumnInput& input : learn_inputs(data, true)) {
      EXPECT_EQ(input.waves, 0);
      EXPECT_FALSE(input.ends);
    }
  }
  EXPECT_EQ(learned(drawn([](Rng& r) { return r.uniform() < 0.3; })).waves, 0);
}

// In series only what is measured from 0 on: intervals between spikes, but no counts, no times and no
// changes.
TEST(Inputs, MeasuresOfASeriesComeWithWavesAndEndsToo) {
  Rng rng(1, Purpose::test, 6);
  std::vector<float> rows;
  float time = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto interval = static_cast<float>(rng.gamma(1.5));
    rows.insert(rows.end(), {interval, std::floor(10 * interval), time += interval});
  }
  const std::vector<std::int64_t> offsets = {0, 1000};
  const auto in_order = [&] { return learn_inputs({{rows.data(), 1000, 3, 3}, offsets.data(), 1}, true); };
  const auto shown = [](const std::vector<ColumnInput>& inputs) {
    std::vector<bool> ends;
    for (const ColumnInput& input : inputs) {
      EXPECT_EQ(input.waves, input.ends ? kWaves : 0);
      ends.push_back(input.ends);
    }
    return ends;
  };
  EXPECT_EQ(shown(in_order()), (std::vector<bool>{true, false, false}));
  rows[0] = -1;
  EXPECT_EQ(shown(in_order()), (std::vector<bool>{false, false, false})) << "below 0";
  for (std::size_t i = 0; i < rows.size(); i += 3) rows[i] = static_cast<float>(80 + 5 * rng.normal());
  EXPECT_EQ(shown(in_order()), (std::vector<bool>{false, false, false})) << "a heart rate";
}

TEST(Inputs, WavesHalveTheirLength) {
  for (const double z : {-9.7, -0.3, 0.0, 1.0, 4.2}) {
    double waves[8];
    write_waves(z, 4, waves);
    for (int k = 0; k < 4; ++k) {
      const double angle = z * 2 * M_PI / (8 / std::pow(2, k));
      EXPECT_NEAR(waves[2 * k], std::sin(angle), 1e-12) << z << " " << k;
      EXPECT_NEAR(waves[2 * k + 1], std::cos(angle), 1e-12) << z << " " << k;
    }
  }
}

TEST(Inputs, TransformationsHaveAnInverse) {
  const ColumnInput positive =
      learn_transformation(drawn([](Rng& rng) { return std::exp(3 * rng.normal()); }));
  EXPECT_EQ(positive.transformation, Transformation::log);
  const ColumnInput cauchy =
      learn_transformation(drawn([](Rng& rng) { return 7 + std::tan(3.14159 * (rng.uniform() - 0.5)); }));
  EXPECT_EQ(cauchy.transformation, Transformation::asinh);
  const ColumnInput normal = learn_transformation(drawn([](Rng& rng) { return rng.normal(); }));
  EXPECT_EQ(normal, ColumnInput{});
  for (const double x : {0.01, 0.5, 3.0, 1000.0}) {
    for (const ColumnInput& input : {positive, cauchy, normal}) {
      EXPECT_NEAR(input.inverse(input(x)), x, 1e-9 * (1 + x)) << input.text();
    }
  }
}

TEST(Inputs, RoundTripAsJson) {
  const std::vector<ColumnInput> inputs = {{},
                                           {Transformation::asinh, 3, 0.5, true, {}, 4},
                                           {{}, 0, 1, false, {1, 2, 5}, 0, true},
                                           {{}, 0, 1, true, {}, 0, true, {0, 9}},
                                           {{}, 0, 1, true, {}, 0, false, {}, true}};
  EXPECT_EQ(inputs_from_json(inputs_json(inputs)), inputs);
  const char* const before = R"([{"transformation":"none","centre":0,"width":1,"local":true,"levels":[]}])";
  EXPECT_FALSE(inputs_from_json(nlohmann::json::parse(before))[0].stays) << "a file from before";
  EXPECT_FALSE(inputs_from_json(nlohmann::json::parse(before))[0].ends);
  for (const char* bad :
       {R"([{"transformation":"sqrt","centre":0,"width":1,"local":true,"levels":[]}])",
        R"([{"transformation":"asinh","centre":0,"width":0,"local":true,"levels":[]}])",
        R"([{"transformation":"log","centre":0,"width":1,"local":true,"levels":[]}])",
        R"([{"transformation":"none","centre":0,"width":1,"local":true,"levels":[1,2,3,4,5,6,7,8,9]}])",
        R"([{"transformation":"none","centre":0,"width":1,"local":true,"levels":[],"waves":17}])",
        R"([{"transformation":"none","centre":0,"width":1,"local":true,"levels":[],"waves":-1}])",
        R"([{"transformation":"none","centre":0,"width":1,"local":false,"levels":[],"ends":true}])",
        R"([{"transformation":"none","centre":0,"width":1,"local":true,"levels":[],"atoms":[1,2,3]}])",
        R"([{"transformation":"none","centre":0,"width":1,"local":true,"levels":[],"atoms":[1e99]}])"}) {
    EXPECT_THROW(inputs_from_json(nlohmann::json::parse(bad)), Error) << bad;
  }
}

}  // namespace
}  // namespace occam
