// Functions that connect a C program to the recorder that traces it. Swift programs use the module LeakTrace.
//
// If a program is not traced, these functions do nothing, on any system. The recorder's functions are looked up by
// name, once, when they are first needed. A call also does nothing if an older recorder does not have its function.
// Thread-safe. Strings are UTF-8, may be NULL, and are cut at 255 bytes.

#ifndef CLEAKTRACE_H
#define CLEAKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// 0 before the recorder was looked for; 1 if there is no recorder; 2 if there is one.
extern unsigned char cleaktrace_state;
/// Looks for the recorder. Returns true if there is one.
bool cleaktrace_find(void);

/// True if a recorder was preloaded. Takes a load and a branch.
static inline bool cleaktrace_is_present(void) {
  unsigned char state = __atomic_load_n(&cleaktrace_state, __ATOMIC_ACQUIRE);
  return __builtin_expect(state != 1, 0) && (state == 2 || cleaktrace_find());
}

/// Returns the path of the trace that is being written, or NULL.
const char *cleaktrace_trace_path(void);
/// Begins a scope. Returns its number; 0 if nothing is recorded.
uint64_t cleaktrace_scope_begin(const char *name, const char *file, uint32_t line);
/// Ends the scope. Objects made in it should be gone after the grace. If the grace is UINT64_MAX, they may stay, and
/// the scope only says which objects are its own.
void cleaktrace_scope_end(uint64_t number, uint64_t graceNanoseconds);
void cleaktrace_mark(const char *name, const char *file, uint32_t line);
void cleaktrace_expect_deallocated(const void *object, uint64_t nanoseconds, const char *name, const char *file,
                                   uint32_t line);
/// Takes a heap image. Returns its number or a negative errno. Returns while the image is still being written.
int cleaktrace_snapshot(const char *label);
/// Takes a heap image, and returns when it is written. Returns its number or a negative errno.
int cleaktrace_snapshot_written(const char *label);
/// Returns a number for a repetition, which is work that is done several times; 0 if nothing is recorded.
uint64_t cleaktrace_repetition_begin(void);
/// Ends a round of a repetition: takes a heap image, and waits until the image is written. `round` counts from 1. If
/// only objects of one scope count, `scope` is its number; otherwise it is 0. Returns the number of the image, or a
/// negative errno.
int cleaktrace_round_end(uint64_t repetition, uint64_t round, uint64_t scope, const char *name, const char *file,
                         uint32_t line);
/// Makes a heap profile for pprof, compressed with gzip, and calls `take` with its bytes, which are valid only during
/// that call. Returns 0; otherwise −ENODEV if no samples are taken, or another negative errno, and `take` is not
/// called.
int cleaktrace_heap_profile(void (*take)(void *context, const uint8_t *bytes, size_t size), void *context);
/// Returns the path of the recorder's library, or NULL. The string stays valid.
const char *cleaktrace_library_path(void);

/// Overwrites 64 KB of the stack below the caller. In a heap image, words that returned functions left there would look
/// like references.
void cleaktrace_clear_stack(void);

/// Writes the path of the `leaktrace` command that belongs to the recorder. The command is in the directory of the
/// recorder's library, or in the directory `bin` next to it. Returns false if there is no command.
bool cleaktrace_find_command(char *path, size_t size);

/// Runs a program, which is never traced, even if the recorder follows children. Collects its standard output.
/// `arguments` ends with NULL; the first argument is the program's path. Returns the exit status, or −1 if the program
/// did not run or was killed. `*output` must be freed with cleaktrace_free; it may be NULL if the result is −1.
int cleaktrace_run(char *const arguments[], char **output);
void cleaktrace_free(char *output);

/// Writes the path of the installed `leaktrace` command. It is the path in LEAKTRACE_COMMAND; otherwise the command
/// that belongs to the recorder, if there is one; otherwise the first command in PATH. Programs with special rights
/// ignore both variables. Returns false if there is no command.
bool cleaktrace_find_installed_command(char *path, size_t size);

/// Runs a program, which is never traced, and returns its standard output, which is not a string. The calling program
/// goes on undisturbed: it gets no signal when the program ends, and its own calls of wait do not see the program. The
/// program has none of the caller's descriptors, and may trace the caller. `arguments` is as for cleaktrace_run.
///
/// Blocks the calling thread, for at most about `milliseconds`; then the program is killed. Callers wait for one
/// another. Returns NULL if the program did not end in time with status 0. The result must be freed with
/// cleaktrace_free.
char *cleaktrace_run_as_guest(char *const arguments[], int milliseconds, size_t *size);
/// Returns the number of this process.
int cleaktrace_process_number(void);

#ifdef __cplusplus
}
#endif
#endif
