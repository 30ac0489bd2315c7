// What is in the making, beside the file it will become: `.NAME.PROCESS-NUMBER.tmp`. Its maker holds a lock
// on it (flock), which ends with the maker, however that ends; so what a dead run left can be told from what
// a live one is writing, and is removed by the next that writes the same file.
#pragma once

#include <string>

namespace occam {

// Makes a temporary file for `target` and returns its descriptor, open for writing, and its path; -1 and
// errno where that fails. First removes what dead runs left of the same target.
int open_temporary(const std::string& target, std::string& path);

// A temporary folder beside `target`, removed with all that is in it.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& target);  // Error(io) when it cannot be made
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

// Refuses a second run that writes to the same file while this object lives. The lock is a file beside the
// output, `.NAME.lock`; one that a dead run left means nothing.
class OutputLock {
 public:
  // Error(io) when another run has it; it says which. Where the file system knows no locks, nothing is
  // locked.
  explicit OutputLock(const std::string& output);
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace occam
