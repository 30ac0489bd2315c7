#include "occam/io/toml_file.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"
#include "occam/io/toml_library.hpp"

namespace occam {
namespace {

using testing_support::error_of;
using testing_support::failure_of;
using testing_support::TemporaryFolder;

TEST(TomlFile, ReadsAndKnowsPlaces) {
  const TemporaryFolder folder;
  const std::string path = folder / "problem.toml";
  write_file_atomic(path, "title = 'x'\n\n[[models]]\nname = \"a\"\n  prior = 0.25\n");
  const toml::table table = read_toml(path);
  const toml::node* prior = table.at_path("models[0].prior").node();
  ASSERT_NE(prior, nullptr);
  EXPECT_EQ(toml_place(*prior), path + ":5:11");
  EXPECT_EQ(toml_place(*table.get("title")), path + ":1:9");
  EXPECT_EQ(toml_place(toml::table{}), "(no file)");
}

// Keys, lists and inline tables may each be nested a little; together they would be without end.
TEST(TomlFile, RefusesWhatIsNestedTooDeeply) {
  std::string key = "k";
  for (int i = 0; i < 90; ++i) key += ".k";
  std::string text = "1";
  for (int i = 0; i < 100; ++i) text = "{" + key + " = " + text + "}";
  EXPECT_NE(failure_of([&] { parse_toml("x = " + text, "p"); }).find("nested deeper than"),
            std::string::npos);
}

TEST(TomlFile, BecomesJson) {
  const auto table =
      parse_toml("i = 3\nf = 1.0\nb = true\ns = 'é'\nl = [1, [2]]\nd = 1979-05-27\n[t.u]\nx = -1\n", "p");
  const nlohmann::json expected = {{"i", 3},
                                   {"f", 1.0},
                                   {"b", true},
                                   {"s", "é"},
                                   {"l", {1, {2}}},
                                   {"d", "1979-05-27"},
                                   {"t", {{"u", {{"x", -1}}}}}};
  EXPECT_EQ(toml_to_json(table), expected);
  EXPECT_TRUE(toml_to_json(table)["f"].is_number_float());
  EXPECT_TRUE(toml_to_json(table)["i"].is_number_integer());
}

TEST(TomlFile, ErrorsPointAtThePlace) {
  const auto error = error_of([] { parse_toml("a = 1\nb = \n", "p.toml"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::bad_config);
  EXPECT_EQ(std::string(error->what()).find("p.toml:2:"), 0u) << error->what();
  EXPECT_EQ(error_of([] { read_toml("/nonexistent.toml"); })->kind(), ErrorKind::no_input);
  for (const std::string& text :
       {std::string("a = 1\na = 2"), std::string("a = \"\xff\""), "a = " + std::string(5000, '[')}) {
    EXPECT_EQ(failure_of([&] { parse_toml(text, "p"); }).find("78: p:"), 0u);
  }
}

TEST(TomlFile, TextWithoutQuotesIsSaidToBeSo) {
  const auto says = [](const std::string& text) { return failure_of([&] { parse_toml(text, "p"); }); };
  for (const std::string value : {"uniform(1, 100)", "normal(0, 1)", "inv_gamma(2, 1)",
                                  "truncated_normal(0, 1)", "beta(1, 1)", "flat", "fixed(3)"}) {
    const std::string hint = "; text needs quotes: \"" + value + "\"";
    EXPECT_TRUE(says("a = 1\nlambda = " + value + "  # a prior\n").ends_with(hint)) << value;
    EXPECT_TRUE(says("a = { b = \"x = y\", c = " + value + " }\n").ends_with(hint)) << value;
  }
  for (const std::string text :
       {"a = 1\nb = \n", "a = \"x = y", "a = [1, 2\n", "a = 1 # b = c\na = 2\n", "a = 1x\n"})
    EXPECT_EQ(says(text).find("quotes"), std::string::npos) << says(text);
}

// Each dot is a table in a table: the parser's own clean-up ran out of stack at 100,000 of them.
TEST(TomlFile, KeysOfManyPartsAreRefused) {
  std::string parts = "a";
  for (int i = 0; i < 100000; ++i) parts += ".a";
  for (const std::string& text : {parts + " = 1\n", "\n[" + parts + "]\n", "[[" + parts + "]]\n",
                                  "x = { " + parts + " = 1 }\n", "s = '''\n'''\n" + parts + " = 1\n"}) {
    const std::string got = failure_of([&] { parse_toml(text, "p"); });
    EXPECT_NE(got.find("a key of more than 100 parts"), std::string::npos) << got;
  }
  EXPECT_EQ(failure_of([&] { parse_toml("\n\n" + parts + " = 1", "p"); }).find("78: p:3: "), 0u);
  // Dots that are no levels: in texts, comments and numbers.
  const std::string dots(500, '.');
  for (const std::string& text :
       {"s = \"" + dots + "\"\n", "s = '" + dots + "'\n", "s = \"\"\"" + dots + "\n" + dots + "\"\"\"\n",
        "s = \"\\\"" + dots + "\"\n", "# " + dots + "\n",
        "s = '''" + dots + "'''''\nt = 1\n", "l = [" + []() {
          std::string list;
          for (int i = 0; i < 500; ++i) list += "0.5, ";
          return list;
        }() + "]\n"}) {
    EXPECT_EQ(failure_of([&] { parse_toml(text, "p"); }), "no error") << text;
  }
}

}  // namespace
}  // namespace occam
