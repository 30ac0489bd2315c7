#include "occam/train/source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "occam/core/error.hpp"
#include "occam/io/npz.hpp"

namespace occam {

SimulatedSource::SimulatedSource(const Problem& problem, std::uint64_t seed, Purpose purpose,
                                 std::int64_t batch)
    : simulator_(problem, seed, purpose, {.batch = batch}) {}

ReferenceTable ReferenceTable::read(const std::string& path, const Problem& problem) {
  const NpzReader file(path);
  const NdArray data = file.read("data");
  const std::vector<std::int64_t> n = file.read("n").as_int64();
  const std::vector<std::int64_t> model = file.read("model").as_int64();
  const auto refuse = [&](const std::string& why) { throw Error(ErrorKind::bad_data, "{}: {}", path, why); };
  if (data.shape.size() != 2 || data.shape[1] != problem.D()) {
    refuse(fmt::format("'data' has shape {}, expected (rows, {}) for the columns of '{}'",
                       shape_text(data.shape), problem.D(), problem.name()));
  }
  if (n.size() != model.size()) refuse(fmt::format("'n' has {} entries, 'model' {}", n.size(), model.size()));
  std::int64_t rows = 0;
  for (std::size_t k = 0; k < n.size(); ++k) {
    if (n[k] < 1 || n[k] > data.shape[0] - rows)
      refuse(fmt::format("data set {}: n = {} is not possible", k, n[k]));
    if (model[k] < 0 || model[k] >= problem.J()) {
      refuse(fmt::format("data set {}: model {} is not one of 0 to {}", k, model[k], problem.J() - 1));
    }
    rows += n[k];
  }
  if (rows != data.shape[0]) refuse(fmt::format("'n' sums to {}, 'data' has {} rows", rows, data.shape[0]));

  const std::vector<float> values = data.as_float();
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad != values.end())
    refuse(fmt::format("row {} of 'data' holds {}", (bad - values.begin()) / problem.D(), *bad));
  std::vector<double> parameters;
  if (file.has("parameters")) {
    const NdArray array = file.read("parameters");
    if (array.shape != Shape{static_cast<std::int64_t>(n.size()), problem.P()}) {
      refuse(fmt::format("'parameters' has shape {}, expected ({}, {})", shape_text(array.shape), n.size(),
                         problem.P()));
    }
    parameters = array.as_double();
  }
  ReferenceTable table;
  table.all_.reset(problem.D(), problem.P(), problem.J());
  const float* next = values.data();
  for (std::size_t k = 0; k < n.size(); ++k) {
    const std::int64_t b = table.all_.append(static_cast<std::int32_t>(model[k]), n[k], n[k]);
    const auto to = table.all_.mutable_data(b);
    std::copy_n(next, to.size(), to.begin());
    next += to.size();
    const auto theta = table.all_.mutable_parameters(b);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      theta[p] =
          parameters.empty() ? std::numeric_limits<double>::quiet_NaN() : parameters[k * theta.size() + p];
    }
  }
  return table;
}

void gather(const Batch& from, std::span<const std::int64_t> rows, std::int64_t models, Batch& to) {
  to.reset(from.columns(), from.parameters_per_data_set(), models);
  for (const std::int64_t row : rows) to.append(from.models()[row], from[row].n, from[row].n);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto b = static_cast<std::int64_t>(i);
    const auto values = from[rows[i]].values();
    std::copy(values.begin(), values.end(), to.mutable_data(b).begin());
    const auto theta = from.parameters(rows[i]);
    std::copy(theta.begin(), theta.end(), to.mutable_parameters(b).begin());
  }
}

TableSource::TableSource(std::shared_ptr<const ReferenceTable> table, std::vector<std::int64_t> rows,
                         std::int64_t models, std::uint64_t seed, std::int64_t batch)
    : table_(std::move(table)), rows_(std::move(rows)), models_(models), seed_(seed), batch_(batch) {}

void TableSource::shuffle(std::int64_t pass) {
  order_ = rows_;
  Rng rng(seed_, Purpose::train, static_cast<std::uint64_t>(pass));
  for (std::size_t i = order_.size() - 1; i > 0; --i) {
    std::swap(order_[i], order_[static_cast<std::size_t>(rng.uniform_int(0, static_cast<std::int64_t>(i)))]);
  }
  pass_ = pass;
}

void TableSource::prepare(std::int64_t batch_number, Batch& out) {
  const auto count = static_cast<std::int64_t>(rows_.size());
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = batch_number * batch_; i < (batch_number + 1) * batch_; ++i) {
    if (i / count != pass_) shuffle(i / count);
    chosen.push_back(order_[static_cast<std::size_t>(i % count)]);
  }
  gather(table_->all(), chosen, models_, out);
}

}  // namespace occam
