// Study: an experiment that was published, as data: which networks to train, what to ask them, and the
// figures that were reported. A folder holds it:
//   study.toml      networks and experiments, with what differs between the scales `quick` and `full`
//   *.toml          the problems, where they are not taken by their built-in names
//   *.cpp, *.h      simulators of their own
//   expected.json   published figures, the best possible ones, and what ours should reach
// The studies in studies/ of the repository travel inside the program.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/simulate/problem.hpp"

namespace occam {

struct StudyNetwork {
  std::string name;     // part of names of metrics and files: letters, digits, '_' and '-'
  std::string label;    // for people: "lambda = 0.1"
  std::string problem;  // a problem file of the study or a built-in name
  std::string start;    // another network of the study, whose weights it begins with; empty: none
  bool scope = false;   // whether it carries a scope reference
  nlohmann::json train = nlohmann::json::object();  // options beyond the problem's own
  nlohmann::json network = nlohmann::json::object();
};

struct StudyExperiment {
  std::string name;  // of its findings
  std::string kind;  // see experiment.hpp
  std::string title;
  std::string where;  // opens messages
  nlohmann::json options = nlohmann::json::object();
};

// One published figure, the metric of ours that stands beside it, and what ours should reach.
struct PublishedFigure {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  std::string what;    // "accuracy at N = 300, lambda = 0"
  std::string metric;  // "finding/metric"
  std::string source;  // "paper, figure 6a"
  double published = kNone;
  double best = kNone;      // best possible, computed beforehand
  std::string best_metric;  // or a metric of ours: the exact posterior on the same data sets
  double at_least = kNone;  // aims; most figures have none
  double at_most = kNone;
  double below_best = kNone;  // at most so much below the best possible
  double above_best = kNone;  // at most so much above it
};

struct Study {
  std::string name;
  std::string title;
  std::string text;   // what is reproduced, a few sentences
  std::string scale;  // quick, full
  std::vector<StudyNetwork> networks;
  std::vector<StudyExperiment> experiments;
  std::vector<PublishedFigure> figures;
  std::map<std::string, std::string> files;  // problem files and simulators by name
  std::string folder;                        // where simulators of its own lie; empty: inside the program

  const StudyNetwork& network(const std::string& name) const;  // Error(bad_config) if there is none
  Problem problem(const StudyNetwork& network) const;
};

// Names of the studies inside the program.
std::vector<std::string> study_names();
// Title of one of them.
std::string study_title(const std::string& name);

// A study inside the program or the folder of one. Error(usage) for an unknown name or scale, Error(no_input)
// for a folder without study.toml, Error(bad_config) for mistakes in its files.
Study load_study(const std::string& name_or_folder, const std::string& scale);

// A study that can be run: where one from inside the program has simulators of its own, its files are written
// into `folder`, and are found there. They are ours, so that running them is allowed.
Study unpacked(Study study, const std::string& folder);

// The same as load_study() from texts by file name; `folder` may be empty.
Study parse_study(const std::string& name, const std::map<std::string, std::string>& files,
                  const std::string& scale, const std::string& folder = "");

}  // namespace occam
