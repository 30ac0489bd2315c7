// Text of the library for Python. Names and contents of files may be in any encoding and come from anyone:
// bytes that are not UTF-8, and what would steer the terminal that shows it, become \xNN.
#pragma once

#include <nanobind/nanobind.h>
#include <string>
#include <string_view>

#include "occam/io/shown.hpp"

namespace occam {

inline nanobind::object python_text(std::string_view text) {
  const std::string shown = shown_text(text);
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(shown.data(), static_cast<Py_ssize_t>(shown.size()), nullptr);
  if (decoded == nullptr) throw nanobind::python_error();
  return nanobind::steal(decoded);
}

}  // namespace occam
