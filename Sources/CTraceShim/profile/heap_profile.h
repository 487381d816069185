// Heap profiles of the samples for pprof: on request, and written to a file at an interval.

#ifndef LEAKTRACE_HEAP_PROFILE_H
#define LEAKTRACE_HEAP_PROFILE_H

#include <stddef.h>
#include <stdint.h>

// --- profile ---------------------------------------------------------------------------------------------------------

// A profile of the sampled allocations for pprof, by the conventions of Go's heap profiles.

/// A profile, compressed with gzip.
struct lt_heap_profile {
  uint8_t *bytes; ///< memory that lt_heap_profile_free takes
  size_t size, capacity;
};

/// Makes a profile of the current figures. Must be called apart; waits while another is being made. Returns 0 or
/// −errno.
///
/// Figures are estimates of all allocations, as Go's are. Source: runtime/pprof/protomem.go of Go 1.19 (sample types,
/// period), and profile.proto of github.com/google/pprof (field numbers).
/// - `period`: bytes of allocation from one sample to the next.
int lt_heap_profile_make(struct lt_heap_profile *profile, uint64_t period);
void lt_heap_profile_free(struct lt_heap_profile *profile);
/// Notes that the recording begins now: a profile's figures are counted from then on.
void lt_heap_profile_begin(void);
/// Makes no profiles from now on: the process may not make the necessary system calls.
void lt_heap_profile_forbid(void);
void lt_heap_profile_reset_after_fork(void);

// --- due profiles ----------------------------------------------------------------------------------------------------

// Writes a heap profile to a file now and then, off the program's threads.

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
