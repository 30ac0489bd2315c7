// A model of the user's own: columns, order and parameters come from the problem file, the data from a C++
// file, a program in any language, or a table made elsewhere. Each model has a family object of its own.
//
//   simulator = "sir.cpp"                 a C++ file          compiled_family.hpp
//   simulator = ["python3", "bandit.py"]  a program           program_family.hpp
//   (none)                                a table             here
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/io/same_file.hpp"
#include "occam/simulate/family.hpp"

namespace occam {

// What a problem file says about such a model.
struct OwnModel {
  std::string name;  // of the model
  std::vector<Column> columns;
  bool ordered = false;
  std::vector<Parameter> parameters;
  nlohmann::json simulator;  // as written: text, a list of texts, or null for none
  double timeout_s = 600;    // of one answer of a program
  std::int64_t sets = 64;    // that a program is asked for at a time
  // Where the simulator's files are found. Empty: it is named only (by a network file, which may come from
  // anywhere), and all works but simulating.
  std::string folder;
};

class WorkerPool;
using WorkerPools = std::vector<std::pair<std::string, std::shared_ptr<WorkerPool>>>;

class OwnFamily : public Family {
 public:
  explicit OwnFamily(OwnModel model);

  const OwnModel& model() const { return model_; }
  std::string name() const override { return "own"; }
  std::string description() const override { return "a model of your own"; }
  std::vector<Column> columns() const override { return model_.columns; }
  std::vector<Parameter> parameters() const override { return model_.parameters; }
  bool ordered() const override { return model_.ordered; }
  bool takes_design() const override { return has_design(model_.columns); }
  // Columns, order, the simulator as written, and a hash of the content of each of its files.
  nlohmann::json identity() const override;
  bool simulates() const override { return !model_.simulator.is_null(); }

  // Error(usage): these data come from a table.
  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override;

  // Files that simulations depend on, by name in the folder, with a hash of their content.
  const std::vector<std::pair<std::string, std::string>>& files() const { return files_; }

 protected:
  // Adds a file of the folder to files(). Error(no_input) when it cannot be read.
  void depends_on(const std::string& file);
  std::string path_of(const std::string& file) const;
  // A data set (n, D) as a simulator gave it: returns its rows, 0 for all NaN ("no usable data"), but for a
  // given design. Error(bad_data) when only some values are not finite: names the row, the column and the
  // parameters.
  std::int64_t checked(const SimulationRequest& request, std::span<const float> values) const;
  // "model 'rw' (simulator `python3 bandit.py`)", to open messages.
  std::string label() const;
  // "n = 20, theta = 0.31", for messages.
  std::string request_text(const SimulationRequest& request) const;

 private:
  OwnModel model_;
  std::vector<std::pair<std::string, std::string>> files_;
};

// A simulator that is named only: nothing is looked for, opened, compiled or run, whatever the name is. Only
// families made with a folder hold a program or a compiler.
class NamedFamily final : public OwnFamily {
 public:
  using OwnFamily::OwnFamily;

  // Error(no_input): shows what is named, and says how to run it.
  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override;
};

// A NamedFamily where the model has no folder. Errors are without a position: the caller adds it.
// Error(bad_config) for a simulator that is neither text nor a list of texts, Error(no_input) for a file that
// is not there. `pools`, one for a problem file, lets models with the same program share its workers.
std::shared_ptr<const OwnFamily> make_own_family(OwnModel model, WorkerPools& pools);

// Paths of all files that the simulators of these models depend on.
class Problem;
std::vector<std::string> simulator_files(const Problem& problem);
// These and the csv of its design, as inputs that must not be overwritten (io/same_file.hpp).
std::vector<NamedPath> problem_inputs(const Problem& problem);

// The text of a simulator key, for people: "python3 bandit.py". On one line, without control characters.
std::string simulator_text(const nlohmann::json& simulator);

}  // namespace occam
