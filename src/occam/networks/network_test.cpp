// What becomes of missing values at the input of a network.
#include "occam/networks/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/networks/test_support.hpp"

namespace occam {
namespace {

NetworkConfig small(std::vector<std::int64_t> missing) {
  NetworkConfig config;
  config.channels = 2;
  config.models = 3;
  config.missing = std::move(missing);
  config.standardisation = {{0.5, -1}, {2, 0.5}, 1.0, 0.5, 4};
  config.set_options(testing_support::small_network(), "test");
  return config;
}

Ragged<const float> view(const std::vector<float>& x, const std::vector<std::int64_t>& offsets,
                         std::int64_t columns = 2) {
  return {{x.data(), offsets.back(), columns, columns},
          offsets.data(),
          static_cast<std::int64_t>(offsets.size()) - 1};
}

const std::vector<std::int64_t> kOffsets = {0, 2};

std::string refusal(const NetworkConfig& config, const std::vector<float>& x) {
  try {
    Network<float>(config).check(view(x, kOffsets));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(NetworkInput, MissingValuesAreZeroAndMarked) {
  const Network<double> network(small({1}));
  std::vector<double> weights(static_cast<std::size_t>(network.weight_count())),
      packed(static_cast<std::size_t>(network.packed_size()));
  network.layout().initialise<double>(weights, 1, 0);
  network.pack_all(weights.data(), packed.data());
  const std::vector<float> x = {1.5f, -0.5f, 2.5f, NAN};
  Workspace workspace;
  const auto& tape = *network.forward(packed.data(), view(x, kOffsets), workspace);
  const Matrix<const double> read = tape.input.rows(0, 2, workspace);
  ASSERT_EQ(read.columns, 3);
  const std::vector<double> expected = {0.5, 1, 0, 1, 0, 1};
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t c = 0; c < 3; ++c)
      EXPECT_NEAR(read.row(r)[c], expected[static_cast<std::size_t>(3 * r + c)], 1e-12) << r << c;
  }
  for (std::int64_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isfinite(tape.models.row(0)[j]));
}

// A value of 2,000 standard deviations is read as one of 24, and files remember from where on.
TEST(NetworkInput, WhatIsFarOutIsReadNearer) {
  NetworkConfig config;
  config.channels = 1;
  config.models = 3;
  std::vector<float> usual;
  for (int i = 0; i < 40; ++i) usual.push_back(i % 2 == 0 ? 1.0f + 0.01f * static_cast<float>(i % 5) : -1.0f);
  const std::vector<std::int64_t> offsets = {0, 20, 40}, one = {0, 1};
  config.learn_input(view(usual, offsets, 1), false);
  EXPECT_EQ(config.standardisation.plain_within, kPlainWithin);
  const auto read = [&](const NetworkConfig& as, float x) {
    const std::vector<float> data = {x};
    Workspace workspace;
    const InputRows<double> rows(as, view(data, one, 1), workspace);
    return rows.rows(0, 1, workspace).row(0)[0];
  };
  EXPECT_NEAR(read(config, 2000), 16 + std::log1p(2000 / config.standardisation.scale[0] - 16), 0.1);
  nlohmann::json description = config.json();
  EXPECT_EQ(read(NetworkConfig::from_json(description), 2000), read(config, 2000));
  for (const double bad : {-1.0, HUGE_VAL}) {
    description["standardisation"]["plain_within"] = bad;
    EXPECT_THROW(NetworkConfig::from_json(description), Error) << bad;
  }
  description["standardisation"].erase("plain_within");
  EXPECT_GT(read(NetworkConfig::from_json(description), 2000), 1500) << "a file from before";
}

// Whatever the units: a number that a float can hold gives an answer.
TEST(NetworkInput, AnswersAreNumbersForTheLargestValues) {
  for (const char* architecture : {"set", "sequence"}) {
    NetworkConfig config;
    config.channels = 2;
    config.models = 3;
    config.set_options({{"architecture", architecture}}, "test");
    std::vector<float> usual;
    for (int i = 0; i < 80; ++i) usual.push_back(static_cast<float>(std::sin(1.7 * i)));
    const std::vector<std::int64_t> offsets = {0, 20, 40}, one = {0, 6};
    config.learn_input(view(usual, offsets), architecture == std::string("sequence"));
    const Network<float> network(config);
    std::vector<float> weights(static_cast<std::size_t>(network.weight_count())),
        packed(static_cast<std::size_t>(network.packed_size()));
    network.layout().initialise<float>(weights, 1, 0);
    network.pack_all(weights.data(), packed.data());
    const float most = std::numeric_limits<float>::max();
    for (const float large : {1e6f, 1e20f, 1e30f, most}) {
      for (const float other : {large, -large, 0.0f}) {
        Workspace workspace;
        const std::vector<float> x = {large, other, other, large, 1,      large,
                                      large, large, 0,     0,     -large, other};
        const auto& tape = *network.forward(packed.data(), view(x, one), workspace);
        for (std::int64_t j = 0; j < 3; ++j)
          EXPECT_TRUE(std::isfinite(tape.models.row(0)[j])) << architecture << " " << large << " " << other;
      }
    }
  }
}

TEST(NetworkInput, OnlyColumnsThatMayMissTakeNaN) {
  EXPECT_EQ(refusal(small({1}), {1, NAN, 2, NAN}), "accepted");
  EXPECT_NE(refusal(small({1}), {NAN, 1, 2, 3}).find("column 0: nan"), std::string::npos);
  EXPECT_NE(refusal(small({1}), {1, INFINITY, 2, 3}).find("column 1: inf"), std::string::npos);
  EXPECT_NE(refusal(small({}), {1, NAN, 2, 3}).find("column 1: nan"), std::string::npos);
}

TEST(NetworkInput, StandardisationIsOfTheValuesThatAreThere) {
  const std::vector<float> some = {1, NAN, 3, 10, 5, NAN, 7, 20};
  const Standardisation s = learn_standardisation(view(some, {0, 4}));
  EXPECT_EQ(s.mean, (std::vector<double>{4, 15}));
  EXPECT_EQ(s.scale, (std::vector<double>{std::sqrt(5.0), 5}));
  const Standardisation none = learn_standardisation(view({1, NAN, 3, NAN}, {0, 2}));
  EXPECT_EQ(none.mean[1], 0);
  EXPECT_EQ(none.scale[1], 1);
}

// The second channel of a column is the same in any unit and with any offset, also where the first is tamed.
TEST(NetworkInput, RelativeChannelsKnowNoUnits) {
  NetworkConfig config = small({});
  config.inputs = {{Transformation::asinh, 0, 1, true, {}, 2}, {}};
  const Network<double> network(config);
  std::vector<double> weights(static_cast<std::size_t>(network.weight_count())),
      packed(static_cast<std::size_t>(network.packed_size()));
  network.layout().initialise<double>(weights, 1, 0);
  network.pack_all(weights.data(), packed.data());
  const std::vector<std::int64_t> offsets = {0, 4};
  const double root = std::sqrt(5.0);
  for (const auto& [factor, offset] :
       std::vector<std::pair<float, float>>{{1, 0}, {1e-6f, 0}, {128, 1 << 20}}) {
    std::vector<float> x(8, 0.0f);
    const float steps[] = {0, 2, 4, 6};
    for (std::size_t r = 0; r < 4; ++r) x[2 * r] = offset + factor * steps[r];
    Workspace workspace;
    const auto& tape = *network.forward(packed.data(), view(x, offsets), workspace);
    const Matrix<const double> read = tape.input.rows(0, 4, workspace);
    ASSERT_EQ(read.columns, 2 + 1 + 4);
    const double expected[] = {-3 / root, -1 / root, 1 / root, 3 / root};
    for (std::int64_t r = 0; r < 4; ++r) {
      EXPECT_NEAR(read.row(r)[2], expected[r], 1e-6) << factor;
      const double angle = std::clamp(read.row(r)[0], -10.0, 10.0) * M_PI / 4;
      EXPECT_NEAR(read.row(r)[3], std::sin(angle), 1e-12);
      EXPECT_NEAR(read.row(r)[6], std::cos(2 * angle), 1e-12);
    }
  }
}

TEST(NetworkInput, FilesFromBeforeHaveTheSameLayersBeforeAndAfterPooling) {
  nlohmann::json old = small({}).json();
  for (const char* key : {"moments", "after_width", "after_layers"}) old["body"].erase(key);
  const NetworkConfig config = NetworkConfig::from_json(old);
  EXPECT_EQ(config.body["after_width"], 5);
  EXPECT_EQ(config.body["after_layers"], config.body["inv_layers"]);
  EXPECT_EQ(config.body["moments"], 0);
}

TEST(NetworkInput, FilesFromBeforeHaveNeitherWindowsNorGains) {
  nlohmann::json old = small({}).json();
  old["body"].erase("gains");
  EXPECT_EQ(NetworkConfig::from_json(old).body["gains"], false);
  NetworkConfig series = small({});
  series.set_options({{"architecture", "sequence"}}, "test");
  old = series.json();
  EXPECT_EQ(NetworkConfig::from_json(old).body["window"], 4);
  old["body"].erase("window");
  EXPECT_EQ(NetworkConfig::from_json(old).body["window"], 0);
}

// Where design columns say where, and files remember which; what is no list of columns is refused.
TEST(NetworkInput, FilesKeepTheirPlaces) {
  std::vector<float> rows;
  std::vector<std::int64_t> offsets = {0};
  for (int set = 0; set < 20; ++set) {
    for (int i = 0; i < 40; ++i) {
      const double x = std::fmod(0.618 * i + 0.1 * set, 1), y = std::fmod(0.755 * i + 0.2 * set, 1);
      const double hills = std::sin(9 * x + set) * std::sin(9 * y);
      for (const double value : {x, y, hills}) rows.push_back(static_cast<float>(value));
    }
    offsets.push_back(offsets.back() + 40);
  }
  const Ragged<const float> data{{rows.data(), offsets.back(), 3, 3}, offsets.data(), 20};
  NetworkConfig config;
  config.channels = 3;
  config.models = 2;
  config.learn_input(data, false, {}, {0, 1});
  const std::vector<std::int64_t> both = {0, 1};
  EXPECT_EQ(config.statistics.structure.places.columns, both);
  EXPECT_FALSE(config.statistics.mean.empty());
  nlohmann::json description = config.json();
  const NetworkConfig read = NetworkConfig::from_json(description);
  EXPECT_EQ(read.statistics.structure.places.columns, both);
  EXPECT_EQ(read.statistics.structure.places.scale, config.statistics.structure.places.scale);
  nlohmann::json& places = description["statistics"]["places"];
  const nlohmann::json good = places;
  for (const nlohmann::json& bad :
       std::vector<nlohmann::json>{{1, 0}, {0, 3}, {-1, 0}, {0, 0}, {0}, {0, 1, 2}, "0", nullptr}) {
    places["columns"] = bad;
    EXPECT_THROW(NetworkConfig::from_json(description), Error) << bad;
  }
  places = good;
  for (const nlohmann::json& bad : std::vector<nlohmann::json>{{1, 0}, {1, -1}, {1, nullptr}, {1}}) {
    places["scale"] = bad;
    EXPECT_THROW(NetworkConfig::from_json(description), Error) << bad;
  }
  config.learn_input(data, false);
  EXPECT_TRUE(config.statistics.structure.places.columns.empty()) << "nobody said so";
}

// A file names the list of statistics it was trained with; those from before there were two do not.
TEST(NetworkInput, FilesKeepTheirListOfStatistics) {
  NetworkConfig config = small({});
  config.statistics = {{0.0}, {1.0}, kNewestStatistics};
  nlohmann::json description = config.json();
  EXPECT_EQ(NetworkConfig::from_json(description).statistics.list, kNewestStatistics);
  for (const nlohmann::json& bad : std::vector<nlohmann::json>{0, -1, 8, 4294967298, 1e30, "2", nullptr}) {
    description["statistics"]["list"] = bad;
    EXPECT_THROW(NetworkConfig::from_json(description), Error) << bad;
  }
  description["statistics"]["list"] = 4;
  description["statistics"]["time"] = {{"column", 1}, {"gap", 0.5}};
  EXPECT_EQ(NetworkConfig::from_json(description).statistics.structure.time.column, 1);
  for (const nlohmann::json& bad : std::vector<nlohmann::json>{{{"column", 2}, {"gap", 0.5}},
                                                               {{"column", -2}, {"gap", 0.5}},
                                                               {{"column", 1}, {"gap", 0}},
                                                               {{"column", 1}, {"gap", -1}},
                                                               {{"column", 0.5}, {"gap", 1}},
                                                               {{"column", 1}},
                                                               {{"gap", 1}},
                                                               "y",
                                                               3}) {
    description["statistics"]["time"] = bad;
    EXPECT_THROW(NetworkConfig::from_json(description), Error) << bad;
  }
  description["statistics"].erase("time");
  description["statistics"].erase("list");
  EXPECT_EQ(NetworkConfig::from_json(description).statistics.list, StatisticsList::first);
}

TEST(NetworkInput, AtomsAreMarkedAndOtherwiseNotRead) {
  NetworkConfig config = small({});
  config.channels = 1;
  config.standardisation = {{5}, {2}, 1.0, 0.5, 4};
  config.inputs = {{{}, 0, 1, true, {}, 0, false, {0, 9}}};
  const std::vector<float> x = {0, 3, NAN, 9, 7, 0};
  const std::vector<std::int64_t> offsets = {0, 6};
  Workspace workspace;
  const InputRows<double> input(config, view(x, offsets, 1), workspace);
  const Matrix<const double> read = input.rows(0, 6, workspace);
  ASSERT_EQ(read.columns, 4);
  // Standardised; relative to those that are read (mean 5, standard deviation 2); is it 0; is it 9.
  const double expected[6][4] = {{0, 0, 1, 0}, {-1, -1, 0, 0}, {0, 0, 0, 0},
                                 {0, 0, 0, 1}, {1, 1, 0, 0},   {0, 0, 1, 0}};
  for (std::int64_t r = 0; r < 6; ++r) {
    for (std::int64_t c = 0; c < 4; ++c) EXPECT_NEAR(read.row(r)[c], expected[r][c], 1e-12) << r << c;
  }
}

// Of three data sets, the second with nothing to read, the third in another unit; rows are asked for in
// tiles.
TEST(NetworkInput, EndsAreThoseOfTheDataSetWhereverATileBegins) {
  NetworkConfig config = small({});
  config.channels = 1;
  config.standardisation = {{5}, {2}, 1.0, 0.5, 4};
  config.inputs = {{{}, 0, 1, true, {}, 0, false, {0}, true}};
  const std::vector<float> x = {3, 0, 11, 4, NAN, 0, NAN, 30, 110, 40};
  const std::vector<std::int64_t> offsets = {0, 5, 7, 10};
  const auto from = [](double way) { return 0.5 * std::log(way + 1.0 / 3); };
  // Least and largest, standardised (and no further than 10), and the ways to them in units of that of the
  // mean, 6.
  const double none[2] = {0, 0}, first[2] = {-1, 3}, last[2] = {10, 10};
  const double low = from(0), high = from(8 / 5.0), near_low = from(1 / 3.0), near_high = from(7 / 5.0);
  const double farther = from(8 / 3.0);
  const struct {
    const double* ends;
    double from_low, from_high;
  } expected[] = {{first, low, high},    {first, 0, 0},
                  {first, farther, low}, {first, near_low, near_high},
                  {first, 0, 0},         {none, 0, 0},
                  {none, 0, 0},          {last, low, high},
                  {last, farther, low},  {last, near_low, near_high}};
  Workspace workspace;
  const InputRows<double> input(config, view(x, offsets, 1), workspace);
  for (std::int64_t begin = 0; begin < 10; ++begin) {
    const Matrix<const double> read = input.rows(begin, 10 - begin, workspace);
    ASSERT_EQ(read.columns, 3 + kEndChannels);
    for (std::int64_t r = begin; r < 10; ++r) {
      const double* const ends = read.row(r - begin) + 3;
      EXPECT_NEAR(ends[0], expected[r].ends[0], 1e-12) << begin << " " << r;
      EXPECT_NEAR(ends[1], expected[r].ends[1], 1e-12) << begin << " " << r;
      EXPECT_NEAR(ends[2], expected[r].from_low, 1e-12) << begin << " " << r;
      EXPECT_NEAR(ends[3], expected[r].from_high, 1e-12) << begin << " " << r;
    }
  }
}

// Two series, of which rows are asked for in tiles.
TEST(NetworkInput, AgesAreThoseOfTheSeriesWhereverATileBegins) {
  NetworkConfig config = small({});
  config.channels = 1;
  config.standardisation = {{0}, {1}, 1.0, 0.5, 4};
  config.inputs = {{{}, 0, 1, false, {}, 0, true}};
  std::vector<float> x = {1, 1, 0, NAN, NAN, 0, 0, 0, 0, 1, 1, 1};
  std::vector<double> ages = {1, 2, 1, 1, 1, 1, 2, 1, 2, 1, 2, 3};
  for (int i = 4; i < 300; ++i) {  // the longest stay there is
    x.push_back(1);
    ages.push_back(std::min(i, 256));
  }
  const auto rows = static_cast<std::int64_t>(x.size());
  const std::vector<std::int64_t> offsets = {0, 7, rows};
  Workspace workspace;
  const InputRows<double> input(config, view(x, offsets, 1), workspace);
  for (std::int64_t first = 0; first < rows; first += first < 14 ? 1 : 50) {
    const std::int64_t count = std::min<std::int64_t>(rows - first, 60);
    const Matrix<const double> read = input.rows(first, count, workspace);
    ASSERT_EQ(read.columns, 2);
    for (std::int64_t r = 0; r < count; ++r)
      EXPECT_NEAR(std::exp(2 * read.row(r)[1]), ages[static_cast<std::size_t>(first + r)], 1e-9) << first + r;
  }
}

// Exchangeable rows of 4 people, three each: the first column says whose they are.
TEST(NetworkInput, LabelsAreFoundAndStayInTheFile) {
  std::vector<float> rows;
  for (int i = 0; i < 24; ++i) {
    rows.push_back(static_cast<float>(i % 4 + 1));
    rows.push_back(std::array{0.0f, 3.0f, -2.0f, 1.5f}[static_cast<std::size_t>(i % 4)] +
                   0.1f * static_cast<float>(i % 5));
  }
  const std::vector<std::int64_t> offsets = {0, 12, 24};
  NetworkConfig config = small({});
  config.learn_input(view(rows, offsets), false);
  EXPECT_EQ(config.statistics.structure.labels.columns, std::vector<std::int64_t>{0});
  EXPECT_EQ(config.statistics.list, StatisticsList::none);
  EXPECT_FALSE(config.statistics.mean.empty());
  const NetworkConfig back = NetworkConfig::from_json(config.json());
  EXPECT_EQ(back.json(), config.json());
  EXPECT_GT(Network<float>(back).statistics(), 0);
  for (const nlohmann::json& bad : std::vector<nlohmann::json>{
           {-1}, {2}, {1, 0}, {0, 0}, {0, 1}, {0.5}, {"x"}, 0, nlohmann::json::array()}) {
    nlohmann::json forged = config.json();
    forged["statistics"]["labels"] = bad;
    EXPECT_THROW(Network<float>(NetworkConfig::from_json(forged)), Error) << bad;
  }
  config.options.statistics = false;
  config.learn_input(view(rows, offsets), false);
  EXPECT_TRUE(config.statistics.structure.labels.columns.empty());
}

// 60 rows of five teams at home and five away, whose strengths are held against each other; then a third
// column of labels that means nothing.
TEST(NetworkInput, CrossedLabelsAreFoundAndStayInTheFile) {
  std::vector<float> rows;
  for (int i = 0; i < 60; ++i) {
    const int home = i % 5, away = (i / 5 + i + 1) % 5;
    const std::array strength = {0.0f, 4.0f, -3.0f, 1.5f, -2.0f};
    for (const float x :
         {static_cast<float>(home + 1), static_cast<float>(away + 1),
          strength[static_cast<std::size_t>(home)] - strength[static_cast<std::size_t>(away)] +
              0.3f * static_cast<float>(i * 7 % 5)})
      rows.push_back(x);
  }
  const std::vector<std::int64_t> offsets = {0, 30, 60};
  NetworkConfig config;
  config.channels = 3;
  const Ragged<const float> data{{rows.data(), 60, 3, 3}, offsets.data(), 2};
  config.learn_input(data, false);
  const std::vector<CrossedColumns> expected = {{0, 1, Crossing::apart}, {0, 1, Crossing::opposed}};
  EXPECT_EQ(config.statistics.structure.labels.crossings, expected);
  const NetworkConfig back = NetworkConfig::from_json(config.json());
  EXPECT_EQ(back.statistics.structure.labels.crossings, expected);
  EXPECT_GT(Network<float>(back).statistics(), 0);
  for (const nlohmann::json& bad :
       std::vector<nlohmann::json>{{{"columns", {1, 0}}, {"crossing", "apart"}},
                                   {{"columns", {0, 0}}, {"crossing", "apart"}},
                                   {{"columns", {0, 2}}, {"crossing", "apart"}},
                                   {{"columns", {0, 1, 2}}, {"crossing", "apart"}},
                                   {{"columns", {0, 1}}, {"crossing", "somehow"}},
                                   {{"columns", {0, 1}}, {"crossing", 1}},
                                   {{"columns", {0, 1}}},
                                   {{"columns", {0, 1}}, {"crossing", "opposed"}},
                                   "apart"}) {
    nlohmann::json forged = config.json();
    forged["statistics"]["crossings"] = {bad};
    EXPECT_THROW(Network<float>(NetworkConfig::from_json(forged)), Error) << bad;
  }
  nlohmann::json many = config.json();
  many["statistics"]["crossings"] = std::vector<nlohmann::json>(7, many["statistics"]["crossings"][1]);
  many["statistics"]["crossings"][0]["crossing"] = "apart";
  EXPECT_THROW(Network<float>(NetworkConfig::from_json(many)), Error);
  // Labels that are said to name other things are taken at that word.
  config.learn_input(data, false, {{0}, {1}});
  EXPECT_EQ(config.statistics.structure.labels.crossings,
            (std::vector<CrossedColumns>{{0, 1, Crossing::apart}}));
  config.learn_input(data, false, {{0, 1}});
  EXPECT_EQ(config.statistics.structure.labels.crossings, expected);
}

// 30 pairs of ten people, each of whom says of the other what that one says of them.
TEST(NetworkInput, WhatIsReturnedIsFoundWhereColumnsNameTheSameThings) {
  std::vector<float> rows;
  for (int i = 0; i < 120; ++i) {
    const int pair = i / 2 % 30, one = pair % 5, other = 5 + pair / 5 % 5;
    const auto said = static_cast<float>((pair * 7919 + i / 60 * 31) % 13);
    for (const int x : {i % 2 == 0 ? one : other, i % 2 == 0 ? other : one})
      rows.push_back(static_cast<float>(x + 1));
    rows.push_back(said + 0.1f * static_cast<float>(i % 3));
  }
  const std::vector<std::int64_t> offsets = {0, 60, 120};
  NetworkConfig config;
  config.channels = 3;
  const Ragged<const float> data{{rows.data(), 120, 3, 3}, offsets.data(), 2};
  const auto returned = [&] {
    const auto& found = config.statistics.structure.labels.crossings;
    return std::find(found.begin(), found.end(), CrossedColumns{0, 1, Crossing::returned}) != found.end();
  };
  config.learn_input(data, false, {{0, 1}});
  EXPECT_TRUE(returned());
  const NetworkConfig back = NetworkConfig::from_json(config.json());
  EXPECT_EQ(back.statistics.structure.labels.crossings, config.statistics.structure.labels.crossings);
  config.learn_input(data, false, {{0}, {1}});
  EXPECT_FALSE(returned());
}

// 70 rows of ten people, seven each, in which what is above or below stays so for a while.
TEST(NetworkInput, OrdersOfRowsAreFoundAndStayInTheFile) {
  std::vector<float> rows;
  for (int i = 0; i < 140; ++i) {
    rows.push_back(static_cast<float>(i / 7 % 10 + 1));
    rows.push_back(static_cast<float>(2 * (i % 7)));
    const int swing[] = {0, 1, 2, 2, 1, 0, -1};
    rows.push_back(static_cast<float>(swing[i % 7] + i / 7 * 5 % 4) + 0.2f * static_cast<float>(i * 7 % 5));
  }
  const std::vector<std::int64_t> offsets = {0, 70, 140};
  NetworkConfig config;
  config.channels = 3;
  const Ragged<const float> data{{rows.data(), 140, 3, 3}, offsets.data(), 2};
  config.learn_input(data, true, {{0}}, {1});
  EXPECT_EQ(config.statistics.structure.labels.orders, (std::vector<LabelOrder>{{0, 1, 2}}));
  const NetworkConfig back = NetworkConfig::from_json(config.json());
  EXPECT_EQ(back.statistics.structure.labels.orders, config.statistics.structure.labels.orders);
  EXPECT_GT(Network<float>(back).statistics(), 0);
  for (const nlohmann::json& bad : std::vector<nlohmann::json>{{{"label", 1}, {"column", 2}, {"gap", 1}},
                                                               {{"label", 0}, {"column", 3}, {"gap", 1}},
                                                               {{"label", 0}, {"column", -2}, {"gap", 1}},
                                                               {{"label", 0}, {"column", 0}, {"gap", 1}},
                                                               {{"label", 0}, {"column", 1}, {"gap", 0}},
                                                               {{"label", 0}, {"column", 1}, {"gap", "x"}},
                                                               {{"label", 0}, {"gap", 1}},
                                                               "by day"}) {
    nlohmann::json forged = config.json();
    forged["statistics"]["orders"] = {bad};
    EXPECT_THROW(Network<float>(NetworkConfig::from_json(forged)), Error) << bad;
  }
  nlohmann::json many = config.json();
  many["statistics"]["orders"].push_back(many["statistics"]["orders"][0]);
  EXPECT_THROW(Network<float>(NetworkConfig::from_json(many)), Error);
  many = config.json();
  many["statistics"]["label_list"] = static_cast<int>(kNewestLabels) + 1;
  EXPECT_THROW(Network<float>(NetworkConfig::from_json(many)), Error);
  // Files from before have fewer statistics of labels, which they say by not saying it.
  many = config.json();
  many["statistics"].erase("label_list");
  many["statistics"].erase("orders");
  EXPECT_THROW(Network<float>(NetworkConfig::from_json(many)), Error) << "as many scales as statistics";
}

// 80 rows of x, what is a step of it, and two columns of few values, one of which follows the other.
TEST(NetworkInput, ShapesAndTablesAreFoundAndStayInTheFile) {
  std::vector<float> rows;
  for (int i = 0; i < 160; ++i) {
    const int x = i * 37 % 80, a = i * 7 % 3;
    rows.push_back(0.5f * static_cast<float>(x));
    rows.push_back((x > 50 ? 20.0f : 0.0f) + 0.3f * static_cast<float>(i * 11 % 13));
    rows.push_back(static_cast<float>(a));
    rows.push_back(static_cast<float>(i % 5 == 0 ? i % 2 : a % 2));
  }
  const std::vector<std::int64_t> offsets = {0, 80, 160};
  NetworkConfig config;
  config.channels = 4;
  config.learn_input({{rows.data(), 160, 4, 4}, offsets.data(), 2}, false);
  const Relations& relations = config.statistics.structure.relations;
  EXPECT_NE(std::find(relations.shaped.begin(), relations.shaped.end(), ShapedColumns{0, 1}),
            relations.shaped.end());
  EXPECT_EQ(relations.tabled, (std::vector<std::int64_t>{2, 3}));
  const NetworkConfig back = NetworkConfig::from_json(config.json());
  EXPECT_EQ(back.statistics.structure.relations.shaped, relations.shaped);
  EXPECT_EQ(back.statistics.structure.relations.tabled, relations.tabled);
  EXPECT_GT(Network<float>(back).statistics(), 0);
  const auto refused = [&](const char* key, const nlohmann::json& bad) {
    nlohmann::json forged = config.json();
    forged["statistics"][key] = bad;
    EXPECT_THROW(Network<float>(NetworkConfig::from_json(forged)), Error) << key << ": " << bad;
  };
  using Bad = std::vector<nlohmann::json>;
  for (const nlohmann::json& bad :
       Bad{{{0, 0}}, {{0, 4}}, {{-1, 1}}, {{0}}, {{0, 1, 2}}, {{0, "y"}}, {0, 1}, "x", {{0, 1.5}}})
    refused("shapes", bad);
  for (const nlohmann::json& bad : Bad{{3, 2}, {2, 2}, {2, 4}, {-1, 2}, {2, "y"}, "x", 2, {{2, 3}}})
    refused("tables", bad);
  refused("tables", {1, 2, 3});  // more statistics than scales
  refused("shapes", nlohmann::json(kMostShaped + 1, nlohmann::json{0, 1}));
}

TEST(NetworkInput, DescriptionsSayItOnlyWhereItIsSo) {
  EXPECT_FALSE(small({}).json().contains("missing"));
  const NetworkConfig config = small({0, 1});
  EXPECT_EQ(NetworkConfig::from_json(config.json()).missing, config.missing);
  for (const nlohmann::json& bad :
       std::vector<nlohmann::json>{{-1}, {2}, {1, 0}, {1, 1}, {"y"}, 1, {{1}}, "y"}) {
    nlohmann::json forged = config.json();
    forged["missing"] = bad;
    EXPECT_THROW(NetworkConfig::from_json(forged), Error) << bad;
  }
}

}  // namespace
}  // namespace occam
