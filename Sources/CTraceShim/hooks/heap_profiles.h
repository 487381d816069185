// The call by which the program gets a heap profile, through the LeakTrace library or directly, found with dlsym.

#ifndef LEAKTRACE_HEAP_PROFILES_H
#define LEAKTRACE_HEAP_PROFILES_H

#include "hooks/hook.h"

#include <stddef.h>
#include <stdint.h>

/// Makes a profile of the sampled allocations, for pprof, compressed with gzip, and hands it to `take`, whose bytes
/// stay for the time of the call. By any thread, not in a signal's handler; waits while another profile is made.
/// Returns 0, −ENODEV if no samples are taken, or −errno.
LT_EXPORT int LT_HOOK(leaktrace_heap_profile)(void (*take)(void *context, const uint8_t *bytes, size_t size),
                                              void *context);

/// Prepares profiles of this process.
void lt_heap_profiles_init(void);

#endif
