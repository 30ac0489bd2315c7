// Files that travel inside the program: OCCAM_EMBED(name, "path") outside of all namespaces, then
// OCCAM_EMBEDDED(name) is its bytes. The assembler takes them in as they are: this costs no compile time, and
// the directives are the same on x86-64 and arm64. Not for headers: each name once in a program.
#pragma once

#include <string_view>

// clang-format off
#define OCCAM_EMBED(name, path)         \
  asm(".section .rodata\n"              \
      ".global occam_" #name "\n"       \
      ".global occam_" #name "_end\n"   \
      "occam_" #name ":\n"              \
      ".incbin \"" path "\"\n"          \
      "occam_" #name "_end:\n"          \
      ".byte 0\n"                       \
      ".previous\n");                   \
  extern "C" const char occam_##name[], occam_##name##_end[]
// clang-format on

#define OCCAM_EMBEDDED(name) \
  std::string_view(occam_##name, static_cast<std::size_t>(occam_##name##_end - occam_##name))
