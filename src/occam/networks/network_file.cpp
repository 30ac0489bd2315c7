#include "occam/networks/network_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/core/version.hpp"
#include "occam/core/whole_number.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/shown.hpp"
#include "occam/nn/denormals.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "occam-network";
// Another CPU sums in another order; a damaged weight moves outputs by far more.
constexpr double kGoldenTolerance = 2e-3;
// What one golden data set may take while its outputs are computed, whatever the file claims: that many
// bytes, or that many times the bytes of the file's tensors where this is more.
constexpr double kGoldenMemory = 1e9;
constexpr double kGoldenExpansion = 512;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::bad_config, "{}", why);
}

// A number is a column whose labels name things that no other column names.
json labels_json(const LabelGroups& groups) {
  json list = json::array();
  for (const auto& group : groups) list.push_back(group.size() == 1 ? json(group.front()) : json(group));
  return list;
}

LabelGroups read_labels(const json& list, std::int64_t columns) {
  LabelGroups groups;
  std::vector<bool> known(static_cast<std::size_t>(columns));
  for (const json& entry : list) {
    groups.push_back(entry.is_array() ? whole_numbers(entry)
                                      : std::vector<std::int64_t>{whole_number(entry)});
    for (const std::int64_t c : groups.back()) {
      if (c < 0 || c >= columns || known[static_cast<std::size_t>(c)])
        refuse("its columns of labels are not usable");
      known[static_cast<std::size_t>(c)] = true;
    }
    if (groups.back().empty()) refuse("its columns of labels are not usable");
  }
  return groups;
}

json ranges_json(const std::vector<ColumnRange>& ranges) {
  json list = json::array();
  for (const ColumnRange& r : ranges) list.push_back({r.smallest, r.low, r.high, r.largest});
  return list;
}

std::vector<ColumnRange> read_ranges(const json& list) {
  std::vector<ColumnRange> ranges;
  for (const json& r : list) {
    const auto values = r.get<std::array<double, 4>>();
    ranges.push_back({values[0], values[3], values[1], values[2]});
  }
  return ranges;
}

json describe(const NetworkFile& file) {
  json description = {{"network", file.config.json()},
                      {"members", file.members.size()},
                      {"link", link_names()[static_cast<std::size_t>(file.link)]},
                      {"ordered", file.ordered},
                      {"columns", file.columns},
                      {"models", file.model_names},
                      {"model_prior", file.model_prior},
                      {"n", {file.smallest_n, file.largest_n}},
                      {"ranges", ranges_json(file.ranges)},
                      {"parameters",
                       {{"names", file.parameter_names},
                        {"mean", file.parameter_mean},
                        {"scale", file.parameter_scale},
                        {"mask", file.parameter_mask}}}};
  if (!file.config.head_kind().concentrations) description.erase("link");
  if (!file.design.empty()) description["design"] = file.design.json();
  if (!file.labels.empty()) description["labels"] = labels_json(file.labels);
  if (!file.parameter_inputs.empty()) {
    description["parameters"]["inputs"] = inputs_json(file.parameter_inputs);
  }
  return description;
}

Link link_named(const std::string& name) {
  for (std::size_t i = 0; i < link_names().size(); ++i) {
    if (link_names()[i] == name) return static_cast<Link>(i);
  }
  throw Error(ErrorKind::bad_config, "unknown output link '{}'", name);
}

void read_description(const json& d, NetworkFile& file) {
  file.config = NetworkConfig::from_json(d.at("network"));
  if (file.config.head_kind().concentrations) file.link = link_named(d.at("link").get<std::string>());
  file.ordered = d.at("ordered").get<bool>();
  file.columns = d.at("columns").get<std::vector<std::string>>();
  file.model_names = d.at("models").get<std::vector<std::string>>();
  file.model_prior = d.at("model_prior").get<std::vector<double>>();
  file.smallest_n = whole_number(d.at("n").at(0));
  file.largest_n = whole_number(d.at("n").at(1));
  if (d.contains("ranges")) file.ranges = read_ranges(d.at("ranges"));
  if (d.contains("design")) file.design = DesignProfile::from_json(d.at("design"), file.columns);
  if (d.contains("labels")) file.labels = read_labels(d.at("labels"), std::ssize(file.columns));
  const json& p = d.at("parameters");
  file.parameter_names = p.at("names").get<std::vector<std::string>>();
  file.parameter_mean = p.at("mean").get<std::vector<double>>();
  file.parameter_scale = p.at("scale").get<std::vector<double>>();
  if (p.contains("inputs")) file.parameter_inputs = inputs_from_json(p.at("inputs"));
  for (const json& row : p.at("mask")) {
    auto& mask = file.parameter_mask.emplace_back();
    for (const std::int64_t has : whole_numbers(row)) {
      if (has != 0 && has != 1) refuse("its parameter masks hold other numbers than 0 and 1");
      mask.push_back(static_cast<std::uint8_t>(has));
    }
  }
}

