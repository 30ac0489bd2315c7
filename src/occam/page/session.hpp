// What a web page asks of occam, as JSON: a network, data, how they fit, the answers. One session holds one
// network and one csv text; what it is given may come from anyone. It runs as WebAssembly (module/) and, for
// tests, as it is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/pipeline/comparison.hpp"

namespace occam {

// Bytes of the csv from `offset` on, into the buffer; returns how many, 0 only at the end.
using ReadAt = std::function<std::size_t(std::uint64_t offset, std::span<char> out)>;
// Told while data are read: bytes gone through, data sets answered.
using PageProgress = std::function<void(std::uint64_t bytes, std::int64_t sets)>;

class PageSession {
 public:
  PageSession();
  ~PageSession();

  // Error(bad_config) as network_from_safetensors and scope_of. Returns what the network is for and what data
  // it needs; forgets any data.
  nlohmann::json open_network(std::string_view bytes, const std::string& name);

  // Looks at the beginning of a csv: its columns, some rows, and a guess which of them are the network's, in
  // which unit ("factors"; "factors_of": were it any other column), and which tell data sets apart.
  // `options`: {"name", "separator", "decimal"}. Error(bad_data) as CsvReader.
  nlohmann::json open_data(ReadAt read, const nlohmann::json& options);

  // The first rows as the network would see them. `options` say how data are read:
  // {"columns": [csv column of each of the network's], "factors": [...], "by": [...], "group": "",
  //  "missing": "refuse" or "drop"}. Error(bad_data) as read_observed.
  nlohmann::json preview(const nlohmann::json& options) const;

  // Reads all data and asks the network. Returns what was read and left out, and warnings. `options` may also
  // have a "caution" that goes with every answer.
  nlohmann::json compare(const nlohmann::json& options, const PageProgress& progress);

  // Answers of data sets first..first+count-1 and counts over all of them, under a model prior:
  // {"model_prior": [...] or null, "first", "count"}. Error(usage) as ModelPosterior::with_model_prior.
  nlohmann::json answers(const nlohmann::json& options) const;
  // All answers as the file that `occam compare -o` writes: {"model_prior", "format": "csv" or "json"}.
  std::string answer_file(const nlohmann::json& options) const;
  // Evidence over the observations of one data set: {"model_prior", "set": its number}.
  nlohmann::json course(const nlohmann::json& options);
  // The population behind the data sets: {"model_prior"}. One group, unless a column told groups apart.
  nlohmann::json groups(const nlohmann::json& options) const;

 private:
  class Collected;

  const NetworkFile& network() const;
  const Collected& collected() const;
  ObservedOptions reading(const nlohmann::json& options) const;
  double guess_factor(std::size_t column, const std::string& header,
                      const std::vector<double>& numbers) const;
  CsvReader open_csv(const CsvOptions& options, const PageProgress& progress) const;

  mutable ThreadPool pool_;
  std::optional<NetworkFile> file_;
  std::vector<std::string> units_;  // of its columns, where it tells them
  ReadAt read_;
  std::string data_name_;
  CsvFormat format_;
  std::unique_ptr<Collected> collected_;
};

}  // namespace occam
