# occam_layer(NAME [FOLDER folder] [KNOWS layer...] [EXCEPT file...]): a layer of the library as a target, occam_NAME. It
# compiles the files of its folder, which is named like it unless FOLDER is given: all that no layer before it took, but
# those in EXCEPT (without .cpp). Its compiler finds the headers of its own folder and of the layers that it knows,
# directly or through others. No other header of occam is on its path: so the diagram of ARCHITECTURE.md is enforced.
function(occam_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "KNOWS;EXCEPT")
  set(target occam_${name})
  set(folder ${name})
  if(arg_FOLDER)
    set(folder ${arg_FOLDER})
  endif()
  add_library(${target} OBJECT)
  set_property(GLOBAL APPEND PROPERTY OCCAM_LAYERS ${name})

  # A path that holds this folder alone.
  set(path ${CMAKE_BINARY_DIR}/layers/${folder})
  file(MAKE_DIRECTORY ${path}/occam)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${path}/occam/${folder} SYMBOLIC)
  target_include_directories(${target} PUBLIC ${path} PRIVATE ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${target} PUBLIC occam_flags occam_native occam_dependencies)
  foreach(layer IN LISTS arg_KNOWS)
    target_link_libraries(${target} PUBLIC occam_${layer})
  endforeach()
  if(OCCAM_PCH)
    target_precompile_headers(${target} REUSE_FROM occam_headers)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)  # many layers are small

  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)  # it adds its files itself
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  list(JOIN arg_EXCEPT "|" except)
  list(FILTER sources EXCLUDE REGEX "(_test|/mpi_communicator|/module/module|/(${except}))\\.cpp$")  # MPI: OccamMpi.cmake
  get_property(taken GLOBAL PROPERTY OCCAM_TAKEN_FILES)
  list(REMOVE_ITEM sources ${taken})
  target_sources(${target} PRIVATE ${sources})
  set_property(GLOBAL APPEND PROPERTY OCCAM_TAKEN_FILES ${sources})
  list(FILTER sources INCLUDE REGEX "_simd\\.cpp$")
  if(sources)
    occam_simd_sources(${target} ${sources})
  endif()
endfunction()

# occam_objects(RESULT): what has been compiled of all layers so far.
function(occam_objects result)
  get_property(layers GLOBAL PROPERTY OCCAM_LAYERS)
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:occam_\\1>")
  set(${result} ${layers} PARENT_SCOPE)
endfunction()

# The headers that nearly all files include, compiled once for all layers.
if(OCCAM_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "// Holds the precompiled headers.\n")
  add_library(occam_headers OBJECT ${CMAKE_BINARY_DIR}/headers.cpp)
  target_link_libraries(occam_headers PUBLIC occam_flags occam_native occam_dependencies)
  target_precompile_headers(occam_headers PRIVATE <algorithm> <functional> <map> <memory> <string> <vector>
                            <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)
endif()
