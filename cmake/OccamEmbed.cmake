# occam_embed(HEADER NAMESPACE FILE...): a generated header with the text of each file as a constant named after
# it ("a.py" becomes a_py), so that the program needs no files beside it. Files are at most 64 KB.
function(occam_embed header namespace)
  set(constants "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path ${file} ABSOLUTE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${name} name)
    string(APPEND constants "inline constexpr std::string_view ${name} = R\"embedded(${text})embedded\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${header} @ONLY CONTENT
"// Generated from the files it holds; do not edit.
#pragma once

#include <string_view>

namespace ${namespace} {
@constants@
}  // namespace ${namespace}
")
endfunction()

# occam_embed_tree(HEADER NAMESPACE ROOT FILE...): the same for files of a tree, as one list `all` of pairs: path below
# ROOT, text.
function(occam_embed_tree header namespace root)
  set(pairs "")
  set(count 0)
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    file(RELATIVE_PATH name ${root} ${file})
    string(APPEND pairs "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${header} @ONLY CONTENT
"// Generated from the files it holds; do not edit.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace ${namespace} {
inline constexpr std::array<std::pair<std::string_view, std::string_view>, @count@> all{{
@pairs@}};
}  // namespace ${namespace}
")
endfunction()
