# occam_family(TARGET FAMILY TYPE HEADER NAME...): the one list of a family (models, networks, verbs, ...).
# A name `x` in the list compiles `x.cpp` and calls the function `register_x(TYPE&)` that it defines, through
# a generated `register_FAMILY(TYPE&)`. A `x_simd.cpp` beside it, if there is one, is compiled too, by itself:
# Highway compiles it once per instruction set. (Self-registering statics vanish when a static library is linked.)
function(occam_family target family type header)
  set(declarations "")
  set(calls "")
  foreach(name IN LISTS ARGN)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
    set(simd ${CMAKE_CURRENT_SOURCE_DIR}/${name}_simd.cpp)
    if(EXISTS ${simd})
      target_sources(${target} PRIVATE ${simd})
      occam_simd_sources(${target} ${simd})
    endif()
    string(APPEND declarations "void register_${name}(${type}&);\n")
    string(APPEND calls "  register_${name}(registry);\n")
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/register_${family}.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT
"// Generated from the list in CMakeLists.txt; do not edit.
#include \"${header}\"

namespace occam {
${declarations}
void register_${family}(${type}& registry) {
${calls}}
}  // namespace occam
")
  target_sources(${target} PRIVATE ${generated})
endfunction()

# occam_simd_sources(TARGET FILE...): Highway includes each of them once per instruction set, so they share no unit with
# others; and the time is spent there, so they are optimised also where nothing else is.
function(occam_simd_sources target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                              SKIP_PRECOMPILE_HEADERS ON)
  if(OCCAM_SANITIZE)
    set(options -O1)
    if(OCCAM_FUZZ)  # clang takes minutes over one of them otherwise; fuzz_burst, by GCC, watches memory there, too
      list(APPEND options -fno-sanitize=all)
    endif()
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${options}")
  endif()
endfunction()