// Line ends in a name would forge lines of what is printed, control characters steer a terminal.
void check_plain(const std::string& name) {
  if (!is_plain(name)) refuse(fmt::format("the name '{}' holds control characters", shown(name)));
}

void check_names(const std::vector<std::string>& names, const char* what) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty() || !seen.insert(name).second)
      refuse(fmt::format("it names {} '{}' twice or not at all", what, shown(name)));
    check_plain(name);
  }
}

void check_ranges(const NetworkFile& file) {
  for (const ColumnRange& r : file.ranges) {
    const bool sound = std::isfinite(r.smallest) && std::isfinite(r.largest) && r.smallest <= r.low &&
                       r.low <= r.high && r.high <= r.largest;
    if (!sound) refuse("its ranges of columns are not usable");
  }
  if (file.smallest_n < 1 || file.largest_n < file.smallest_n)
    refuse(fmt::format("its sizes of data sets, {} to {}, are not usable", file.smallest_n, file.largest_n));
  for (std::size_t p = 0; p < file.parameter_mean.size(); ++p) {
    if (!std::isfinite(file.parameter_mean[p]) || !std::isfinite(file.parameter_scale[p]) ||
        !(file.parameter_scale[p] > 0)) {
      refuse("its scales of parameters are not usable");
    }
  }
}

void check_description(const NetworkFile& file) {
  const auto same = [](std::size_t a, std::int64_t b, const char* what) {
    if (a != static_cast<std::size_t>(b))
      refuse(fmt::format("it holds {} {}, its network expects {}", a, what, b));
  };
  same(file.columns.size(), file.config.channels, "columns");
  if (!file.ranges.empty()) same(file.ranges.size(), file.config.channels, "ranges of columns");
  same(file.model_names.size(), file.config.models, "model names");
  same(file.model_prior.size(), file.config.models, "model probabilities");
  const auto P = file.parameter_names.size();
  if (file.config.parameters != 0) same(P, file.config.parameters, "parameter names");
  same(file.parameter_mean.size(), static_cast<std::int64_t>(P), "parameter means");
  same(file.parameter_scale.size(), static_cast<std::int64_t>(P), "parameter scales");
  if (!file.parameter_inputs.empty()) {
    same(file.parameter_inputs.size(), static_cast<std::int64_t>(P), "transformations of parameters");
  }
  same(file.parameter_mask.size(), file.config.models, "parameter masks");
  for (const auto& mask : file.parameter_mask)
    same(mask.size(), static_cast<std::int64_t>(P), "mask entries");
  double sum = 0;
  for (const double p : file.model_prior) {
    if (!(p >= 0)) refuse("its model prior is not usable");
    sum += p;
  }
  if (!(std::abs(sum - 1) <= 1e-6)) refuse(fmt::format("its model prior sums to {}", sum));
  check_names(file.columns, "the column");
  check_names(file.model_names, "the model");
  check_names(file.parameter_names, "the parameter");
  check_ranges(file);
  if (file.design.missing() != file.config.missing)
    refuse("its columns with missing values are not those of its description of designs");
}

