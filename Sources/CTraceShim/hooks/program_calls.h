// Functions that the program calls: to mark scopes, generations and expectations, and to get a heap profile.

#ifndef LEAKTRACE_PROGRAM_CALLS_H
#define LEAKTRACE_PROGRAM_CALLS_H

#include "hooks/hook.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- marks -----------------------------------------------------------------------------------------------------------

// The functions with which the traced program makes marks. It calls them through the LeakTrace library, or directly,
// found with dlsym.
//
// Any thread can call them at any time. They do nothing while nothing is recorded, and inside a signal handler that
// interrupted a call of the allocator. `name` and `file` are UTF-8, may be NULL, and are not kept.

/// Marks that the program asks to end the process, in the caller of the hook with this frame.
void lt_mark_end(const uintptr_t *hookFrame);

/// Begins a scope, in the running task, or in the calling thread outside of tasks. Returns its number, or 0 if it was
/// not recorded.
LT_EXPORT uint64_t LT_HOOK(leaktrace_scope_begin)(const char *name, const char *file, uint32_t line);
/// Ends a scope, wherever it began. Its remaining objects may take `graceNanoseconds` to be freed. A number of 0 does
/// nothing; readers ignore a second end.
LT_EXPORT void LT_HOOK(leaktrace_scope_end)(uint64_t number, uint64_t graceNanoseconds);
/// Begins a new generation.
LT_EXPORT void LT_HOOK(leaktrace_mark)(const char *name, const char *file, uint32_t line);
/// Expects the live block at `object` to be freed within `nanoseconds` from now.
LT_EXPORT void LT_HOOK(leaktrace_expect_deallocated)(const void *object, uint64_t nanoseconds, const char *name,
                                                     const char *file, uint32_t line);
/// Returns a number, not 0, for work that is repeated.
LT_EXPORT uint64_t LT_HOOK(leaktrace_repetition_begin)(void);
/// Ends a round of that work; `round` counts from 1. `scope`: only objects made in it count; 0: all do. Takes a heap
/// image, and waits until it is written, or has failed. Returns its number, or −errno.
LT_EXPORT int LT_HOOK(leaktrace_round_end)(uint64_t repetition, uint64_t round, uint64_t scope, const char *name,
                                           const char *file, uint32_t line);
/// Returns the path of the trace that this process is writing, or NULL. The pointer stays valid; in a child made by
/// fork it may later hold another trace's path.
LT_EXPORT const char *LT_HOOK(leaktrace_trace_path)(void);
/// Takes a snapshot named `label` (UTF-8, may be NULL), and returns while it is being written. Returns its number, from
/// 1, or −errno. May be called by any thread; waits for a snapshot that is being written.
LT_EXPORT int LT_HOOK(leaktrace_snapshot)(const char *label);

/// As leaktrace_snapshot, but returns when the image is written, or has failed.
LT_EXPORT int LT_HOOK(leaktrace_snapshot_written)(const char *label);

// --- heap profiles ---------------------------------------------------------------------------------------------------

// The call that gives the program a heap profile. It is called through the LeakTrace library, or directly, found with
// dlsym.

/// Makes a profile of the sampled allocations, for pprof, compressed with gzip. Passes it to `take`; the bytes are
/// valid during that call. May be called by any thread, but not in a signal handler. Waits while another profile is
/// made. Returns 0, −ENODEV if no samples are taken, or −errno.
LT_EXPORT int LT_HOOK(leaktrace_heap_profile)(void (*take)(void *context, const uint8_t *bytes, size_t size),
                                              void *context);

/// Prepares profiles of this process.
void lt_heap_profiles_init(void);

#endif
