// Whether what a command writes is also something it reads, or is written twice: by the file itself, whatever
// the paths that lead to it.
#pragma once

#include <string>
#include <vector>

namespace occam {

// Whether two paths lead to one file or folder, also through links: the same device and inode, or, where
// there is nothing yet, the same name in the same folder. Devices and pipes (/dev/null) are never the same.
bool same_file(const std::string& a, const std::string& b);

// A path, and what the user knows it by: "--log", "PROBLEM".
struct NamedPath {
  std::string name;
  std::string path;
};

// Error(usage) when an output is also an input, or two outputs are one file. Empty paths and "-" do not
// count.
void refuse_clashes(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

}  // namespace occam
