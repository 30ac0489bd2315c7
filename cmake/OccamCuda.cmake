# The CUDA engine (src/occam/engine/cuda) and simulations on GPUs (simulate/cuda, models/cuda), where there is an nvcc: on
# the PATH, in /usr/local/cuda, or in a folder that OCCAM_CUDA_FOLDER names (a toolkit, or the unpacked packages
# nvidia-cuda-nvcc, -crt, -runtime, -cccl and nvidia-nvvm of PyPI: site-packages/nvidia/cu13). Everything else is built
# without CUDA, and the program runs where there is no GPU.
set(OCCAM_CUDA AUTO CACHE STRING "Build the CUDA engine: ON, OFF, or AUTO (where nvcc is found)")
set(OCCAM_CUDA_FOLDER "" CACHE PATH "A folder with bin/nvcc, include and lib")
set(OCCAM_CUDA_ARCHITECTURES "80;90" CACHE STRING "Compute capabilities to compile for; the first one also for newer GPUs")

# occam_cuda(TARGET FOLDER [FLAG...]): adds the .cu of a folder to a target, or its no_cuda.cpp where there is no nvcc. In
# the folder that makes the target. Sets OCCAM_HAS_CUDA, for all folders.
function(occam_cuda target folder)
  set(OCCAM_HAS_CUDA OFF CACHE INTERNAL "")
  if(OCCAM_CUDA STREQUAL OFF OR OCCAM_FUZZ OR CMAKE_CROSSCOMPILING)
    target_sources(${target} PRIVATE ${folder}/no_cuda.cpp)
    return()
  endif()
  find_program(OCCAM_NVCC nvcc HINTS ${OCCAM_CUDA_FOLDER}/bin /usr/local/cuda/bin)
  if(NOT OCCAM_NVCC)
    if(OCCAM_CUDA STREQUAL ON)
      message(FATAL_ERROR "OCCAM_CUDA is ON, but there is no nvcc (set OCCAM_CUDA_FOLDER)")
    endif()
    target_sources(${target} PRIVATE ${folder}/no_cuda.cpp)
    return()
  endif()
  get_filename_component(root ${OCCAM_NVCC} REALPATH)
  get_filename_component(root ${root} DIRECTORY)
  get_filename_component(root ${root} DIRECTORY)
  find_library(OCCAM_CUDART cudart_static REQUIRED HINTS ${root}/lib64 ${root}/lib ${root}/targets/x86_64-linux/lib)
  list(GET OCCAM_CUDA_ARCHITECTURES 0 oldest)
  set(targets -gencode=arch=compute_${oldest},code=compute_${oldest})
  foreach(architecture IN LISTS OCCAM_CUDA_ARCHITECTURES)
    list(APPEND targets -gencode=arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  get_target_property(headers occam_dependencies INTERFACE_INCLUDE_DIRECTORIES)
  set(includes -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_BINARY_DIR}/generated -I${root}/include)
  foreach(header IN LISTS headers)
    if(header)
      list(APPEND includes -I${header})
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${OCCAM_NVCC} -std=c++20 -O3 -DNDEBUG ${targets} ${ARGN} -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler -fPIC
              ${includes} -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${name} for GPUs" VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(${target} PRIVATE ${object})
  endforeach()
  target_link_libraries(${target} PUBLIC ${OCCAM_CUDART} rt)
  set(OCCAM_HAS_CUDA ON CACHE INTERNAL "")
endfunction()
