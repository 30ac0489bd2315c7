#include "occam/group/groups.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/group/group_report.hpp"
#include "occam/group/group_writer.hpp"
#include "occam/io/csv.hpp"

namespace occam {
namespace {

const FrequencyOptions kQuick{.sweeps = 64, .particles = 64};

GroupMember member(const std::string& id, const std::string& group, std::vector<double> evidence,
                   const std::string& left_out = "") {
  return {id, group, std::move(evidence), left_out};
}

GroupComparison compared(const std::vector<GroupMember>& members, std::size_t J = 2) {
  ThreadPool pool(1);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < J; ++j) names.push_back("m" + std::to_string(j));
  return compare_groups(names, members, kQuick, pool);
}

ErrorKind kind_of(const std::vector<GroupMember>& members, std::size_t J, std::string* message = nullptr) {
  try {
    compared(members, J);
  } catch (const Error& error) {
    if (message) *message = error.what();
    return error.kind();
  }
  return ErrorKind::internal;
}

TEST(Groups, DifferWhereTheirMembersDo) {
  std::vector<GroupMember> members;
  for (int n = 0; n < 12; ++n) {
    members.push_back(member("p" + std::to_string(n), "patients", {8, 0}));
    members.push_back(member("c" + std::to_string(n), "controls", {0, 8}));
  }
  const GroupComparison result = compared(members);
  ASSERT_EQ(result.groups.size(), 2U);
  EXPECT_EQ(result.groups[0].name, "patients");
  EXPECT_EQ(result.groups[0].n, 12);
  EXPECT_GT(result.groups[0].models[0].frequency, 0.9);
  EXPECT_GT(result.groups[1].models[1].protected_exceedance, 0.98);
  EXPECT_NEAR(result.groups[0].models[1].log_group_bf, -96, 1e-9);
  EXPECT_LT(result.groups[0].p_equal, 0.01);
  ASSERT_TRUE(result.difference);
  EXPECT_LT(result.difference->p_same, 1e-4);
  // All decisive: Beta functions. ln [B(13, 1)^2 / B(13, 13)].
  const double exact = -2 * std::log(13.0) - (2 * std::lgamma(13) - std::lgamma(26));
  EXPECT_NEAR(result.difference->log_bf_different, exact, 0.02);
  EXPECT_NE(difference_sentence(result).find("The groups differ"), std::string::npos);
}

TEST(Groups, ShareTheirFrequenciesWhereMembersAreAlike) {
  std::vector<GroupMember> members;
  for (int n = 0; n < 60; ++n) {
    members.push_back(member("a", n % 2 == 0 ? "x" : "y",
                             n % 4 < 2 ? std::vector<double>{9.0, 0.0} : std::vector<double>{0.0, 9.0}));
  }
  const GroupComparison result = compared(members);
  EXPECT_GT(result.difference->p_same, 0.7);
  EXPECT_EQ(result.difference->error, 0);
}

TEST(Groups, CountAndNameWhatIsLeftOut) {
  const GroupComparison result = compared(
      {member("s1", "g", {1, 0, 0}), member("s2", "g", {2, 0, 0}, "out-of-scope"),
       member("s3", "g", {1, 0, 0}, "outside-training"), member("s4", "g", {NAN, 0, 0}, "out-of-scope")},
      3);
  const GroupResult& group = result.groups[0];
  EXPECT_EQ(group.n, 1);
  ASSERT_EQ(group.left_out.size(), 3U);
  EXPECT_EQ(left_out_sentence(group), "3 left out: s2, s4 (out-of-scope); s3 (outside-training)");
  EXPECT_EQ(left_out_sentence(group, 1), "3 left out: s2 (out-of-scope); and 2 more");
  EXPECT_FALSE(result.difference);
  ASSERT_FALSE(group.notes.empty());
  EXPECT_NE(group.notes[0].find("group of one"), std::string::npos);
}

TEST(Groups, WithoutDataSetsAreNotJudged) {
  const GroupComparison result =
      compared({member("s1", "a", {1, 0}), member("s2", "b", {2, 0}, "out-of-scope")});
  ASSERT_EQ(result.groups.size(), 2U);
  EXPECT_EQ(result.groups[1].n, 0);
  EXPECT_TRUE(std::isnan(result.groups[1].models[0].frequency));
  EXPECT_FALSE(result.difference);
  std::string csv;
  write_groups_csv(result, [&](std::string_view text) { csv += text; });
  EXPECT_NE(csv.find("b,m0,0,1,,,,"), std::string::npos) << csv;
  EXPECT_TRUE(groups_json(result)["groups"][1]["models"][0]["frequency"].is_null());
  EXPECT_EQ(group_finding(result).judgements[1].severity, Severity::warning);
}

TEST(Groups, RefuseWhatCannotBeCompared) {
  std::string message;
  EXPECT_EQ(kind_of({}, 2), ErrorKind::bad_data);
  EXPECT_EQ(kind_of({member("s", "g", {0, 1}, "out-of-scope")}, 2, &message), ErrorKind::bad_data);
  EXPECT_NE(message.find("no data set is left"), std::string::npos);
  EXPECT_NE(message.find("out-of-scope"), std::string::npos);
  EXPECT_EQ(kind_of({member("bad one", "g", {0, NAN})}, 2, &message), ErrorKind::bad_data);
  EXPECT_NE(message.find("'bad one'"), std::string::npos);
  EXPECT_EQ(kind_of({member("s", "g", {-INFINITY, -INFINITY})}, 2), ErrorKind::bad_data);
  EXPECT_EQ(kind_of({member("s", "g", {INFINITY, 0})}, 2), ErrorKind::bad_data);
  EXPECT_EQ(kind_of({member("s", "g", {0})}, 1), ErrorKind::usage);
  ThreadPool pool(1);
  EXPECT_THROW(compare_groups({"a", "b"}, {member("s", "g", {0, 1})}, {.alpha0 = 0}, pool), Error);
  EXPECT_THROW(compare_groups({"a", "b"}, {member("s", "g", {0, 1})}, {.level = 1}, pool), Error);
}

TEST(Groups, SayWhenNoModelCanBeShared) {
  const GroupComparison result =
      compared({member("s1", "g", {0, -INFINITY}), member("s2", "g", {-INFINITY, 0})});
  EXPECT_TRUE(std::isnan(result.groups[0].models[0].log_group_bf));
  EXPECT_NEAR(result.groups[0].models[0].frequency, 0.5, 1e-12);
  EXPECT_NE(groups_text(result).find("no group Bayes factor"), std::string::npos);
}

TEST(Groups, AreReadBackFromCsv) {
  const std::string odd = "a \"quoted\", name\nin two lines";
  const GroupComparison result = compared({member("s1", odd, {3, 0}), member("s2", "", {3, 0})});
  std::string csv;
  write_groups_csv(result, [&](std::string_view text) { csv += text; });
  CsvReader reader = CsvReader::from_text(csv, "groups.csv");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.text(reader.column_index("group")), odd);
  EXPECT_EQ(reader.text(reader.column_index("model")), "m0");
  EXPECT_EQ(reader.number(reader.column_index("frequency")), result.groups[0].models[0].frequency);
  EXPECT_EQ(reader.number(reader.column_index("log_group_bf")), 0);
  EXPECT_EQ(reader.number(reader.column_index("p_groups_same")), result.difference->p_same);
  // Names do not break lines of text.
  EXPECT_EQ(groups_text(result).find("name\nin"), std::string::npos);
  EXPECT_EQ(groups_path("x/answers.csv"), "x/answers.groups.csv");
  EXPECT_EQ(groups_path("answers.tsv"), "answers.groups.tsv");
}

