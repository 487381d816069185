// The call that gives the program a heap profile. It is called through the LeakTrace library, or directly, found with
// dlsym.

#ifndef LEAKTRACE_HEAP_PROFILES_H
#define LEAKTRACE_HEAP_PROFILES_H

#include "hooks/hook.h"

#include <stddef.h>
#include <stdint.h>

/// Makes a profile of the sampled allocations, for pprof, compressed with gzip. Passes it to `take`; the bytes are
/// valid during that call. May be called by any thread, but not in a signal handler. Waits while another profile is
/// made. Returns 0, −ENODEV if no samples are taken, or −errno.
LT_EXPORT int LT_HOOK(leaktrace_heap_profile)(void (*take)(void *context, const uint8_t *bytes, size_t size),
                                              void *context);

/// Prepares profiles of this process.
void lt_heap_profiles_init(void);

#endif
