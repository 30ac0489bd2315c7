#include "occam/page/session.hpp"

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/page/guess.hpp"

namespace occam {
namespace {

TEST(PageGuess, ColumnsByNameAndByWhatPeopleCallThem) {
  const std::vector<std::string> wanted = {"condition", "response", "rt"};
  EXPECT_EQ(guess_columns(wanted, {"rt", "response", "condition"}), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(guess_columns(wanted, {"Subject", "RT (ms)", "Resp", "cond"}), (std::vector<int>{3, 2, 1}));
  EXPECT_EQ(guess_columns(wanted, {"responseTime", "givenResponse", "cond"}), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(guess_columns(wanted, {"a", "b"}), (std::vector<int>{-1, -1, -1}));
  EXPECT_EQ(guess_columns({"x"}, {"whatever"}), (std::vector<int>{0}));
  // The better fit wins, and no column is taken twice.
  EXPECT_EQ(guess_columns({"x", "y"}, {"value", "y"}), (std::vector<int>{0, 1}));
}

TEST(PageGuess, DataSetsAreToldApartByTheUsualNames) {
  EXPECT_EQ(guess_by({"rt", "Participant ID"}, {0}), 1);
  EXPECT_EQ(guess_by({"subject", "dataset"}, {}), 1);
  EXPECT_EQ(guess_by({"rt", "SubjectID"}, {0}), 1);
  EXPECT_EQ(guess_by({"id"}, {0}), -1);
  EXPECT_EQ(guess_by_too({"subject", "Session", "rt"}, {2}, 0), 1);
  EXPECT_EQ(guess_by_too({"subject", "rt"}, {1}, 0), -1);
  EXPECT_EQ(guess_by_too({"session", "rt"}, {1}, 0), -1);
}

TEST(PageGuess, ThousandthsByNameOrByRange) {
  EXPECT_TRUE(looks_like_thousandths("RT_ms", {}, 0, 5));
  EXPECT_TRUE(looks_like_thousandths("timeMs", {}, 0, 5));
  EXPECT_TRUE(looks_like_thousandths("rt", {430, 510, 700}, 0.1, 5));
  EXPECT_FALSE(looks_like_thousandths("rt", {0.43, 0.5}, 0.1, 5));
  EXPECT_FALSE(looks_like_thousandths("items", {3, 4}, 0, 5));
  EXPECT_EQ(unit_in("response time [s]"), "s");
  EXPECT_EQ(unit_in("a ] b ["), "");
}

TEST(PageSession, SaysWhatIsMissing) {
  PageSession session;
  EXPECT_THROW(session.open_network("no network", "x"), Error);
  EXPECT_THROW(session.answers(nlohmann::json::object()), Error);
  EXPECT_THROW(session.preview({{"columns", {"a"}}}), Error);
}

}  // namespace
}  // namespace occam
