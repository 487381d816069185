// The filters of system calls by which a program confines itself (seccomp), looked at before they hold.
//
// A filter that ends the process for a call that it does not list would end it at the recorder's next call. So the
// program's calls of prctl and syscall are watched; a filter is run on each call that the recorder makes, and if one of
// them is not allowed, recording stops, or goes on without heap images.
//
// The same calls can make two instructions of the recorder's raise SIGSEGV: rdtsc and cpuid. Recording stops before.

#ifndef LEAKTRACE_FILTER_WATCH_H
#define LEAKTRACE_FILTER_WATCH_H

#include <stdbool.h>

/// Tells whether programs that this process runs may be traced: whether the filters that hold, which they inherit, let
/// them begin to record.
bool lt_filter_allows_beginning(void);

#endif