TEST(Groups, AreCollectedFromAnswers) {
  ModelPosterior answers({"a", "b", "c"}, {0.2, 0.3, 0.5});
  answers.add("s1", 10, std::vector<double>{std::log(4.0), std::log(3.0), std::log(5.0)});
  answers = answers.with_model_prior({0.5, 0.0, 0.5});
  GroupCollector collector(answers);
  collector.add(answers, {"g"}, {""});
  EXPECT_EQ(collector.model_names(), (std::vector<std::string>{"a", "c"}));
  const std::vector<double>& evidence = collector.members()[0].log_evidence;
  EXPECT_NEAR(evidence[0] - evidence[1], std::log(4.0 / 0.2) - std::log(5.0 / 0.5), 1e-12);
}

TEST(Groups, TakeFourHundredModels) {
  std::vector<GroupMember> members;
  for (std::size_t n = 0; n < 20; ++n) {
    std::vector<double> evidence(400, 0.0);
    evidence[n < 15 ? 3 : 10 * n] = 12;
    members.push_back(member("s", "g", evidence));
  }
  const GroupComparison result = compared(members, 400);
  EXPECT_NEAR(result.groups[0].models[3].frequency, 16.0 / 420, 0.002);
  EXPECT_GT(result.groups[0].models[3].exceedance, 0.95);
  const std::string text = groups_text(result);
  EXPECT_NE(text.find("392 more models"), std::string::npos) << text;
  EXPECT_EQ(group_finding(result).figures[0].specification["transform"].size(), 2U);
}

}  // namespace
}  // namespace occam