// What others look up in the record is of the kind that they expect. A number that was not finite was written
// as null, and is as good as none.
void check_record(json& record) {
  if (!record.is_object()) refuse("its record is not a JSON object");
  const auto require = [&](const char* key, bool right, const char* what) {
    if (!right) refuse(fmt::format("'{}' in its record is not {}", key, what));
  };
  for (const char* key : {"validation_loss", "seconds", "data_sets_per_s", "expected_gain"}) {
    if (!record.contains(key)) continue;
    if (record[key].is_null()) {
      record.erase(key);
    } else {
      require(key, record[key].is_number(), "a number");
    }
  }
  for (const char* key : {"steps", "total", "attempts", "best_step", "data_sets", "seed", "threads"})
    require(key, !record.contains(key) || record[key].is_number_integer(), "a whole number");
  for (const char* key : {"source", "program", "table", "start", "doubt"})
    require(key, !record.contains(key) || record[key].is_string(), "text");
  require("options", !record.contains("options") || record["options"].is_object(), "a table");
  if (!record.contains("extended")) return;
  const json models = record["extended"].is_object() ? record["extended"].value("models", json()) : json();
  require("extended",
          models.is_array() &&
              std::all_of(models.begin(), models.end(), [](const json& m) { return m.is_string(); }),
          "a table with the names of models");
}

std::vector<float> golden_outputs(const NetworkFile& file, Ragged<const float> data) {
  const FlushDenormals flush;
  const Network<float> network(file.config);
  network.check(data);
  std::vector<float> packed(static_cast<std::size_t>(network.packed_size()));
  std::vector<float> outputs;
  for (const auto& weights : file.members) {
    network.pack_all(weights.data(), packed.data());
    for (std::int64_t b = 0; b < data.sets; ++b) {  // one by one: they may be long
      Workspace workspace;
      const std::int64_t offsets[] = {0, data.size(b)};
      const Ragged<const float> one{data.x.rows_from(data.offsets[b], data.size(b)), offsets, 1};
      const Matrix<float> f = network.forward(packed.data(), one, workspace, false)->models;
      outputs.insert(outputs.end(), f.row(0), f.row(0) + f.columns);
    }
  }
  return outputs;
}

// The numbers that a pass leaves for every observation: one per unit of every layer.
double units_of(const ParameterLayout& layout) {
  double units = 1;
  for (const Tensor& tensor : layout.tensors()) {
    if (tensor.shape.size() == 1) units += static_cast<double>(tensor.size);
  }
  return units;
}

// Tensors of the first member have plain names, so that any reader finds the weights of a network.
std::string member_prefix(std::size_t member) {
  return member == 0 ? "" : fmt::format("member{}/", member);
}

// Reads the golden inputs and outputs. Their types are those they are written with, so that none takes more
// memory than it has in the file.
GoldenOutputs take_golden(const Safetensors& contents) {
  const auto take = [&](const char* name, DType dtype) -> const NdArray& {
    const NdArray& array = contents.at(name);
    if (array.dtype != dtype || array.bytes.empty())
      refuse(fmt::format("'{}' is empty or not of {}", name, dtype_name(dtype)));
    return array;
  };
  return {take("golden.data", DType::float32).as_float(), take("golden.n", DType::int64).as_int64(),
          take("golden.outputs", DType::float32).as_float()};
}

void verify_golden(const NetworkFile& file, std::size_t file_bytes, double units) {
  const GoldenOutputs& golden = file.golden;
  const std::int64_t D = file.config.channels;
  const std::int64_t rows = static_cast<std::int64_t>(golden.data.size()) / D;
  const double most_rows =
      std::max(kGoldenMemory, kGoldenExpansion * static_cast<double>(file_bytes)) / (sizeof(float) * units);
  std::vector<std::int64_t> offsets = {0};
  for (const std::int64_t n : golden.n) {
    if (n < 1 || n > rows - offsets.back()) refuse("its golden inputs are not usable");
    if (static_cast<double>(n) > most_rows)
      refuse(fmt::format("a golden input of {} observations is too long for its network", n));
    offsets.push_back(offsets.back() + n);
  }
  if (offsets.back() != rows || rows * D != static_cast<std::int64_t>(golden.data.size()) ||
      golden.n.size() * file.members.size() * static_cast<std::size_t>(file.config.models) !=
          golden.outputs.size()) {
    refuse("its golden inputs are not usable");
  }
  const auto sets = static_cast<std::int64_t>(golden.n.size());
  const Ragged<const float> data{{golden.data.data(), offsets.back(), D, D}, offsets.data(), sets};
  const std::vector<float> outputs = golden_outputs(file, data);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double expected = golden.outputs[i];
    if (!std::isfinite(expected) ||
        !(std::abs(outputs[i] - expected) <= kGoldenTolerance * (1 + std::abs(expected)))) {
      throw Error(
          ErrorKind::bad_config,
          "its golden outputs are not reproduced ({} instead of {}): the file is damaged, or this program "
          "computes differently from the one that wrote it",
          outputs[i], expected);
    }
  }
}

