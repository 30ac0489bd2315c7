#include "occam/data/design_profile.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"

namespace occam {
namespace {

// Data sets with a condition (1 or 2, `share` of them 1), a dose and a value that is not of the design.
struct Data {
  std::vector<float> values;
  std::vector<std::int64_t> offsets = {0};

  void add(std::int64_t n, double share, double dose_low, double dose_high, Rng& rng) {
    for (std::int64_t i = 0; i < n; ++i) {
      values.push_back(static_cast<double>(i) < share * static_cast<double>(n) ? 1.0f : 2.0f);
      values.push_back(static_cast<float>(rng.normal()));
      values.push_back(static_cast<float>(rng.uniform(dose_low, dose_high)));
    }
    offsets.push_back(offsets.back() + n);
  }
  Ragged<const float> view() const {
    return {
        {values.data(), offsets.back(), 3, 3}, offsets.data(), static_cast<std::int64_t>(offsets.size()) - 1};
  }
  Matrix<const float> last() const {
    const std::int64_t first = offsets[offsets.size() - 2];
    return view().x.rows_from(first, offsets.back() - first);
  }
};

const std::vector<std::string> kNames = {"condition", "y", "dose"};

DesignProfile learned(double lowest_share, double highest_share) {
  Data data;
  Rng rng(1, Purpose::test, 0);
  for (int b = 0; b < 400; ++b) {
    const double share = rng.uniform(lowest_share, highest_share);
    data.add(rng.uniform_int(10, 300), share, 0, 10, rng);
  }
  return DesignProfile::learn({data.view()}, kNames, {true, false, true});
}

std::string foreign(const DesignProfile& profile, std::int64_t n, double share, double low = 0,
                    double high = 10) {
  Data data;
  Rng rng(2, Purpose::test, 0);
  data.add(n, share, low, high, rng);
  return profile.foreign(data.last());
}

TEST(DesignProfile, KnowsWhatItWasTrainedOn) {
  const DesignProfile any = learned(0, 1);
  for (const double share : {0.01, 0.1, 0.3, 0.5, 0.507, 0.99})
    EXPECT_EQ(foreign(any, 200, share), "") << share;
  const DesignProfile balanced = learned(0.5, 0.5);
  EXPECT_EQ(foreign(balanced, 200, 0.5), "");
  EXPECT_EQ(foreign(balanced, 201, 0.5), "");  // it cannot be balanced better
  EXPECT_NE(foreign(balanced, 300, 0.45).find("share of condition = 1 is 0.45"), std::string::npos)
      << foreign(balanced, 300, 0.45);
}

TEST(DesignProfile, NoticesValuesAndLevelsThatNeverWere) {
  const DesignProfile any = learned(0, 1);
  EXPECT_NE(foreign(any, 100, 0.5, 5, 20).find("dose reaches from"), std::string::npos);
  EXPECT_NE(foreign(any, 100, 0.5, 4.9, 5.1).find("standard deviation of dose"), std::string::npos);
  const std::vector<float> third = {3, 0, 5};
  EXPECT_NE(
      any.foreign({third.data(), 1, 3, 3}).find("condition = 3 is not among the levels trained on (1, 2)"),
      std::string::npos);
}

// Doses from 1 to 10,000, in training even in their logarithm: a tenth of the smallest is nothing of their
// range, and yet far outside.
TEST(DesignProfile, DosesOverOrdersOfMagnitudeAreToldByTheirLogarithm) {
  const auto doses = [](double low, double high, std::uint64_t seed) {
    std::vector<float> values(60);
    Rng rng(3, Purpose::test, seed);
    for (float& x : values) x = static_cast<float>(std::exp(rng.uniform(std::log(low), std::log(high))));
    return values;
  };
  std::vector<float> data;
  std::vector<std::int64_t> offsets = {0};
  for (std::uint64_t set = 0; set < 300; ++set) {
    const std::vector<float> values = doses(1, 10000, set);
    data.insert(data.end(), values.begin(), values.end());
    offsets.push_back(std::ssize(data));
  }
  const auto profile =
      DesignProfile::learn({{{data.data(), offsets.back(), 1, 1}, offsets.data(), 300}}, {"dose"}, {true});
  const auto said = [&](const std::vector<float>& values) {
    return profile.foreign({values.data(), std::ssize(values), 1, 1});
  };
  EXPECT_EQ(said(doses(1, 10000, 1000)), "");
  std::vector<float> lower = doses(1, 10000, 1001);
  lower[7] = 0.1f;
  EXPECT_NE(said(lower).find("dose reaches from 0.1"), std::string::npos) << said(lower);
  lower[7] = 0;
  EXPECT_NE(said(lower).find("dose reaches from 0 "), std::string::npos) << said(lower);
  EXPECT_NE(said(doses(2000, 10000, 1002)).find("of the logarithm of dose"), std::string::npos)
      << said(doses(2000, 10000, 1002));
  EXPECT_EQ(DesignProfile::from_json(profile.json(), {"dose"}).json(), profile.json());
  EXPECT_EQ(said(doses(1, 10000, 1003)), "");
  nlohmann::json broken = profile.json();
  broken["columns"][0]["smallest"] = -1;
  EXPECT_THROW(DesignProfile::from_json(broken, {"dose"}), Error) << "there is no logarithm of it";
}

// What labels are called by number is nothing that a user has ever seen.
TEST(DesignProfile, LabelsAreCountedNotNamed) {
  std::vector<float> values;
  std::vector<std::int64_t> offsets = {0};
  Rng rng(3, Purpose::test, 0);
  for (int b = 0; b < 200; ++b) {
    for (int i = 0; i < 40; ++i)
      values.push_back(i < 20 ? static_cast<float>(1 + i / 5) : static_cast<float>(rng.uniform_int(1, 4)));
    offsets.push_back(offsets.back() + 40);
  }
  const Ragged<const float> data = {{values.data(), offsets.back(), 1, 1}, offsets.data(), 200};
  const DesignProfile profile = DesignProfile::learn({data}, {"plate"}, {true});
  const auto says = [&](std::vector<float> rows) {
    return profile.foreign({rows.data(), std::ssize(rows), 1, 1}, {0});
  };
  std::vector<float> rows(40);
  for (std::size_t i = 0; i < 40; ++i) rows[i] = static_cast<float>(1 + i % 4);
  EXPECT_EQ(says(rows), "");
  for (std::size_t i = 0; i < 40; ++i) rows[i] = static_cast<float>(1 + i % 5);
  EXPECT_EQ(says(rows), "5 different labels of plate, in training at most 4");
  for (std::size_t i = 0; i < 40; ++i) rows[i] = static_cast<float>(1 + i % 3);
  EXPECT_EQ(says(rows), "3 different labels of plate, in training at least 4 at such sizes");
  for (std::size_t i = 0; i < 40; ++i) rows[i] = i < 37 ? 1 : static_cast<float>(i - 35);
  EXPECT_TRUE(says(rows).starts_with("one label of plate has 0.925 of the rows, in training 0.1"))
      << says(rows);
  EXPECT_TRUE(
      says(std::vector<float>(40, 1)).starts_with("one label of plate has all rows, in training 0.1"));
}

TEST(DesignProfile, ReadsBackAsTheSame) {
  const DesignProfile profile = learned(0.2, 0.6);
  const DesignProfile again = DesignProfile::from_json(profile.json(), kNames);
  EXPECT_EQ(again.json(), profile.json());
  EXPECT_EQ(again.dimensions(), 4);
  EXPECT_EQ(again.is_design(3), (std::vector<bool>{true, false, true}));
  EXPECT_THROW(DesignProfile::from_json(profile.json(), {"a", "b"}), Error);
  nlohmann::json broken = profile.json();
  broken["low"] = {1};
  EXPECT_THROW(DesignProfile::from_json(broken, kNames), Error);
}

TEST(DesignProfile, WithoutDesignColumnsNothingIsForeign) {
  const DesignProfile none;
  EXPECT_EQ(foreign(none, 10, 0.5), "");
  EXPECT_EQ(none.dimensions(), 0);
}

// Two columns without a design; of the second a share is missing.
struct Holes {
  std::vector<float> values;
  std::vector<std::int64_t> offsets = {0};

