#include "python_family.hpp"

#include <algorithm>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "python_text.hpp"

namespace nb = nanobind;

namespace occam {
namespace {

// A new array of NumPy's. What a function is handed belongs to it, and it may keep it; made this way it costs
// a tenth of an array around memory of ours.
template <class T>
class NewArray {
 public:
  NewArray(const nb::object& empty, const nb::object& type, const nb::tuple& shape)
      : array_(empty(shape, type)) {
    if (PyObject_GetBuffer(array_.ptr(), &buffer_, PyBUF_WRITABLE) != 0) throw nb::python_error();
  }
  ~NewArray() { PyBuffer_Release(&buffer_); }
  NewArray(const NewArray&) = delete;
  NewArray& operator=(const NewArray&) = delete;

  T* data() const { return static_cast<T*>(buffer_.buf); }
  const nb::object& object() const { return array_; }

 private:
  nb::object array_;
  Py_buffer buffer_{};
};

// A thread of the library keeps its state of the interpreter from its first call to its end: making one takes
// longer than many a function. Threads that Python started have one anyway.
class KeptThreadState {
 public:
  KeptThreadState() {
    if (PyGILState_GetThisThreadState() != nullptr) return;
    state_ = PyGILState_Ensure();
    kept_ = PyEval_SaveThread();
  }
  ~KeptThreadState() {
    if (kept_ == nullptr) return;
    PyEval_RestoreThread(kept_);
    PyGILState_Release(state_);
  }
  KeptThreadState(const KeptThreadState&) = delete;
  KeptThreadState& operator=(const KeptThreadState&) = delete;

 private:
  PyGILState_STATE state_{};
  PyThreadState* kept_ = nullptr;
};

}  // namespace

struct PythonFamily::Objects {
  explicit Objects(nb::object function) : call(std::move(function)) {
    const nb::module_ numpy = nb::module_::import_("numpy");
    empty = numpy.attr("empty");
    const auto type = [&](const char* name) { return nb::object(numpy.attr("dtype")(name)); };
    float64 = type("float64"), int64 = type("int64"), uint64 = type("uint64"), float32 = type("float32");
  }

  nb::object call, empty, float64, int64, uint64, float32;
};

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
  if (nb::hasattr(exception, "add_note")) exception.attr("add_note")(python_text(message));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

PythonFamily::PythonFamily(OwnModel model, nb::object call, std::shared_ptr<RaisedInPython> raised)
    : OwnFamily(std::move(model)),
      python_(std::make_unique<Objects>(std::move(call))),
      source_(nb::cast<std::string>(python_->call.attr("source_hash"))),
      raised_(std::move(raised)) {}

// Problems are copied and dropped by any thread.
PythonFamily::~PythonFamily() {
  if (!Py_IsInitialized()) {
    static_cast<void>(python_.release());  // the interpreter is gone, and its objects with it
    return;
  }
  const nb::gil_scoped_acquire lock;
  python_.reset();
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
  thread_local const KeptThreadState kept;
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
  const Objects& python = *python_;
  const NewArray<double> theta(python.empty, python.float64, nb::make_tuple(P, B));
  const NewArray<std::int64_t> n(python.empty, python.int64, nb::make_tuple(B));
  const NewArray<std::uint64_t> seeds(python.empty, python.uint64, nb::make_tuple(B));
  std::int64_t rows = 0, longest = 0;
  for (std::size_t b = 0; b < B; ++b) {
    const SimulationRequest& request = requests[b];
    for (std::size_t p = 0; p < P; ++p) theta.data()[p * B + b] = request.theta[p];
    n.data()[b] = request.n;
    seeds.data()[b] = request.rng->bits64();
    rows += request.n;
    longest = std::max(longest, request.n);
  }
  const NewArray<float> values(python.empty, python.float32, nb::make_tuple(rows, D));
  const auto cells = [D](const SimulationRequest& request) {
    return static_cast<std::size_t>(request.n) * D;
  };
  const bool designed = requests.front().designed;
  float* at = values.data();
  for (const SimulationRequest& request : requests.first(designed ? B : 0))
    at = std::copy_n(request.out.begin(), cells(request), at);
  python.call(theta.object(), n.object(), seeds.object(), values.object(), designed, longest);
  const float* from = values.data();
  for (const SimulationRequest& request : requests) {
    std::copy_n(from, cells(request), request.out.begin());
    from += cells(request);
  }
}

}  // namespace occam