std::string metadata(const Safetensors& contents, const std::string& key) {
  const auto found = contents.metadata.find(key);
  if (found == contents.metadata.end()) refuse(fmt::format("it holds no '{}'", key));
  return found->second;
}

json metadata_json(const Safetensors& contents, const std::string& key) {
  return parse_json(metadata(contents, key), fmt::format("its '{}'", key), ErrorKind::bad_config);
}

// FNV-1a over names and bytes of all tensors in the order of their names: the checksum of version 1, which
// left out the metadata.
std::string checksum_of_version_1(const Safetensors& contents) {
  std::map<std::string_view, const NdArray*> by_name;
  for (const auto& [name, array] : contents.tensors) by_name[name] = &array;
  ByteHash hash;
  for (const auto& [name, array] : by_name) hash.add(name).add(std::span<const std::byte>(array->bytes));
  return hash.plain_text();
}

// The version decides how the checksum is made; nothing else differs.
void check_version(const Safetensors& contents) {
  const auto format = contents.metadata.find("format");
  if (format == contents.metadata.end() || format->second != kFormat) {
    throw Error(ErrorKind::bad_config,
                "this is a safetensors file, but not a network of occam (its metadata lack format = \"{}\")",
                kFormat);
  }
  const std::string version = metadata(contents, "format_version");
  if (version != "1" && version != std::to_string(NetworkFile::kFormatVersion)) {
    throw Error(ErrorKind::bad_config,
                "its format version is {}, this program (occam {}) reads versions 1 to {}; a newer occam may "
                "read it",
                shown(version), kVersion, NetworkFile::kFormatVersion);
  }
  const bool whole = version == "1" ? metadata(contents, "checksum") == checksum_of_version_1(contents)
                                    : seal_holds(contents);
  if (!whole) refuse("the file is damaged: its contents do not match their checksum");
}

}  // namespace

void add_tensors(Safetensors& contents, const ParameterLayout& layout, const std::vector<float>& flat,
                 const std::string& prefix) {
  for (const Tensor& tensor : layout.tensors()) {
    const std::span<const float> part(flat.data() + tensor.offset, static_cast<std::size_t>(tensor.size));
    contents.tensors.emplace_back(prefix + tensor.name, NdArray::of<float>(tensor.shape, part));
  }
}

std::vector<float> take_tensors(const Safetensors& contents, const ParameterLayout& layout,
                                const std::string& prefix) {
  // All of them are seen to be there before memory is taken for what the layout claims.
  for (const Tensor& tensor : layout.tensors()) {
    const NdArray& array = contents.at(prefix + tensor.name);
    if (array.shape == tensor.shape && array.dtype == DType::float32) continue;
    refuse(fmt::format("tensor '{}' has shape {} ({}), expected {} (float32)", prefix + tensor.name,
                       shown(shape_text(array.shape)), dtype_name(array.dtype), shape_text(tensor.shape)));
  }
  std::vector<float> flat(static_cast<std::size_t>(layout.size()));
  for (const Tensor& tensor : layout.tensors()) {
    const auto values = contents.at(prefix + tensor.name).view<float>();
    for (const float value : values) {
      if (!std::isfinite(value)) refuse(fmt::format("tensor '{}' holds {}", prefix + tensor.name, value));
    }
    std::copy(values.begin(), values.end(), flat.begin() + tensor.offset);
  }
  return flat;
}

GoldenOutputs make_golden(const NetworkFile& file, Ragged<const float> data) {
  GoldenOutputs golden;
  for (std::int64_t r = 0; r < data.x.rows; ++r) {
    golden.data.insert(golden.data.end(), data.x.row(r), data.x.row(r) + data.x.columns);
  }
  for (std::int64_t b = 0; b < data.sets; ++b) golden.n.push_back(data.size(b));
  golden.outputs = golden_outputs(file, data);
  return golden;
}

