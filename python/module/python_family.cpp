#include "python_family.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"

namespace nb = nanobind;

namespace occam {

void RaisedInPython::keep(const nb::python_error& error) {
  const std::lock_guard lock(mutex_);
  if (!exception_.is_valid()) exception_ = nb::borrow(error.value());
}

void RaisedInPython::raise_again(const std::string& message) {
  nb::object exception;
  {
    const std::lock_guard lock(mutex_);
    if (!exception_.is_valid()) return;
    exception = std::move(exception_);
    exception_ = nb::object();
  }
  if (nb::hasattr(exception, "add_note")) exception.attr("add_note")(message);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

PythonFamily::PythonFamily(OwnModel model, nb::object call, std::shared_ptr<RaisedInPython> raised)
    : OwnFamily(std::move(model)),
      call_(std::move(call)),
      source_(nb::cast<std::string>(call_.attr("source_hash"))),
      raised_(std::move(raised)) {}

// Problems are copied and dropped by any thread.
PythonFamily::~PythonFamily() {
  if (!Py_IsInitialized()) {
    call_.release();  // the interpreter is gone, and its objects with it
    return;
  }
  const nb::gil_scoped_acquire lock;
  call_ = nb::object();
}

nlohmann::json PythonFamily::identity() const {
  nlohmann::json identity = OwnFamily::identity();
  identity["source"] = source_;
  return identity;
}

std::int64_t PythonFamily::simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                                    std::span<float> out) const {
  SimulationRequest request{theta, n, &rng, out};
  simulate_many({&request, 1});
  return request.rows;
}

void PythonFamily::simulate_many(std::span<SimulationRequest> requests) const {
  {
    const nb::gil_scoped_acquire lock;
    try {
      call(requests);
    } catch (const nb::python_error& error) {
      raised_->keep(error);
      throw Error(ErrorKind::bad_data, "{}: {} (first of {} data sets asked for: {})", label(), error.what(),
                  requests.size(), request_text(requests.front()));
    }
  }
  const std::size_t D = model().columns.size();
  for (SimulationRequest& request : requests)
    request.rows = checked(request, request.out.first(static_cast<std::size_t>(request.n) * D));
}

// theta (P, B), n (B), seeds (B) and the rows of all data sets, one behind the other, (rows, D), which the
// function fills; design columns hold the design where it is given.
void PythonFamily::call(std::span<SimulationRequest> requests) const {
  const std::size_t B = requests.size();
  const std::size_t P = model().parameters.size();
  const std::size_t D = model().columns.size();
  // What the user's function sees belongs to Python: it may keep it.
  auto* const theta_kept = new std::vector<double>(P * B);
  const nb::capsule theta_owner(theta_kept,
                                [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  auto* const n_kept = new std::vector<std::int64_t>(B);
  const nb::capsule n_owner(n_kept,
                            [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  std::vector<double>& theta = *theta_kept;
  std::vector<std::int64_t>& n = *n_kept;
  std::vector<std::uint64_t> seeds(B);
  std::size_t rows = 0;
  for (std::size_t b = 0; b < B; ++b) {
    for (std::size_t p = 0; p < P; ++p) theta[p * B + b] = requests[b].theta[p];
    n[b] = requests[b].n;
    seeds[b] = requests[b].rng->bits64();
    rows += static_cast<std::size_t>(n[b]);
  }
  std::vector<float> values(rows * D);
  const bool designed = requests.front().designed;
  std::size_t at = 0;
  for (std::size_t b = 0; designed && b < B; ++b) {
    std::copy_n(requests[b].out.begin(), static_cast<std::size_t>(n[b]) * D, values.begin() + at);
    at += static_cast<std::size_t>(n[b]) * D;
  }
  using nb::numpy;
  call_(nb::ndarray<numpy, double>(theta.data(), {P, B}, theta_owner).cast(),
        nb::ndarray<numpy, std::int64_t>(n.data(), {B}, n_owner).cast(),
        nb::ndarray<numpy, std::uint64_t>(seeds.data(), {B}, nb::handle()).cast(nb::rv_policy::reference),
        nb::ndarray<numpy, float>(values.data(), {rows, D}, nb::handle()).cast(nb::rv_policy::reference),
        designed);
  at = 0;
  for (std::size_t b = 0; b < B; ++b) {
    const std::size_t count = static_cast<std::size_t>(n[b]) * D;
    std::copy_n(values.begin() + at, count, requests[b].out.begin());
    at += count;
  }
}

}  // namespace occam
