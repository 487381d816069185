// What the traced program says of itself, by way of the LeakTrace library or by calling these functions, which it finds with dlsym.
//
// Each can be called by any thread at any time but inside a signal handler that interrupted a call of the allocator: then it does nothing, as when
// nothing is recorded. `name` and `file` are UTF-8, may be NULL, and are not kept.

#ifndef LEAKTRACE_PROGRAM_MARKS_H
#define LEAKTRACE_PROGRAM_MARKS_H

#include "hook.h"

#include <stdbool.h>
#include <stdint.h>

/// The program asks for the end of the process, from the caller of the hook with this frame.
void lt_mark_end(const uintptr_t *hookFrame);

/// A scope begins, in the task that runs, or in the calling thread outside of tasks. Its number, or 0 when it was not recorded.
LT_EXPORT uint64_t LT_HOOK(leaktrace_scope_begin)(const char *name, const char *file, uint32_t line);
/// It ends, wherever it began. What is left of it may take `graceNanoseconds` to go. A number of 0 does nothing; nor does a second end, to a reader.
LT_EXPORT void LT_HOOK(leaktrace_scope_end)(uint64_t number, uint64_t graceNanoseconds);
/// A new generation begins.
LT_EXPORT void LT_HOOK(leaktrace_mark)(const char *name, const char *file, uint32_t line);
/// The block at `object`, which is live, is to be freed within so many nanoseconds from now.
LT_EXPORT void LT_HOOK(leaktrace_expect_deallocated)(const void *object, uint64_t nanoseconds, const char *name, const char *file, uint32_t line);
/// A number, not 0, for work that is done several times over.
LT_EXPORT uint64_t LT_HOOK(leaktrace_repetition_begin)(void);
/// A round of that work is over; `round` counts from 1. `scope`: what is made in that alone is meant; 0: all that is made. Takes a heap image, and returns when it is written, or cannot be. Its number, or −errno.
LT_EXPORT int LT_HOOK(leaktrace_round_end)(uint64_t repetition, uint64_t round, uint64_t scope, const char *name, const char *file, uint32_t line);
/// The path of the trace that this process writes now, or NULL. Stays valid; in a child made by fork it may become another's.
LT_EXPORT const char *LT_HOOK(leaktrace_trace_path)(void);
/// As leaktrace_snapshot, but returns when the image is written, or cannot be.
LT_EXPORT int LT_HOOK(leaktrace_snapshot_written)(const char *label);

#endif
