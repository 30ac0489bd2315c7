# Writes OUTPUT, a header with the commit that is checked out, when it has changed. Run as a script at every
# build, so that the program always knows what it was built from.
cmake_minimum_required(VERSION 3.25)
set(commit "")
find_package(Git QUIET)
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=7 HEAD WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${GIT_EXECUTABLE} status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit AND changes)
    string(APPEND commit " with changes")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
"// Generated at every build; do not edit.
#pragma once

namespace occam {
inline constexpr const char* kCommit = \"@commit@\";
}  // namespace occam
")
