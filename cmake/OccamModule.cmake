# occam_module(): embeds the web page that compares, and the part of occam that answers as WebAssembly, into the library.
# The module is compiled by emscripten in a build of its own (EMSCRIPTEN in CMakeLists.txt). Where emscripten is missing,
# everything builds all the same, and `occam page` says that this build has no page.
set(OCCAM_PAGE AUTO CACHE STRING "Build the module of web pages: ON, OFF, or AUTO (where emscripten is found)")

function(occam_module)
  set(web ${CMAKE_CURRENT_SOURCE_DIR}/page/web)
  set(packed ${CMAKE_BINARY_DIR}/generated/module.wasm.gz)
  find_program(OCCAM_EMSCRIPTEN em++)
  find_program(OCCAM_GZIP gzip)
  find_path(OCCAM_FAST_FLOAT fast_float/fast_float.h HINTS ${OCCAM_HEADERS})
  set(OCCAM_HAS_PAGE OFF CACHE INTERNAL "")
  if(NOT OCCAM_PAGE STREQUAL OFF AND NOT OCCAM_SANITIZE AND OCCAM_EMSCRIPTEN AND OCCAM_GZIP AND OCCAM_FAST_FLOAT)
    set(OCCAM_HAS_PAGE ON CACHE INTERNAL "")
    get_filename_component(emscripten ${OCCAM_EMSCRIPTEN} REALPATH)
    get_filename_component(emscripten ${emscripten} DIRECTORY)
    set(module ${CMAKE_BINARY_DIR}/module/src/occam/page/module/occam.wasm)
    include(ExternalProject)
    ExternalProject_Add(occam_web_module
      SOURCE_DIR ${CMAKE_SOURCE_DIR}
      BINARY_DIR ${CMAKE_BINARY_DIR}/module
      PREFIX ${CMAKE_BINARY_DIR}/module-steps
      CMAKE_GENERATOR Ninja
      CMAKE_ARGS -Wno-dev -DCMAKE_TOOLCHAIN_FILE=${emscripten}/cmake/Modules/Platform/Emscripten.cmake
                 -DCMAKE_BUILD_TYPE=Release -DOCCAM_HEADERS=${OCCAM_HEADERS}
      BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --target occam_module
      BUILD_BYPRODUCTS ${module}
      BUILD_ALWAYS ON
      INSTALL_COMMAND "")
    add_custom_command(OUTPUT ${packed} COMMAND ${OCCAM_GZIP} -9 -n -c ${module} > ${packed}
                       DEPENDS ${module} occam_web_module COMMENT "Packing the module of web pages" VERBATIM)
  elseif(OCCAM_PAGE STREQUAL ON)
    message(FATAL_ERROR "OCCAM_PAGE is ON, but emscripten, gzip or fast_float is missing (`make setup` installs them)")
  else()
    add_custom_command(OUTPUT ${packed} COMMAND ${CMAKE_COMMAND} -E rm -f ${packed}
                       COMMAND ${CMAKE_COMMAND} -E touch ${packed} VERBATIM)
  endif()
  set(parts ${web}/page.html ${web}/page.css ${web}/page.js ${web}/host.js ${web}/worker.js ${packed})
  set_source_files_properties(page/page_parts.cpp PROPERTIES OBJECT_DEPENDS "${parts}"
    COMPILE_DEFINITIONS "OCCAM_PAGE_WEB=\"${web}\";OCCAM_PAGE_MODULE=\"${packed}\""
    SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()
