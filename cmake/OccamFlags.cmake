# Compiler flags shared by every target, as the interface library occam_flags; and occam_native, the CPU to compile for.
add_library(occam_flags INTERFACE)
add_library(occam_native INTERFACE)
target_compile_options(occam_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                       -fno-math-errno  # lets loops with square roots be vectorised
                       -fno-semantic-interposition)  # position-independent code is then as fast as any other
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(occam_flags INTERFACE -Wno-restrict)  # false alarms on string concatenation (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  target_compile_options(occam_flags INTERFACE -Wno-psabi)  # notes on what GCC 10 changed on arm64
endif()
if(OCCAM_WERROR)
  target_compile_options(occam_flags INTERFACE -Werror)
endif()
if(OCCAM_NATIVE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    target_compile_options(occam_native INTERFACE -mcpu=native)
  else()
    target_compile_options(occam_native INTERFACE -march=native)
  endif()
endif()
if(OCCAM_UNITY OR OCCAM_SANITIZE)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 5)
endif()
if(OCCAM_SANITIZE)
  # Light debug information keeps the sanitizer builds short; traces still name lines.
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
  # Compiling takes longer than running the tests: half as long without optimisation. What does take long to run (files
  # that end in _simd.cpp, see occam_simd_sources) is optimised all the same.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
  if(OCCAM_FUZZ)
    # Millions of executions: here speed counts. Targets link what they need as archives, so that they run elsewhere.
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -gz")
    target_compile_options(occam_flags INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(occam_flags INTERFACE -static-libstdc++ -static-libgcc)
  endif()
  target_compile_options(occam_flags INTERFACE -fsanitize=${OCCAM_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(occam_flags INTERFACE -fsanitize=${OCCAM_SANITIZE})
  # Compilers tell it in different ways.
  if(OCCAM_SANITIZE MATCHES "address")
    target_compile_definitions(occam_flags INTERFACE OCCAM_ADDRESS_SANITIZER)
  elseif(OCCAM_SANITIZE MATCHES "thread")
    target_compile_definitions(occam_flags INTERFACE OCCAM_THREAD_SANITIZER)
  endif()
  if(OCCAM_SANITIZE MATCHES "undefined")
    # Null pointers end in a trace of the address sanitizer anyway; checking every one of them is what costs.
    target_compile_options(occam_flags INTERFACE -fno-sanitize-recover=undefined
      -fno-sanitize=null,alignment,object-size,vptr,nonnull-attribute,returns-nonnull-attribute)
  endif()
endif()
