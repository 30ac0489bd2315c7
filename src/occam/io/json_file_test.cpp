#include "occam/io/json_file.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using testing_support::error_of;
using testing_support::failure_of;
using testing_support::TemporaryFolder;

TEST(JsonFile, RoundTrips) {
  const TemporaryFolder folder;
  const nlohmann::json value = {{"b", {1, 2.5, nullptr}}, {"a", "Lévy"}, {"c", {{"deep", true}}}};
  for (const JsonStyle style : {JsonStyle::pretty, JsonStyle::compact}) {
    write_json(folder / "x.json", value, style);
    EXPECT_EQ(read_json(folder / "x.json", ErrorKind::bad_data), value);
  }
  EXPECT_EQ(json_text(nlohmann::json{{"a", NAN}, {"b", "\xff"}}, JsonStyle::compact),
            "{\"a\":null,\"b\":\"\xEF\xBF\xBD\"}");
  EXPECT_EQ(json_text(nlohmann::json{{"a", 1}}), "{\n  \"a\": 1\n}\n");
}

TEST(JsonFile, ErrorsPointAtThePlace) {
  const auto error =
      error_of([] { parse_json("{\n  \"a\": 1,\n  \"b\": oops\n}", "x.json", ErrorKind::bad_config); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::bad_config);
  EXPECT_EQ(std::string(error->what()).find("x.json:3:8: not JSON: syntax error while parsing value"), 0u)
      << error->what();
  EXPECT_EQ(error_of([] { read_json("/nonexistent.json", ErrorKind::bad_data); })->kind(),
            ErrorKind::no_input);
}

TEST(JsonFile, RefusesWhatIsNotStrictJson) {
  const auto refusal = [](const std::string& text) {
    return failure_of([&] { parse_json(text, "x", ErrorKind::bad_data); });
  };
  EXPECT_EQ(refusal("{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}"), "65: x: the key 'a' is given twice");
  EXPECT_EQ(refusal("{\"b\": {\"a\": 2}, \"a\": [{\"a\": 3}]}"), "no error");
  EXPECT_EQ(refusal(std::string(200000, '[')), "65: x: nested deeper than 100 levels");
  EXPECT_EQ(refusal(std::string(90, '[') + std::string(90, ']')), "no error");
  EXPECT_NE(refusal(std::string(kLongestJson, ' ') + "1").find("at most 67108864 are read"),
            std::string::npos);
  for (const char* text : {"", " ", "{", "{\"a\":1,}", "nan", "1e999", "\"\xff\"", "[1] x", "// c\n1"}) {
    EXPECT_NE(refusal(text), "no error") << text;
  }
}

}  // namespace
}  // namespace occam
