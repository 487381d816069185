// A profile of the sampled allocations for pprof, by the conventions of Go's heap profiles.

#ifndef LEAKTRACE_HEAP_PROFILE_H
#define LEAKTRACE_HEAP_PROFILE_H

#include <stddef.h>
#include <stdint.h>

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

#endif
