// Heap profiles for pprof, made from the samples: on request, and written to a file at an interval.

#ifndef LEAKTRACE_HEAP_PROFILE_H
#define LEAKTRACE_HEAP_PROFILE_H

#include <stddef.h>
#include <stdint.h>

// --- profile ---------------------------------------------------------------------------------------------------------

// A profile of the sampled allocations for pprof, which follows the conventions of Go's heap profiles.

/// A profile, compressed with gzip.
struct lt_heap_profile {
  uint8_t *bytes; ///< freed by lt_heap_profile_free
  size_t size, capacity;
};

/// Makes a profile of the current figures. Must run in a task of lt_call_isolated or lt_call_isolated_async. Waits
/// while another profile is being made. Returns 0 or −errno.
///
/// As in Go's profiles, the figures are estimates for all allocations, not counts of samples. Source:
/// runtime/pprof/protomem.go of Go 1.19 (sample types, period), and profile.proto of github.com/google/pprof (field
/// numbers).
/// - `period`: bytes of allocation from one sample to the next.
int lt_heap_profile_make(struct lt_heap_profile *profile, uint64_t period);
void lt_heap_profile_free(struct lt_heap_profile *profile);
/// Notes that the recording begins now: the duration of profiles is measured from this time.
void lt_heap_profile_begin(void);
/// Stops making profiles: a filter is about to forbid the necessary system calls.
void lt_heap_profile_forbid(void);
void lt_heap_profile_reset_after_fork(void);

// --- due profiles ----------------------------------------------------------------------------------------------------

// Writes a heap profile to a file at an interval, in a task that is none of the program's threads.

enum {
  /// The number of files next to the trace: one a minute for an hour. Each further profile replaces the oldest file.
  LT_PROFILE_FILES = 60,
};

/// Makes a profile due every `every` nanoseconds from now on; 0: never. `period`: average bytes from one sample to the
/// next.
void lt_due_profiles_begin(uint64_t every, uint64_t period);
/// Begins to write a profile if one is due, and does not wait. Called by any thread, in a hook.
void lt_due_profiles_take(uint64_t now);
/// Writes the last profile when the process ends, and waits until it is written.
void lt_due_profiles_finish(void);
/// Stops writing profiles, because recording stops, or because system calls may be forbidden. Waits for a profile that
/// is being written.
void lt_due_profiles_end(void);
void lt_due_profiles_reset_after_fork(void);

#endif
