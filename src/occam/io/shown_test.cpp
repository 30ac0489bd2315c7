#include "occam/io/shown.hpp"

#include <gtest/gtest.h>

namespace occam {
namespace {

TEST(Shown, KeepsTextAndReplacesWhatATerminalShouldNotSee) {
  EXPECT_EQ(shown("plain"), "plain");
  EXPECT_EQ(shown("Lévy α"), "Lévy α");
  EXPECT_EQ(shown(std::string_view("a\nb\0c\x1b[31m", 10)), R"(a\x0ab\x00c\x1b[31m)");
  EXPECT_EQ(shown("\xff\xc0\xaf"), R"(\xff\xc0\xaf)");
}

TEST(Shown, CutsBetweenCharacters) {
  EXPECT_EQ(shown("abcdef", 3), "abc...");
  EXPECT_EQ(shown("éé", 3), "é...");
}

TEST(Shown, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            R"(\xc2\x9b31m)");  // the 8 bit form of escape [
  EXPECT_EQ(shown("a\xe2\x80\xae"
                  "b\xe2\x81\xa6"),
            R"(a\xe2\x80\xaeb\xe2\x81\xa6)");  // writing turned round
  EXPECT_EQ(shown("\x7f"), R"(\x7f)");
  EXPECT_EQ(shown_text("a\tb\n\x1b[2J\r"), "a\tb\n\\x1b[2J\\x0d");
  EXPECT_EQ(shown_text(std::string(1000, 'x')).size(), 1000u);
}

TEST(Shown, TakesWhatIsNotUtf8ForWindows1252) {
  EXPECT_EQ(as_utf8("M\xfcller"), "Müller");
  EXPECT_EQ(as_utf8("Müller"), "Müller");
  EXPECT_EQ(as_utf8("\x80 \x96 \x9f"), "€ – Ÿ");
  EXPECT_TRUE(is_utf8(as_utf8("\x81\xff")));
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
