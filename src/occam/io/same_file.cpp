#include "occam/io/same_file.hpp"

#include <filesystem>
#include <sys/stat.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

namespace fs = std::filesystem;

bool is_path(const std::string& path) {
  return !path.empty() && path != "-";
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  const bool has_a = ::stat(a.c_str(), &of_a) == 0;
  const bool has_b = ::stat(b.c_str(), &of_b) == 0;
  if (has_a != has_b) return false;
  if (has_a) {
    const bool plain = S_ISREG(of_a.st_mode) || S_ISDIR(of_a.st_mode);
    return plain && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
  }
  std::error_code unknown;
  const fs::path whole_a = fs::weakly_canonical(fs::absolute(a, unknown), unknown);
  const fs::path whole_b = fs::weakly_canonical(fs::absolute(b, unknown), unknown);
  return !whole_a.empty() && whole_a == whole_b;
}

void refuse_clashes(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedPath& output = outputs[i];
    if (!is_path(output.path)) continue;
    for (const NamedPath& input : inputs) {
      if (!is_path(input.path) || !same_file(input.path, output.path)) continue;
      throw Error(ErrorKind::usage,
                  "{} '{}' would overwrite what is read ({} '{}'); give the output another name", output.name,
                  output.path, input.name, input.path);
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (!is_path(outputs[k].path) || !same_file(outputs[k].path, output.path)) continue;
      throw Error(ErrorKind::usage, "{} '{}' and {} '{}' are one file; give each a name of its own",
                  outputs[k].name, outputs[k].path, output.name, output.path);
    }
  }
}

}  // namespace occam
