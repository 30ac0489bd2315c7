# Third-party code, as the interface library occam_dependencies. Everything is header-only except zlib and
# Highway's CPU detection; both may be missing (a machine where only headers can be taken along): then
# compressed npz files are refused with a message, and SIMD code is compiled for one instruction set only.
add_library(occam_dependencies INTERFACE)

find_package(Threads REQUIRED)
target_link_libraries(occam_dependencies INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

# OCCAM_HEADERS: a folder with the headers of all libraries below, for machines that cannot install packages.
set(OCCAM_HEADERS "" CACHE PATH "Folder that holds the headers of the dependencies")
if(OCCAM_HEADERS)
  target_include_directories(occam_dependencies SYSTEM INTERFACE ${OCCAM_HEADERS})
endif()

function(occam_require_header header package)
  string(MAKE_C_IDENTIFIER "OCCAM_DIR_${header}" variable)
  find_path(${variable} ${header} HINTS ${OCCAM_HEADERS} PATH_SUFFIXES eigen3)
  if(NOT ${variable})
    message(FATAL_ERROR "The header <${header}> was not found. On Debian: apt-get install ${package} (or run `make setup`).")
  endif()
  if(NOT ${variable} STREQUAL "/usr/include")
    target_include_directories(occam_dependencies SYSTEM INTERFACE ${${variable}})
  endif()
endfunction()

occam_require_header(Random123/philox.h librandom123-dev)
occam_require_header(CLI/CLI.hpp libcli11-dev)
occam_require_header(nlohmann/json.hpp nlohmann-json3-dev)
occam_require_header(toml++/toml.h libtomlplusplus-dev)
occam_require_header(fmt/format.h libfmt-dev)
occam_require_header(boost/math/special_functions/gamma.hpp libboost-math-dev)
occam_require_header(hwy/highway.h libhwy-dev)

find_package(ZLIB QUIET)
if(ZLIB_FOUND)
  target_link_libraries(occam_dependencies INTERFACE ZLIB::ZLIB)
  target_compile_definitions(occam_dependencies INTERFACE OCCAM_ZLIB=1)
endif()

find_library(OCCAM_HWY_LIBRARY hwy)
if(OCCAM_HWY_LIBRARY)
  target_link_libraries(occam_dependencies INTERFACE ${OCCAM_HWY_LIBRARY})
else()
  target_compile_definitions(occam_dependencies INTERFACE HWY_COMPILE_ONLY_STATIC=1)
endif()
