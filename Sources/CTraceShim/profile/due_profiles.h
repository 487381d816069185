// Writes a heap profile to a file now and then, off the program's threads.

#ifndef LEAKTRACE_DUE_PROFILES_H
#define LEAKTRACE_DUE_PROFILES_H

#include <stdint.h>

enum {
  /// Files beside the trace: an hour of them at one a minute. The oldest is written over.
  LT_PROFILE_FILES = 60,
};

/// Has a profile written each `every` nanoseconds from now on; 0: none. `period`: bytes from one sample to the next.
void lt_due_profiles_begin(uint64_t every, uint64_t period);
/// Begins to write one if it is due. Returns at once. By any thread, in a hook.
void lt_due_profiles_take(uint64_t now);
/// Writes the last one, when the process ends; waits for it.
void lt_due_profiles_finish(void);
/// Writes no more: recording stops, and calls of the kernel may be forbidden. Waits for one that is being written.
void lt_due_profiles_end(void);
void lt_due_profiles_reset_after_fork(void);

#endif
