// Whether the filters of system calls of a stopped process allow what recording needs.

#ifndef LEAKTRACE_THREAD_FILTERS_H
#define LEAKTRACE_THREAD_FILTERS_H

#include "stopped_process.h"

enum lt_filter_verdict {
  LT_FILTERS_NONE,   ///< no thread has one
  LT_FILTERS_ALLOW,  ///< all calls of the recorder's
  LT_FILTERS_FORBID, ///< at least one
  LT_FILTERS_UNSEEN, ///< there are some, which this process may not look at, or cannot judge
};

/// Runs the filters of all threads on each call that the recorder makes: whichever thread loads it, and each that
/// records, makes them. `call` gets the name of the first that is not allowed.
enum lt_filter_verdict lt_judge_filters(const struct lt_stopped_process *stopped, const char **call);

#endif