Safetensors network_to_safetensors(const NetworkFile& file) {
  Safetensors contents;
  contents.metadata = {{"format", kFormat},
                       {"format_version", std::to_string(NetworkFile::kFormatVersion)},
                       {"program", std::string("occam ") + kVersion},
                       {"description", describe(file).dump()},
                       {"problem_name", file.problem_name},
                       {"problem", file.problem},
                       {"fingerprint", file.fingerprint},
                       {"record", file.record.dump()}};
  const Network<float> network(file.config);
  for (std::size_t k = 0; k < file.members.size(); ++k) {
    add_tensors(contents, network.layout(), file.members[k], member_prefix(k));
  }
  const auto sets = static_cast<std::int64_t>(file.golden.n.size());
  const auto rows = static_cast<std::int64_t>(file.golden.data.size()) / file.config.channels;
  contents.tensors.emplace_back(
      "golden.data", NdArray::of<float>({rows, file.config.channels}, std::span(file.golden.data)));
  contents.tensors.emplace_back("golden.n", NdArray::of<std::int64_t>({sets}, std::span(file.golden.n)));
  contents.tensors.emplace_back(
      "golden.outputs",
      NdArray::of<float>({static_cast<std::int64_t>(file.members.size()) * sets, file.config.models},
                         std::span(file.golden.outputs)));
  if (!file.scope.is_null()) {
    contents.metadata["scope"] = file.scope.dump();
    contents.tensors.insert(contents.tensors.end(), file.scope_tensors.begin(), file.scope_tensors.end());
  }
  seal(contents);
  return contents;
}

NetworkFile network_from_safetensors(const Safetensors& contents, const std::string& name) {
  try {
    check_version(contents);
    NetworkFile file;
    file.path = name;
    const json description = metadata_json(contents, "description");
    read_description(description, file);
    check_description(file);
    file.problem_name = metadata(contents, "problem_name");
    check_plain(file.problem_name);
    file.problem = metadata(contents, "problem");
    file.fingerprint = metadata(contents, "fingerprint");
    file.record = metadata_json(contents, "record");
    check_record(file.record);
    const Network<float> network(file.config);
    const std::int64_t claimed = description.contains("members") ? whole_number(description["members"]) : 1;
    const auto members = static_cast<std::size_t>(claimed);
    if (claimed < 1 || members > contents.tensors.size()) {
      refuse(fmt::format("it claims to hold {} networks", claimed));
    }
    for (std::size_t k = 0; k < members; ++k)
      file.members.push_back(take_tensors(contents, network.layout(), member_prefix(k)));
    std::size_t bytes = 0;
    for (const auto& [tensor, array] : contents.tensors) bytes += array.bytes.size();
    file.golden = take_golden(contents);
    verify_golden(file, bytes, units_of(network.layout()));
    if (contents.metadata.contains("scope")) file.scope = metadata_json(contents, "scope");
    for (const auto& [tensor, array] : contents.tensors) {
      if (tensor.starts_with("scope.")) file.scope_tensors.emplace_back(tensor, array);
    }
    return file;
  } catch (const json::exception& error) {
    throw Error(ErrorKind::bad_config, "{}: its description is not usable ({})", name,
                shown(error.what(), 200));
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_config, "{}: {}", name, error.what());
  }
}

namespace {

// What was given in the place of a network.
std::string_view kind_by_name(std::string_view path) {
  if (path.ends_with(".toml")) return "a problem file";
  for (const char* data : {".csv", ".tsv", ".npz"}) {
    if (path.ends_with(data)) return "a file with data";
  }
  return "";
}

}  // namespace

void write_network_file(const std::string& path, const NetworkFile& file) {
  write_safetensors(path, network_to_safetensors(file));
}

NetworkFile read_network_file(const std::string& path) {
  try {
    return network_from_safetensors(read_safetensors(path), path);
  } catch (const Error& error) {
    const std::string_view kind = kind_by_name(path);
    if (error.kind() != ErrorKind::bad_config || kind.empty()) throw;
    throw Error(ErrorKind::bad_config, "{}: a network file belongs here; by its name this is {}", path, kind);
  }
}

}  // namespace occam
