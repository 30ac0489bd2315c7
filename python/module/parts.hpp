// What the parts of occam._core share, and the parts that have files of their own.
#pragma once

#include <filesystem>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <string>
#include <vector>

#include "occam/core/error.hpp"
#include "occam/group/groups.hpp"
#include "occam/simulate/problem.hpp"
#include "python_family.hpp"
#include "python_progress.hpp"

namespace occam {

namespace nb = nanobind;

using Path = std::filesystem::path;  // as Python knows them: text, bytes, or an object that is a path

// A problem, and what its Python functions raised.
struct PythonProblem {
  Problem problem;
  std::shared_ptr<RaisedInPython> raised;
};

// Where a simulator noticed Ctrl-C, the interpreter still has it before it, and would raise it once more.
inline void take_ctrl_c(RaisedInPython* raised) {
  if (PyErr_CheckSignals() == 0) return;
  const nb::python_error error;  // takes what is set
  if (raised != nullptr) raised->keep(error);
}

// Runs `work` without the interpreter's lock. What a Python function or Ctrl-C raised on the way is raised
// as it was.
template <class Work>
auto run(RaisedInPython* raised, PythonProgress* progress, Work&& work) {
  try {
    const nb::gil_scoped_release unlocked;
    return work();
  } catch (const Error& error) {
    take_ctrl_c(raised);
    if (raised != nullptr) raised->raise_again(error.what());
    if (progress != nullptr) progress->raise_again(error.what());
    throw;
  }
}

// An array that owns its values.
template <class T>
nb::object array(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape, owner));
}

using Floats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// {"groups": ..., "text": ...} as JSON, for occam.Groups.
std::string population_json(const GroupComparison& comparison);

void add_abc(nb::module_& m);
void add_groups(nb::module_& m);
void add_observed(nb::module_& m);

}  // namespace occam
