// The user's wish that the program stop (Ctrl-C), for waits that no ProgressSink reaches: those for another
// process, such as a simulator that never answers. Work in this program asks its ProgressSink instead.
#pragma once

namespace occam {

// May be called from a signal handler. The wish cannot be withdrawn.
void request_stop() noexcept;
bool stop_requested() noexcept;
// Since the first request; 0 where there is none.
double seconds_since_stop() noexcept;
// For long loops that no ProgressSink reaches: Error(interrupted) a moment after the request, in which what
// asks a sink ends in its own way.
void end_if_stopped();

}  // namespace occam
