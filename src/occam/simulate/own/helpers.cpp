#include "occam/simulate/own/helpers.hpp"

#include <cstdlib>
#include <filesystem>

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
  folder = fmt::format("{}/occam", std::filesystem::absolute(folder).string());
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) {
    throw Error(ErrorKind::io,
                "cannot make the folder '{}': {}; set XDG_CACHE_HOME to one that can be written", folder,
                problem.message());
  }
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
    if (!std::filesystem::exists(path, problem)) write_file_atomic(path, helper.text, Written::by_each);
  }
  return folder;
}

}  // namespace occam
