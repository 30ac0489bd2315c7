#include "occam/core/fields.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"

namespace occam {
namespace {

struct Options {
  std::int64_t count = 5;
  double rate = 0.5;
  std::string mode = "fast";
  bool loud = false;
  std::vector<std::int64_t> sizes = {64, 64};
};

Fields fields(Options& o) {
  return {field("count", o.count, "how many").at_least(1),
          field("rate", o.rate, "how fast").above(0).at_most(1),
          field("mode", o.mode, "which way").one_of({"fast", "slow"}), field("loud", o.loud, "say more"),
          field("layer_sizes", o.sizes, "widths").at_least(1)};
}

TEST(Fields, ReadsEveryTypeFromText) {
  Options o;
  Fields list = fields(o);
  list[0].parse("12");
  list[1].parse("1");
  list[2].parse("slow");
  list[3].parse("true");
  list[4].parse("8, 16,32");
  EXPECT_EQ(o.count, 12);
  EXPECT_EQ(o.rate, 1.0);
  EXPECT_EQ(o.mode, "slow");
  EXPECT_TRUE(o.loud);
  EXPECT_EQ(o.sizes, (std::vector<std::int64_t>{8, 16, 32}));
  EXPECT_EQ(list[4].flag(), "--layer-sizes");
}

TEST(Fields, RefusesBadValuesWithWhatWasExpected) {
  Options o;
  Fields list = fields(o);
  for (const auto& [index, text] : std::vector<std::pair<int, std::string>>{{0, "0"},
                                                                            {0, "-3"},
                                                                            {0, "2.5"},
                                                                            {0, ""},
                                                                            {0, "99999999999999999999"},
                                                                            {1, "0"},
                                                                            {1, "nan"},
                                                                            {1, "1.5"},
                                                                            {2, "medium"},
                                                                            {3, "yes"},
                                                                            {4, "1,,2"},
                                                                            {4, "0"}}) {
    try {
      list[index].parse(text);
      ADD_FAILURE() << "accepted '" << text << "' for " << list[index].name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find(list[index].expected()), std::string::npos) << error.what();
    }
  }
}

TEST(Fields, RoundTripThroughJson) {
  Options a;
  a.count = 9;
  a.sizes = {1, 2, 3};
  Options b;
  set_fields(fields(b), fields_json(fields(a)), "test");
  EXPECT_EQ(fields_json(fields(a)), fields_json(fields(b)));
}

TEST(Fields, DefaultsAreShownForReaders) {
  std::int64_t threads = 0;
  std::string model;
  bool exact = false;
  const Fields list = {field("threads", threads, "threads").at_least(1).by_default("all cores"),
                       field("model", model, "a model"), field("exact", exact, "exact")};
  EXPECT_EQ(fields_markdown(list),
            "| option | default | meaning |\n|---|---|---|\n"
            "| `threads` | all cores | threads (an integer, at least 1) |\n"
            "| `model` |  | a model |\n"
            "| `exact` | `false` | exact |\n");
}

TEST(Fields, UnknownKeySuggestsTheNearest) {
  Options o;
  try {
    set_fields(fields(o), {{"cuont", 3}}, "p.toml:4");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    EXPECT_STREQ(error.what(), "p.toml:4: unknown key 'cuont' (did you mean 'count'?)");
  }
}

}  // namespace
}  // namespace occam
