// The calls by which a C program talks to the recorder that traces it; Swift programs use the module LeakTrace.
//
// Nothing here does anything in a program that is not traced, on any system: the recorder's functions are looked up
// once, by name, when first needed. A call that an older recorder lacks does nothing either. Thread-safe. Strings are
// UTF-8, may be NULL, and are cut at 255 bytes.

#ifndef CLEAKTRACE_H
#define CLEAKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// 0: nobody has looked yet; 1: there is no recorder; 2: there is.
extern unsigned char cleaktrace_state;
/// Looks for the recorder, and tells whether there is one.
bool cleaktrace_find(void);

/// Tells whether a recorder was preloaded: a load and a branch.
static inline bool cleaktrace_is_present(void) {
  unsigned char state = __atomic_load_n(&cleaktrace_state, __ATOMIC_ACQUIRE);
  return __builtin_expect(state != 1, 0) && (state == 2 || cleaktrace_find());
}

/// The path of the trace that is being written, or NULL.
const char *cleaktrace_trace_path(void);
/// Begins a scope. Returns its number, or 0.
uint64_t cleaktrace_scope_begin(const char *name, const char *file, uint32_t line);
/// Ends the scope. Objects made in it should be gone after the grace. UINT64_MAX: they may stay; the scope only says
/// whose they are.
void cleaktrace_scope_end(uint64_t number, uint64_t graceNanoseconds);
void cleaktrace_mark(const char *name, const char *file, uint32_t line);
void cleaktrace_expect_deallocated(const void *object, uint64_t nanoseconds, const char *name, const char *file,
                                   uint32_t line);
/// Takes a heap image. Returns its number, or a negative errno, while it is being written.
int cleaktrace_snapshot(const char *label);
/// Does the same, and returns when the image is written.
int cleaktrace_snapshot_written(const char *label);
/// Returns a number for work that is repeated, or 0.
uint64_t cleaktrace_repetition_begin(void);
/// Ends a round of it: takes a heap image, and waits until that is written. `round` counts from 1. `scope`: that of the
/// work, if only objects made in it count; else 0. Returns the number of the image, or a negative errno.
int cleaktrace_round_end(uint64_t repetition, uint64_t round, uint64_t scope, const char *name, const char *file,
                         uint32_t line);
/// Makes a heap profile for pprof, compressed with gzip, and hands it to `take`, whose bytes stay for the time of the
/// call. Returns 0, −ENODEV if no samples are taken, or another negative errno; then `take` is not called.
int cleaktrace_heap_profile(void (*take)(void *context, const uint8_t *bytes, size_t size), void *context);
/// The path of the recorder's library, or NULL. Stays valid.
const char *cleaktrace_library_path(void);

/// Overwrites 64 KB of the stack below the caller: words that returned functions left there would look like references
/// to a heap image.
void cleaktrace_clear_stack(void);

/// Writes the path of the `leaktrace` command that belongs to the recorder: beside it, or in `bin` beside its
/// directory. False when there is none.
bool cleaktrace_find_command(char *path, size_t size);

/// Runs a program, untraced whatever the recorder is told of children, and collects what it writes to standard output.
/// `arguments` ends with NULL; the first is the path. Returns its exit status, or −1 when it did not run or end by
/// itself; `*output` is to be freed by cleaktrace_free, and may be NULL then.
int cleaktrace_run(char *const arguments[], char **output);
void cleaktrace_free(char *output);

#ifdef __cplusplus
}
#endif
#endif
