#include "occam/io/temporary.hpp"

#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "occam/io/file.hpp"
#include "occam/io/same_file.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

namespace fs = std::filesystem;
using Folder = testing_support::TemporaryFolder;

TEST(Temporary, WhatDeadRunsLeftIsRemovedAndNothingElse) {
  const Folder folder;
  const std::vector<std::string> others = {".a.csv.tmp",       ".a.csv.x-1.tmp", ".b.csv.12-0.tmp",
                                           ".a.csv.12-0.tmpx", ".a.csv.-.tmp",   "a.csv.12-0.tmp"};
  for (const std::string& name : others) write_file_atomic(folder / name, "not ours");
  write_file_atomic(folder / ".a.csv.12-0.tmp", "left by a dead run");
  write_file_atomic(folder / ".a.csv.12-1.tmp", "of a run that lives");
  const int live = ::open((folder / ".a.csv.12-1.tmp").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(live, LOCK_EX), 0);
  write_file_atomic(folder / "a.csv", "new");
  EXPECT_FALSE(fs::exists(folder / ".a.csv.12-0.tmp"));
  EXPECT_TRUE(fs::exists(folder / ".a.csv.12-1.tmp"));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder / name)) << name;
  ::close(live);
  // Two of one program at once leave each other alone.
  AtomicFile first(folder / "a.csv");
  AtomicFile second(folder / "a.csv");
  EXPECT_FALSE(fs::exists(folder / ".a.csv.12-1.tmp"));
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_file(folder / "a.csv"), "first");
}

TEST(Temporary, FoldersGoWithAllThatIsInThem) {
  const Folder folder;
  fs::create_directory(folder / ".x.12-0.tmp");
  write_file_atomic(folder / ".x.12-0.tmp/half", "left by a dead run");
  {
    const occam::TemporaryFolder made(folder / "x");
    EXPECT_FALSE(fs::exists(folder / ".x.12-0.tmp"));
    write_file_atomic(made.path() + "/half", "1");
    const occam::TemporaryFolder other(folder / "x");
    EXPECT_TRUE(fs::exists(made.path() + "/half"));
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(OutputLock, IsHeldByOneAtATime) {
  const Folder folder;
  fs::create_directory_symlink(folder.path(), folder / "here");
  {
    const OutputLock lock(folder / "net.occam");
    const OutputLock another_file(folder / "other.occam");
    for (const char* path : {"net.occam", "here/net.occam"}) {
      const auto error = testing_support::error_of([&] { OutputLock second(folder / path); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->kind(), ErrorKind::io);
      EXPECT_NE(std::string(error->what()).find(std::to_string(::getpid())), std::string::npos);
    }
  }
  EXPECT_FALSE(fs::exists(folder / ".net.occam.lock"));
  write_file_atomic(folder / ".net.occam.lock", "12");  // of a dead run
  const OutputLock lock(folder / "net.occam");
  const OutputLock nothing("/dev/null");
}

TEST(SameFile, KnowsLinksAndFilesThatAreNotThereYet) {
  const Folder folder;
  write_file_atomic(folder / "a", "1");
  write_file_atomic(folder / "b", "1");
  fs::create_hard_link(folder / "a", folder / "hard");
  fs::create_symlink("a", folder / "soft");
  fs::create_directory_symlink(folder.path(), folder / "here");
  for (const char* path : {"a", "hard", "soft", "here/a", "here/here/soft"})
    EXPECT_TRUE(same_file(folder / "a", folder / path)) << path;
  EXPECT_FALSE(same_file(folder / "a", folder / "b"));
  EXPECT_FALSE(same_file(folder / "a", folder / "new"));
  EXPECT_TRUE(same_file(folder / "new", folder / "here/new"));
  EXPECT_FALSE(same_file(folder / "new", folder / "here/other"));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));
  EXPECT_TRUE(same_file(folder.path(), folder / "here"));
}

}  // namespace
}  // namespace occam
