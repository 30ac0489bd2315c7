#include "occam/networks/network_file.hpp"

#include <array>
#include <cmath>

#include "occam/core/error.hpp"
#include "occam/core/version.hpp"
#include "occam/nn/denormals.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "occam-network";
// Another CPU sums in another order; a damaged weight moves outputs by far more.
constexpr double kGoldenTolerance = 2e-3;

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::bad_config, "{}: {}", name, why);
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
  file.smallest_n = d.at("n").at(0).get<std::int64_t>();
  file.largest_n = d.at("n").at(1).get<std::int64_t>();
  if (d.contains("ranges")) file.ranges = read_ranges(d.at("ranges"));
  const json& p = d.at("parameters");
  file.parameter_names = p.at("names").get<std::vector<std::string>>();
  file.parameter_mean = p.at("mean").get<std::vector<double>>();
  file.parameter_scale = p.at("scale").get<std::vector<double>>();
  file.parameter_mask = p.at("mask").get<std::vector<std::vector<std::uint8_t>>>();
}

void check_description(const NetworkFile& file) {
  const auto same = [](std::size_t a, std::int64_t b, const char* what) {
    if (a != static_cast<std::size_t>(b)) {
      throw Error(ErrorKind::bad_config, "it holds {} {}, its network expects {}", a, what, b);
    }
  };
  same(file.columns.size(), file.config.channels, "columns");
  if (!file.ranges.empty()) same(file.ranges.size(), file.config.channels, "ranges of columns");
  same(file.model_names.size(), file.config.models, "model names");
  same(file.model_prior.size(), file.config.models, "model probabilities");
  const auto P = file.parameter_names.size();
  if (file.config.parameters != 0) same(P, file.config.parameters, "parameter names");
  same(file.parameter_mean.size(), static_cast<std::int64_t>(P), "parameter means");
  same(file.parameter_scale.size(), static_cast<std::int64_t>(P), "parameter scales");
  same(file.parameter_mask.size(), file.config.models, "parameter masks");
  for (const auto& mask : file.parameter_mask)
    same(mask.size(), static_cast<std::int64_t>(P), "mask entries");
  double sum = 0;
  for (const double p : file.model_prior) {
    if (!(p >= 0)) throw Error(ErrorKind::bad_config, "its model prior is not usable");
    sum += p;
  }
  if (std::abs(sum - 1) > 1e-6) throw Error(ErrorKind::bad_config, "its model prior sums to {}", sum);
}

std::vector<float> golden_outputs(const NetworkFile& file, Ragged<const float> data) {
  const FlushDenormals flush;
  const Network<float> network(file.config);
  network.check(data);
  std::vector<float> packed(static_cast<std::size_t>(network.packed_size()));
  std::vector<float> outputs;
  for (const auto& weights : file.members) {
    network.pack_all(weights.data(), packed.data());
    Workspace workspace;
    const Matrix<float> f = network.forward(packed.data(), data, workspace, false)->models;
    for (std::int64_t b = 0; b < f.rows; ++b) outputs.insert(outputs.end(), f.row(b), f.row(b) + f.columns);
  }
  return outputs;
}

// Tensors of the first member have plain names, so that any reader finds the weights of a network.
std::string member_prefix(std::size_t member) {
  return member == 0 ? "" : fmt::format("member{}/", member);
}

void verify_golden(const NetworkFile& file) {
  const GoldenOutputs& golden = file.golden;
  std::vector<std::int64_t> offsets = {0};
  for (const std::int64_t n : golden.n) {
    if (n < 1 || n > static_cast<std::int64_t>(golden.data.size())) {
      throw Error(ErrorKind::bad_config, "its golden inputs are not usable");
    }
    offsets.push_back(offsets.back() + n);
  }
  const std::int64_t D = file.config.channels;
  if (offsets.back() * D != static_cast<std::int64_t>(golden.data.size()) ||
      golden.n.size() * file.members.size() * static_cast<std::size_t>(file.config.models) !=
          golden.outputs.size()) {
    throw Error(ErrorKind::bad_config, "its golden inputs are not usable");
  }
  const auto sets = static_cast<std::int64_t>(golden.n.size());
  const Ragged<const float> data{{golden.data.data(), offsets.back(), D, D}, offsets.data(), sets};
  const std::vector<float> outputs = golden_outputs(file, data);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double expected = golden.outputs[i];
    if (!(std::abs(outputs[i] - expected) <= kGoldenTolerance * (1 + std::abs(expected)))) {
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
  if (found == contents.metadata.end()) throw Error(ErrorKind::bad_config, "it holds no '{}'", key);
  return found->second;
}

void check_version(const Safetensors& contents) {
  const auto format = contents.metadata.find("format");
  if (format == contents.metadata.end() || format->second != kFormat) {
    throw Error(ErrorKind::bad_config,
                "this is a safetensors file, but not a network of occam (its metadata lack format = \"{}\")",
                kFormat);
  }
  const std::string version = metadata(contents, "format_version");
  if (version != std::to_string(NetworkFile::kFormatVersion)) {
    throw Error(
        ErrorKind::bad_config,
        "its format version is {}, this program (occam {}) reads version {}; a newer occam may read it",
        version, kVersion, NetworkFile::kFormatVersion);
  }
}

void check_checksum(const Safetensors& contents) {
  if (metadata(contents, "checksum") != tensor_checksum(contents)) {
    throw Error(ErrorKind::bad_config, "the file is damaged: its weights do not match their checksum");
  }
}

}  // namespace

