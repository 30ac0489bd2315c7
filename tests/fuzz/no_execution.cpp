// No input of any reader may cause a program to be started or code to be loaded. These take the place of the
// system's functions in the fuzz programs, so that a call is a finding.
#include <spawn.h>
#include <sys/types.h>

#include "fuzz.hpp"

using occam::fuzz::finding;

extern "C" {

pid_t fork() noexcept {
  finding("fork was called");
}
int execve(const char*, char* const[], char* const[]) noexcept {
  finding("execve was called");
}
int execvp(const char*, char* const[]) noexcept {
  finding("execvp was called");
}
int execv(const char*, char* const[]) noexcept {
  finding("execv was called");
}
int posix_spawn(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                char* const[], char* const[]) {
  finding("posix_spawn was called");
}
int posix_spawnp(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                 char* const[], char* const[]) {
  finding("posix_spawnp was called");
}
}
