// Functions that the program calls: to mark scopes, generations and expectations, and to get a heap profile.

#ifndef LEAKTRACE_PROGRAM_CALLS_H
#define LEAKTRACE_PROGRAM_CALLS_H

#include "hooks/hook.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- marks -----------------------------------------------------------------------------------------------------------

// Functions that make marks. The traced program calls them through the LeakTrace library, or finds them with dlsym.
//
// Any thread can call them at any time. They do nothing while nothing is recorded, and inside a signal handler that
// interrupted a call of the allocator. `name` and `file` are UTF-8, may be NULL, and are not kept.

/// Writes the mark LT_MARK_END: the program is about to end the process. The mark's stack ends at the caller of the
/// hook whose frame address is `hookFrame`.
void lt_mark_end(struct lt_hook_frame hookFrame);

/// Begins a scope in the running task or, outside of tasks, in the calling thread. Returns its number, or 0 if it was
/// not recorded.
LT_EXPORT uint64_t leaktrace_scope_begin(const char *name, const char *file, uint32_t line);
/// Ends the scope `number`, which may have begun in another task or thread. The objects that remain in the scope may
/// take `graceNanoseconds` to be freed. Does nothing if `number` is 0. Readers of the trace ignore a second end.
LT_EXPORT void leaktrace_scope_end(uint64_t number, uint64_t graceNanoseconds);
/// Begins a new generation.
LT_EXPORT void leaktrace_mark(const char *name, const char *file, uint32_t line);
/// Expects the live block at `object` to be freed within `nanoseconds` from now.
LT_EXPORT void leaktrace_expect_deallocated(const void *object, uint64_t nanoseconds, const char *name,
                                            const char *file, uint32_t line);
/// Returns a new number, not 0, for work that is repeated in rounds.
LT_EXPORT uint64_t leaktrace_repetition_begin(void);
/// Ends a round of the work that has the number `repetition`. `round` counts from 1. `scope`: only objects allocated in
/// this scope count; 0: all objects count. Takes a heap image, and waits until the image is written or has failed.
/// Returns the image's number, or −errno.
LT_EXPORT int leaktrace_round_end(uint64_t repetition, uint64_t round, uint64_t scope, const char *name,
                                  const char *file, uint32_t line);
/// Returns the path of the trace that this process is writing, or NULL. The pointer stays valid. In a child made by
/// fork, the text at the pointer may later change to another trace's path.
LT_EXPORT const char *leaktrace_trace_path(void);
/// Takes a snapshot named `label` (UTF-8, may be NULL). Waits until an earlier snapshot is written, but not until its
/// own image is written. Returns the snapshot's number, from 1, or −errno. May be called by any thread.
LT_EXPORT int leaktrace_snapshot(const char *label);

/// Like leaktrace_snapshot, but waits until its own image is written or has failed.
LT_EXPORT int leaktrace_snapshot_written(const char *label);

// --- heap profiles ---------------------------------------------------------------------------------------------------

// The function that gives the program a heap profile. The program calls it through the LeakTrace library, or finds it
// with dlsym.

/// Makes a profile of the sampled allocations in pprof's format, compressed with gzip. Passes the profile to `take`;
/// its bytes are valid until `take` returns. May be called by any thread, but not in a signal handler. Waits while
/// another profile is made. Returns 0, −ENODEV if no samples are taken, or −errno.
LT_EXPORT int leaktrace_heap_profile(void (*take)(void *context, const uint8_t *bytes, size_t size), void *context);

/// Prepares profiles of this process.
void lt_heap_profiles_init(void);

#endif
