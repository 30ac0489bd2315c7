// Ready-made networks: trained before, installed with the program, and asked for by the name of their
// problem. A folder of them holds for problem P:V the network, P.V.occam, and beside it the record of how it
// was made and what `occam check` said of it, P.V.json (scripts/ready-made.sh writes both).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace occam {

struct ReadyMade {
  std::string problem;    // "decision-making:as_run"
  std::string path;       // of the network file
  nlohmann::json record;  // as record_beside() gives it
};

class ReadyMadeNetworks {
 public:
  // Of these folders the first that has a network counts. Folders need not exist.
  explicit ReadyMadeNetworks(std::vector<std::string> folders);

  // The folder that OCCAM_NETWORKS names, if it is set, then `installed`.
  static ReadyMadeNetworks with(const std::string& installed);
  // The same, for the running program: installed are those in ../share/occam/networks, seen from its folder.
  // In a build folder that is a link to networks/ of the sources.
  static ReadyMadeNetworks of_program();

  const std::vector<std::string>& folders() const { return folders_; }

  // All of built-in problems, in the order of the catalogue.
  std::vector<ReadyMade> all() const;
  std::vector<std::string> names() const;

  // The network file that a user means: a file of that name, or else the ready-made network for the built-in
  // problem of that name. What looks like a path is left as it is, for the reader to open. Error(no_input)
  // says what there is.
  std::string path_of(const std::string& name) const;

 private:
  std::string find(std::string_view problem) const;  // "" where there is none

  std::vector<std::string> folders_;
};

// "decision-making.as_run.occam": colons are not for file names.
std::string ready_made_file(std::string_view problem);

// The record beside a network file; null where there is none that is readable and names this file.
nlohmann::json record_beside(const std::string& network);

// "12000 steps, validation loss 0.4577 nats; check: no fault was found", or what there is of it.
std::string made_text(const nlohmann::json& record);

// What an answer of this network should say with it: the verdict of its check, where that found something
// serious; else nothing.
std::string caution_of(const nlohmann::json& record);

}  // namespace occam
