// A network file (name.occam): a safetensors file whose tensors are the weights by name and a few golden
// inputs with their outputs, and whose metadata hold everything else as text. Any safetensors reader can read
// the weights. It knows the problem as text only; `train` writes it, `compare` and others read it, and they
// meet nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/data/column.hpp"
#include "occam/data/design_profile.hpp"
#include "occam/io/safetensors.hpp"
#include "occam/networks/network.hpp"
#include "occam/nn/loss.hpp"

namespace occam {

// A few data sets and what the network makes of them, kept so that a reader can tell a damaged file.
struct GoldenOutputs {
  std::vector<float> data;      // (sum n, D)
  std::vector<std::int64_t> n;  // (sets)
  std::vector<float> outputs;   // (members, sets, J), the network's output `models`
};

// Values of one column in the data sets trained on.
struct ColumnRange {
  double smallest = 0, largest = 0;
  double low = 0, high = 0;  // quantiles .001 and .999
};

struct NetworkFile {
  // Version 1 had a checksum over tensors only; it is still read.
  static constexpr std::int64_t kFormatVersion = 2;

  std::string path = "the network";  // where it was read from, for messages

  NetworkConfig config;
  Link link = Link::exp;  // of the evidential head; others have none
  std::vector<std::vector<float>>
      members;  // weights; more than one: an ensemble, whose answer is their mixture

  std::string problem_name;
  std::string problem;      // as a problem file (TOML)
  std::string fingerprint;  // of the problem
  bool ordered = false;
  std::vector<std::string> columns;      // (D)
  std::vector<std::string> model_names;  // (J)
  std::vector<double> model_prior;       // (J)
  std::int64_t smallest_n = 1;           // rows of the data sets trained on
  std::int64_t largest_n = 1;
  std::vector<ColumnRange> ranges;  // (D); empty in files written before there were any
  DesignProfile design;             // empty where no column is set by the experimenter
  LabelGroups labels;               // columns that only say which rows belong together

  // The network's outputs `parameters` are (t(theta) - mean) / scale, t a transformation that tames long
  // tails.
  std::vector<std::string> parameter_names;
  std::vector<double> parameter_mean, parameter_scale;
  std::vector<ColumnInput> parameter_inputs;              // (P), or none: as they are
  std::vector<std::vector<std::uint8_t>> parameter_mask;  // (J, P) which model has which

  nlohmann::json record = nlohmann::json::object();  // options, seed, steps, losses, program version
  // What the scope test needs (scope/scope_reference.hpp), carried as it is: tensors named scope.* and their
  // description; null where the network has none.
  nlohmann::json scope;
  std::vector<std::pair<std::string, NdArray>> scope_tensors;
  GoldenOutputs golden;

  // What to know of its answers, as was found when it was checked; said with each of them, not in the file.
  std::string caution;

  // Why its answers mean nothing, as its training found out; empty where it found no such thing.
  std::string doubt() const { return record.value("doubt", std::string()); }
  // Parameter p, given what the network says of it.
  double parameter_estimate(std::size_t p, double output) const {
    const double tamed = parameter_mean[p] + parameter_scale[p] * output;
    return parameter_inputs.empty() ? tamed : parameter_inputs[p].inverse(tamed);
  }
};

// Computes the golden outputs for these inputs.
GoldenOutputs make_golden(const NetworkFile& file, Ragged<const float> data);

Safetensors network_to_safetensors(const NetworkFile& file);
// Error(bad_config) for files that are foreign, newer than this program, damaged, inconsistent, or whose
// golden outputs are not reproduced. Takes memory for what the file holds, not for what it claims. The scope
// is looked at by scope_of alone (scope/scope.hpp). `name` is for messages.
NetworkFile network_from_safetensors(const Safetensors& contents, const std::string& name);

void write_network_file(const std::string& path, const NetworkFile& file);
// Fails as read_file does, and as network_from_safetensors.
NetworkFile read_network_file(const std::string& path);

// Weights or anything of their layout, as one tensor per name (prefix + name), and back: Error(bad_config)
// where one is missing, of another shape or type, or not finite.
void add_tensors(Safetensors& contents, const ParameterLayout& layout, const std::vector<float>& flat,
                 const std::string& prefix);
std::vector<float> take_tensors(const Safetensors& contents, const ParameterLayout& layout,
                                const std::string& prefix);

}  // namespace occam
