// What the documentation shows is what the program does. Blocks that open with ```sh exactly are run, page by
// page in one folder, if they call occam: in a block with `$ ` prompts every command, its output compared
// with the lines below it (a line `...` stands for any lines);
// in a block without, every line. Pages are those of docs/, the READMEs of examples, studies and
// networks, and the pages at the top.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <gtest/gtest.h>

#include "shell.hpp"

namespace occam::testing_support {
namespace {

struct Step {
  std::string command;
  std::vector<std::string> shown;  // empty: output not compared
  int line = 0;
  bool compared = false;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A command that calls occam, perhaps in a pipe or after setting something up.
bool calls_occam(const std::string& command) {
  if (command.starts_with("occam ")) return true;
  for (const char* before : {"; ", "| ", "&& ", "("}) {
    if (command.find(before + std::string("occam ")) != std::string::npos) return true;
  }
  return false;
}

std::vector<Step> steps_of(const std::string& page) {
  std::vector<Step> steps;
  bool inside = false;
  bool prompts = false;
  int number = 0;
  const std::vector<std::string> lines = lines_of(page);
  for (const std::string& line : lines) {
    ++number;
    if (!inside) {
      inside = line == "```sh";
      prompts = inside && static_cast<std::size_t>(number) < lines.size() &&
                lines[static_cast<std::size_t>(number)].starts_with("$ ");
    } else if (line == "```") {
      inside = false;
    } else if (prompts && !line.starts_with("$ ")) {
      steps.back().shown.push_back(line);
    } else {
      steps.push_back({prompts ? line.substr(2) : line, {}, number, prompts});
    }
  }
  return steps;
}

// Three to five decimals, as in tables; numbers written in full have more.
bool is_rounded(const std::string& number) {
  const auto point = number.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : number.size() - point - 1;
  return decimals >= 3 && decimals <= 5;
}

// How far two numbers may be apart that are one as far as compilers and CPUs agree (those of a page with a
// training depend on all of its roundings).
enum class Kind { exact, trained, scope };
constexpr double kTrained = 0.0201;
double tolerance(const std::string& number, Kind kind, double trained) {
  // A rank of distances on a log scale. Where data are counts, the nearest simulated data sets are doubles,
  // and the distance to them is made of roundings: 0.968 and 0.426 were seen for one coin at two levels of
  // optimisation. What has to agree is the verdict beside it.
  if (kind == Kind::scope) return 1;
  if (kind == Kind::trained && is_rounded(number)) return trained;
  return 1e-6 * std::fabs(std::strtod(number.c_str(), nullptr));  // written in full: the last digits
}

bool same_number(const std::string& x, const std::string& y, Kind kind, double trained) {
  char* x_end = nullptr;
  char* y_end = nullptr;
  const double x_value = std::strtod(x.c_str(), &x_end);
  const double y_value = std::strtod(y.c_str(), &y_end);
  if (x.empty() || y.empty() || *x_end != '\0' || *y_end != '\0') return false;
  return std::fabs(x_value - y_value) <= std::min(tolerance(x, kind, trained), tolerance(y, kind, trained));
}

// Where the column scope_p ends in line `j` of a table, 0 where there is none. Tables end with an empty line.
std::size_t scope_end(const std::vector<std::string>& shown, std::size_t j) {
  while (j > 0 && !shown[j].empty()) {
    const std::string& above = shown[--j];
    if (const auto at = above.find(" scope_p "); at != std::string::npos)
      return at + std::string(" scope_p").size();
  }
  return 0;
}

// Whether two lines say the same; numbers may differ as much as they do from one CPU to another: those of
// trained networks by `trained`, 0 where nothing was trained.
bool same_line(const std::string& a, const std::string& b, double trained = 0, std::size_t scope_at = 0) {
  const char* separators = " ,\t:=";
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (std::strchr(separators, a[i]) != nullptr || std::strchr(separators, b[j]) != nullptr) {
      if (a[i++] != b[j++]) return false;
      continue;
    }
    const std::string x = a.substr(i, a.find_first_of(separators, i) - i);
    const std::string y = b.substr(j, b.find_first_of(separators, j) - j);
    i += x.size();
    j += y.size();
    const Kind kind = trained == 0 ? Kind::exact : i == scope_at ? Kind::scope : Kind::trained;
    if (x != y && !same_number(x, y, kind, trained)) return false;
  }
  return i == a.size() && j == b.size();
}

// Whether `lines` from `i` match `shown` from `j`, "..." standing for any number of lines.
bool matches(const std::vector<std::string>& lines, const std::vector<std::string>& shown, double trained = 0,
             std::size_t i = 0, std::size_t j = 0) {
  if (j == shown.size()) return i == lines.size();
  if (shown[j] == "...") {
    for (std::size_t k = i; k <= lines.size(); ++k) {
      if (matches(lines, shown, trained, k, j + 1)) return true;
    }
    return false;
  }
  return i < lines.size() && same_line(lines[i], shown[j], trained, scope_end(shown, j)) &&
         matches(lines, shown, trained, i + 1, j + 1);
}

TEST(DocsTest, ComparesLinesAsDescribed) {
  EXPECT_TRUE(same_line("a,0.12345678901,b", "a,0.12345678902,b"));
  EXPECT_FALSE(same_line("a,0.1234,b", "a,0.1235,b"));
  EXPECT_FALSE(same_line("n 3", "n 4"));
  EXPECT_FALSE(same_line("fair 0.749", "fair 0.750"));
  EXPECT_TRUE(same_line("fair 0.749 flat 0.251", "fair 0.769 flat 0.231", kTrained));
  EXPECT_FALSE(same_line("fair 0.749", "fair 0.770", kTrained));
  EXPECT_FALSE(same_line("n 3", "n 4", kTrained));
  EXPECT_FALSE(same_line("one two", "one"));
  EXPECT_FALSE(same_line("one", "one two"));
  EXPECT_TRUE(matches({"a", "b", "c", "d"}, {"a", "...", "d"}));
  EXPECT_TRUE(matches({"a"}, {"a", "..."}));
  EXPECT_FALSE(matches({"a", "b"}, {"a"}));
  EXPECT_FALSE(matches({"a", "b"}, {"...", "c"}));

  const std::string header = "data set   n  scope_p  verdict";
  const std::vector<std::string> table = {header, "penny     20    0.935  ambiguous fair 0.731"};
  EXPECT_TRUE(matches({header, "penny     20    0.768  ambiguous fair 0.731"}, table, kTrained));
  EXPECT_TRUE(matches({header, "penny     20    0.134  ambiguous fair 0.731"}, table, kTrained));
  EXPECT_FALSE(matches({header, "penny     20    0.768  decided   fair 0.731"}, table, kTrained));
  EXPECT_FALSE(matches({header, "penny     20    0.935  ambiguous fair 0.768"}, table, kTrained));
  EXPECT_FALSE(matches({header, "penny     21    0.935  ambiguous fair 0.731"}, table, kTrained));
  EXPECT_FALSE(matches({header, "penny     20    0.768  ambiguous fair 0.731"}, table, 0));
  EXPECT_FALSE(
      matches({header, "", "penny     20    0.768"}, {header, "", "penny     20    0.935"}, kTrained));
}

std::vector<std::string> pages() {
  std::vector<std::string> names = {"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"};
  for (const char* folder : {"docs", "examples", "studies", "networks"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(OCCAM_SOURCE "/" + std::string(folder))) {
      if (entry.path().extension() != ".md") continue;
      names.push_back(std::filesystem::relative(entry.path(), OCCAM_SOURCE).string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class EveryPage : public ::testing::TestWithParam<std::string> {};

// Examples in these languages need them; elsewhere their pages are skipped, and counted as such.
std::string missing_language(const std::string& page, const Shell& shell) {
  if (page.starts_with("examples/python") && shell("python3 -c 'import numpy'").code != 0) return "NumPy";
  if (page.starts_with("examples/r-") && shell("command -v Rscript").code != 0) return "R";
  return "";
}

// Of its four towns the one between two models is seen at .901 (at .818 with another seed; with an earlier
// network at .822 and, with tiles of bfloat16, at .854): a thousand steps do not settle it more than that.
double trained_tolerance(const std::string& page) {
  return page == "examples/cpp-epidemic/README.md" ? 0.0501 : kTrained;
}

TEST_P(EveryPage, ShowsWhatTheProgramDoes) {
  Shell shell;
  if (const std::string missing = missing_language(GetParam(), shell); !missing.empty())
    GTEST_SKIP() << missing << " is not installed";
  // Pages speak of files in examples/ as a reader at the top of the repository does.
  std::filesystem::create_symlink(OCCAM_SOURCE "/examples", shell.folder() / "examples");
  double trained = 0;
  for (const Step& step : steps_of(read_file(OCCAM_SOURCE "/" + GetParam()))) {
    if (!calls_occam(step.command)) continue;
    if (step.command.starts_with("occam train ")) trained = trained_tolerance(GetParam());
    const Outcome outcome = shell(step.command + " 2>&1");
    const std::string place = GetParam() + ":" + std::to_string(step.line) + ": " + step.command;
    if (step.compared) {
      EXPECT_TRUE(matches(lines_of(outcome.out), step.shown, trained)) << place << "\ngave\n" << outcome.out;
    } else {
      EXPECT_EQ(outcome.code, 0) << place << "\n" << outcome.out;
    }
  }
}

std::string page_label(const ::testing::TestParamInfo<std::string>& page) {
  std::string label = page.param;
  for (char& c : label) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return label;
}

INSTANTIATE_TEST_SUITE_P(Docs, EveryPage, ::testing::ValuesIn(pages()), page_label);

// Tables between markers are those that the program writes.
TEST_P(EveryPage, GeneratedTablesAreUpToDate) {
  Shell shell;
  const std::string page = read_file(OCCAM_SOURCE "/" + GetParam());
  const std::string marker = "\n<!-- reference ";
  for (auto at = page.find(marker); at != std::string::npos; at = page.find(marker, at + 1)) {
    const auto name = at + marker.size();
    const std::string part = page.substr(name, page.find(':', name) - name);
    if (!page.substr(name + part.size()).starts_with(": begin")) continue;
    const auto from = page.find('\n', name) + 1;
    const auto to = page.find("<!-- reference " + part + ": end", from);
    ASSERT_NE(to, std::string::npos) << GetParam() << ": " << part;
    EXPECT_TRUE(page.substr(from, to - from) == shell("occam reference " + part).out)
        << GetParam() << " is out of date; run `make docs`";
  }
}

// Blocks below a line `<!-- as in PAGE -->` stand word for word in that page, which is where they are run.
TEST_P(EveryPage, RepeatsOtherPagesWordForWord) {
  const std::string page = read_file(OCCAM_SOURCE "/" + GetParam());
  const std::string marker = "<!-- as in ";
  for (auto at = page.find(marker); at != std::string::npos; at = page.find(marker, at + 1)) {
    const auto name = at + marker.size();
    const std::string other = page.substr(name, page.find(" -->", name) - name);
    const auto from = page.find('\n', page.find("```", name)) + 1;
    const std::string block = page.substr(from, page.find("```", from) - from);
    EXPECT_NE(read_file(OCCAM_SOURCE "/" + other).find(block), std::string::npos)
        << GetParam() << " shows what is not in " << other << ":\n"
        << block;
  }
}

// Every link to a file of the repository leads somewhere.
TEST_P(EveryPage, LinksLeadSomewhere) {
  const std::string page = read_file(OCCAM_SOURCE "/" + GetParam());
  const auto folder = std::filesystem::path(OCCAM_SOURCE "/" + GetParam()).parent_path();
  for (auto at = page.find("]("); at != std::string::npos; at = page.find("](", at + 1)) {
    const std::string target = page.substr(at + 2, page.find_first_of(")#", at) - at - 2);
    if (target.empty() || target.starts_with("http")) continue;
    EXPECT_TRUE(std::filesystem::exists(folder / target)) << GetParam() << ": " << target;
  }
}

}  // namespace
}  // namespace occam::testing_support