// FNV-1a, 64 bit (Fowler, Noll, Vo): against accidents, not against forgery.
std::string tensor_checksum(const Safetensors& contents) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const auto& bytes) {
    for (const auto byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3u;
  };
  std::map<std::string, const NdArray*> by_name;
  for (const auto& [name, array] : contents.tensors) by_name[name] = &array;
  for (const auto& [name, array] : by_name) {
    add(name);
    add(array->bytes);
  }
  return fmt::format("{:016x}", hash);
}

void add_tensors(Safetensors& contents, const ParameterLayout& layout, const std::vector<float>& flat,
                 const std::string& prefix) {
  for (const Tensor& tensor : layout.tensors()) {
    const std::span<const float> part(flat.data() + tensor.offset, static_cast<std::size_t>(tensor.size));
    contents.tensors.emplace_back(prefix + tensor.name, NdArray::of<float>(tensor.shape, part));
  }
}

std::vector<float> take_tensors(const Safetensors& contents, const ParameterLayout& layout,
                                const std::string& prefix, const std::string& name) {
  std::vector<float> flat(static_cast<std::size_t>(layout.size()));
  for (const Tensor& tensor : layout.tensors()) {
    const NdArray& array = contents.at(prefix + tensor.name);
    if (array.shape != tensor.shape || array.dtype != DType::float32) {
      refuse(name, fmt::format("tensor '{}' has shape {} ({}), expected {} (float32)", prefix + tensor.name,
                               shape_text(array.shape), dtype_name(array.dtype), shape_text(tensor.shape)));
    }
    const auto values = array.view<float>();
    for (const float value : values) {
      if (!std::isfinite(value))
        refuse(name, fmt::format("tensor '{}' holds {}", prefix + tensor.name, value));
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
  contents.metadata["checksum"] = tensor_checksum(contents);
  return contents;
}

NetworkFile network_from_safetensors(const Safetensors& contents, const std::string& name) {
  try {
    check_version(contents);
    check_checksum(contents);
    NetworkFile file;
    const json description = json::parse(metadata(contents, "description"));
    read_description(description, file);
    check_description(file);
    file.problem_name = metadata(contents, "problem_name");
    file.problem = metadata(contents, "problem");
    file.fingerprint = metadata(contents, "fingerprint");
    file.record = json::parse(metadata(contents, "record"));
    const Network<float> network(file.config);
    const auto members = description.value("members", std::size_t{1});
    if (members < 1 || members > contents.tensors.size()) {
      throw Error(ErrorKind::bad_config, "it claims to hold {} networks", members);
    }
    for (std::size_t k = 0; k < members; ++k) {
      file.members.push_back(take_tensors(contents, network.layout(), member_prefix(k), name));
    }
    file.golden = {contents.at("golden.data").as_float(), contents.at("golden.n").as_int64(),
                   contents.at("golden.outputs").as_float()};
    verify_golden(file);
    if (contents.metadata.contains("scope")) file.scope = json::parse(contents.metadata.at("scope"));
    for (const auto& [tensor, array] : contents.tensors) {
      if (tensor.starts_with("scope.")) file.scope_tensors.emplace_back(tensor, array);
    }
    return file;
  } catch (const json::exception& error) {
    refuse(name, fmt::format("its description is not usable ({})", error.what()));
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.starts_with(name)) throw;
    refuse(name, what);
  }
}

void write_network_file(const std::string& path, const NetworkFile& file) {
  write_safetensors(path, network_to_safetensors(file));
}

NetworkFile read_network_file(const std::string& path) {
  return network_from_safetensors(read_safetensors(path), path);
}

}  // namespace occam
