// A model whose simulator is a function of the interpreter that this module is loaded into. The interpreter's
// lock is held only while the function runs.
#pragma once

#include <memory>
#include <mutex>
#include <nanobind/nanobind.h>
#include <vector>

#include "occam/simulate/own/own_family.hpp"

namespace occam {

// The first exception that a function raised, to be raised again once the library has come to its end.
class RaisedInPython {
 public:
  void keep(const nanobind::python_error& error);
  // With `message` as a note; does nothing where none was raised. Needs the interpreter's lock.
  void raise_again(const std::string& message);

 private:
  std::mutex mutex_;
  nanobind::object exception_;
};

class PythonFamily final : public OwnFamily {
 public:
  // `call`: a Call of occam._simulator, which fills the rows it is handed.
  PythonFamily(OwnModel model, nanobind::object call, std::shared_ptr<RaisedInPython> raised);
  ~PythonFamily() override;

  nlohmann::json identity() const override;
  std::int64_t group() const override { return 64; }
  bool dear() const override { return true; }
  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override;
  void simulate_many(std::span<SimulationRequest> requests) const override;

 private:
  struct Objects;  // of the interpreter

  void call(std::span<SimulationRequest> requests) const;

  std::unique_ptr<Objects> python_;
  std::string source_;  // a hash of what the function is
  std::shared_ptr<RaisedInPython> raised_;
};

}  // namespace occam
