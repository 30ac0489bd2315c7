#include "occam/io/shown.hpp"

#include <gtest/gtest.h>

namespace occam {
namespace {

TEST(Shown, KeepsTextAndReplacesWhatATerminalShouldNotSee) {
  EXPECT_EQ(shown("plain"), "plain");
  EXPECT_EQ(shown("Lévy α"), "Lévy α");
  EXPECT_EQ(shown(std::string_view("a\nb\0c\x1b[31m", 10)), "a?b?c?[31m");
  EXPECT_EQ(shown("\xff\xc0\xaf"), "???");
}

TEST(Shown, CutsBetweenCharacters) {
  EXPECT_EQ(shown("abcdef", 3), "abc...");
  EXPECT_EQ(shown("éé", 3), "é...");
}

TEST(Shown, KnowsUtf8) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("aé€😀"));
  for (const char* broken :
       {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(broken));
  }
}

}  // namespace
}  // namespace occam