  void add(std::int64_t n, double share) {
    for (std::int64_t i = 0; i < n; ++i) {
      values.push_back(1.5f);
      values.push_back(static_cast<double>(i) < share * static_cast<double>(n) ? NAN : 2.0f);
    }
    offsets.push_back(offsets.back() + n);
  }
  Ragged<const float> view() const {
    return {
        {values.data(), offsets.back(), 2, 2}, offsets.data(), static_cast<std::int64_t>(offsets.size()) - 1};
  }
};

TEST(DesignProfile, ShareOfMissingValuesIsPartOfIt) {
  Holes data;
  Rng rng(1, Purpose::test, 0);
  for (int b = 0; b < 300; ++b) data.add(rng.uniform_int(20, 100), rng.uniform(0, 0.4));
  const std::vector<std::string> names = {"x", "y"};
  const DesignProfile profile = DesignProfile::learn({data.view()}, names, {false, false}, {1});
  EXPECT_FALSE(profile.empty());
  EXPECT_EQ(profile.missing(), std::vector<std::int64_t>{1});
  EXPECT_EQ(profile.is_design(2), (std::vector<bool>{false, false}));
  EXPECT_EQ(profile.dimensions(), 1);
  const auto foreign = [](const DesignProfile& known, double share) {
    Holes one;
    one.add(60, share);
    for (const float x : known.coordinates(one.view().x)) EXPECT_TRUE(std::isfinite(x));
    for (const float x : known.explanatory(one.view().x)) EXPECT_TRUE(std::isfinite(x));
    return known.foreign(one.view().x);
  };
  const DesignProfile again = DesignProfile::from_json(profile.json(), names);
  EXPECT_EQ(again.json(), profile.json());
  for (const DesignProfile& known : {profile, again}) {
    EXPECT_EQ(foreign(known, 0), "");
    EXPECT_EQ(foreign(known, 0.35), "");
    EXPECT_NE(foreign(known, 0.8).find("share of missing values of y is 0.8"), std::string::npos);
    EXPECT_NE(foreign(known, 1), "");
  }
  for (const nlohmann::json& bad : std::vector<nlohmann::json>{
           {{"name", "z"}, {"missing", true}}, {{"name", "y"}, {"missing", 1}}, {{"missing", true}}}) {
    nlohmann::json forged = profile.json();
    forged["columns"][0] = bad;
    EXPECT_ANY_THROW(DesignProfile::from_json(forged, names)) << bad;
    forged["columns"] = {profile.json()["columns"][0], profile.json()["columns"][0]};
    EXPECT_ANY_THROW(DesignProfile::from_json(forged, names));
  }
}

}  // namespace
}  // namespace occam
