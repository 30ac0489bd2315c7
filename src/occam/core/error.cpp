// Exit codes as documented for users: see docs/cli.md.
#include "occam/core/error.hpp"

namespace occam {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 64;
    case ErrorKind::bad_data:
      return 65;
    case ErrorKind::no_input:
      return 66;
    case ErrorKind::internal:
      return 70;
    case ErrorKind::io:
      return 74;
    case ErrorKind::bad_config:
      return 78;
    case ErrorKind::interrupted:
      return 130;
  }
  return 70;
}

}  // namespace occam
