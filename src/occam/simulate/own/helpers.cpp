#include "occam/simulate/own/helpers.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/io/file.hpp"
#include "occam/simulate/own/helper_texts.hpp"  // generated from the files beside this one

namespace occam {

const std::vector<Helper>& helpers() {
  static const std::vector<Helper> all = {{"python", "occam_simulator.py", helper_texts::occam_simulator_py},
                                          {"r", "occam_simulator.R", helper_texts::occam_simulator_R},
                                          {"cpp", "occam/simulator.h", helper_texts::simulator_h},
                                          {"cpp-worker", kWorkerSource, helper_texts::worker_main_cc}};
  return all;
}

namespace {

// What is in the folder is run. Where others can write, they could put there what they would have run.
void require_own_folder(const std::string& folder) {
  struct stat named {
  }, there{};
  const bool own = ::lstat(folder.c_str(), &named) == 0 && named.st_uid == ::geteuid() &&
                   ::stat(folder.c_str(), &there) == 0 && S_ISDIR(there.st_mode) &&
                   there.st_uid == ::geteuid() && (there.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  if (own) return;
  throw Error(ErrorKind::io,
              "'{}' is not used for simulators, since it belongs to somebody else or others can write to it: "
              "remove it, so that it is made anew, or set XDG_CACHE_HOME to a folder of your own",
              folder);
}

bool holds(const std::string& path, std::string_view text) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) && read_file(path) == text;
}

}  // namespace

std::string cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string folder = variable("XDG_CACHE_HOME");
  if (folder.empty() && !variable("HOME").empty()) folder = fmt::format("{}/.cache", variable("HOME"));
  if (folder.empty()) {
    throw Error(ErrorKind::io,
                "there is no folder for compiled simulators: neither XDG_CACHE_HOME nor HOME is set");
  }
  folder = std::filesystem::absolute(folder).string();
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  folder += "/occam";
  if (!problem && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    problem = std::error_code(errno, std::generic_category());
  if (problem) {
    throw Error(ErrorKind::io,
                "cannot make the folder '{}': {}; set XDG_CACHE_HOME to one that can be written", folder,
                problem.message());
  }
  require_own_folder(folder);
  return folder;
}

std::string helper_folder() {
  std::string all;
  for (const Helper& helper : helpers()) all += helper.text;
  const std::string folder = fmt::format("{}/helpers-{}", cache_folder(), hexadecimal_hash(all));
  for (const Helper& helper : helpers()) {
    const std::string path = fmt::format("{}/{}", folder, helper.file);
    std::error_code problem;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
    if (!holds(path, helper.text)) write_file_atomic(path, helper.text, Written::by_each);
  }
  return folder;
}

}  // namespace occam
