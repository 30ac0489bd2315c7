#include "occam/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "occam/io/test_support.hpp"

namespace occam {
namespace {

using testing_support::error_of;
using testing_support::failure_of;
using testing_support::TemporaryFolder;

TEST(ReadFile, GivesEveryByteBack) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 200000}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7);
    write_file_atomic(folder / "f", bytes);
    EXPECT_EQ(read_file(folder / "f"), bytes);
  }
  EXPECT_FALSE(read_file("/proc/self/status").empty());  // claims size 0
}

TEST(ReadFile, SaysWhyNot) {
  const TemporaryFolder folder;
  EXPECT_EQ(failure_of([&] { read_file(folder / "none"); }),
            "66: cannot read '" + folder.path() + "/none': No such file or directory");
  EXPECT_EQ(failure_of([&] { read_file(folder.path()); }),
            "74: cannot read '" + folder.path() + "': Is a directory");
}

TEST(InputFile, ReadsAnywhereButNotBeyondTheEnd) {
  const TemporaryFolder folder;
  write_file_atomic(folder / "f", "0123456789");
  const InputFile file(folder / "f");
  EXPECT_TRUE(file.is_regular());
  EXPECT_EQ(file.size(), 10u);
  std::string part(4, ' ');
  file.read_at(6, part);
  EXPECT_EQ(part, "6789");
  EXPECT_EQ(error_of([&] { file.read_at(7, part); })->kind(), ErrorKind::io);
}

TEST(AtomicFile, AppearsOnlyAtCommit) {
  const TemporaryFolder folder;
  const std::string path = folder / "out.csv";
  write_file_atomic(path, "old");
  {
    AtomicFile file(path);
    file.write("new ");
    file.write(std::as_bytes(std::span<const char>("er", 2)));
    EXPECT_EQ(read_file(path), "old");
    EXPECT_EQ(folder.count_files(), 2u);
    file.commit();
    EXPECT_EQ(read_file(path), "new er");
    EXPECT_THROW(file.write("more"), Error);
    EXPECT_THROW(file.commit(), Error);
  }
  EXPECT_EQ(read_file(path), "new er");
  EXPECT_EQ(folder.count_files(), 1u);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "out");
    file.write(std::string(300000, 'x'));
  }
  EXPECT_EQ(folder.count_files(), 0u);
}

// Each clears away what dead writers left; none may take a living one's file, not even just before its
// renaming.
TEST(AtomicFile, ManyMayWriteTheSame) {
  const TemporaryFolder folder;
  std::vector<std::string> failures(4);
  std::vector<std::thread> writers;
  for (std::string& failure : failures) {
    writers.emplace_back([&] {
      for (int i = 0; i < 300 && failure.empty(); ++i) {
        try {
          write_file_atomic(folder / "f", "same");
        } catch (const Error& error) {
          failure = error.what();
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  EXPECT_EQ(folder.count_files(), 1u);
}

TEST(AtomicFile, KeepsPermissionsAndLinks) {
  const TemporaryFolder folder;
  write_file_atomic(folder / "real", "1");
  ASSERT_EQ(::chmod((folder / "real").c_str(), 0640), 0);
  ASSERT_EQ(::symlink("real", (folder / "link").c_str()), 0);
  write_file_atomic(folder / "link", "2");
  EXPECT_EQ(read_file(folder / "real"), "2");
  struct stat status {};
  ASSERT_EQ(::lstat((folder / "link").c_str(), &status), 0);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  ASSERT_EQ(::stat((folder / "real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(AtomicFile, WritesSpecialFilesInPlace) {
  write_file_atomic("/dev/null", "gone");
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));

  // /dev/fd/N appends to what the descriptor already wrote, also when it is a regular file.
  const TemporaryFolder folder;
  const int descriptor = ::open((folder / "redirected").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::write(descriptor, "head ", 5), 5);
  write_file_atomic("/dev/fd/" + std::to_string(descriptor), "tail");
  ::close(descriptor);
  EXPECT_EQ(read_file(folder / "redirected"), "head tail");
}

TEST(AtomicFile, ReportsAFullDisk) {
  const auto small = error_of([] { write_file_atomic("/dev/full", "x"); });
  const auto large = error_of([] { write_file_atomic("/dev/full", std::string(1 << 20, 'x')); });
  for (const auto& error : {small, large}) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::io);
    EXPECT_STREQ(error->what(), "cannot write '/dev/full': No space left on device");
  }
}

TEST(RequireWritable, RefusesEarly) {
  const TemporaryFolder folder;
  require_writable(folder / "new");
  require_writable("/dev/null");
  require_writable("/dev/stdout");
  require_writable("relative_name");
  EXPECT_EQ(folder.count_files(), 0u);
  write_file_atomic(folder / "file", "");
  for (const std::string& path : {folder / "none/new", folder / "file/new", folder.path(),
                                  folder.path() + "/", std::string(""), std::string("/proc/none")}) {
    const auto error = error_of([&] { require_writable(path); });
    ASSERT_TRUE(error) << path;
    EXPECT_EQ(error->kind(), ErrorKind::io);
    EXPECT_NE(std::string(error->what()).find("'" + path + "'"), std::string::npos) << error->what();
    EXPECT_TRUE(error_of([&] { AtomicFile file(path); })) << path;
  }
  if (::geteuid() != 0) {  // root may write anywhere
    ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
    EXPECT_EQ(error_of([&] { require_writable(folder / "new"); })->kind(), ErrorKind::io);
    ::chmod(folder.path().c_str(), 0700);
  }
}

}  // namespace
}  // namespace occam
