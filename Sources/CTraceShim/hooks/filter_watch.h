// Checks the filters of system calls (seccomp) with which a program confines itself, before they take effect.
//
// A filter may end the process for a call that it does not list, and so at the recorder's next call. So the program's
// calls of prctl and syscall are watched, and a new filter is tested against each call that the recorder makes. If one
// of them is not allowed, recording stops, or goes on without heap images.
//
// The same functions can make two instructions of the recorder raise SIGSEGV: rdtsc and cpuid. Recording stops before
// that.

#ifndef LEAKTRACE_FILTER_WATCH_H
#define LEAKTRACE_FILTER_WATCH_H

#include <stdbool.h>

/// True if programs that this process executes may be traced: they inherit the filters in effect, which must allow the
/// calls that begin a recording.
bool lt_filter_allows_beginning(void);

#endif
