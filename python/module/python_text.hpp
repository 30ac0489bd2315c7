// Text of the library for Python. Names and contents of files may be in any encoding: bytes that are not
// UTF-8 are shown as \xNN.
#pragma once

#include <nanobind/nanobind.h>
#include <string_view>

namespace occam {

inline nanobind::object python_text(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (decoded == nullptr) throw nanobind::python_error();
  return nanobind::steal(decoded);
}

}  // namespace occam
