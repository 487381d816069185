// Judges whether the seccomp filters of a stopped process allow the system calls of recording.

#ifndef LEAKTRACE_THREAD_FILTERS_H
#define LEAKTRACE_THREAD_FILTERS_H

#include "stopped_process.h"

enum lt_filter_verdict {
  LT_FILTERS_NONE,   ///< no thread has a filter
  LT_FILTERS_ALLOW,  ///< the filters allow all calls of the recorder
  LT_FILTERS_FORBID, ///< the filters forbid at least one call
  LT_FILTERS_UNSEEN, ///< there are filters, but this process may not read them or cannot judge them
};

/// Runs the filters of all threads on each call that the recorder makes. All threads count: the thread that loads the
/// recorder makes these calls, and so does each thread that records. `call` gets the name of the first call that is not
/// allowed.
enum lt_filter_verdict lt_judge_filters(const struct lt_stopped_process *stopped, const char **call);

#endif
