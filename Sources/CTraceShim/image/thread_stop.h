// Stops the threads of a process for a moment, by ptrace, and lets them go again. All functions run in the tracer,
// unless they say otherwise.

#ifndef LEAKTRACE_THREAD_STOP_H
#define LEAKTRACE_THREAD_STOP_H

#include "image/freeze_state.h"

/// The state of the late threads, in `lt_copy_claim.late`. Late threads have not stopped before the copy was made.
enum {
  LT_LATE_AWAITED,
  LT_LATE_NOTED,    ///< the copy may read the registers
  LT_LATE_LOST,     ///< threads ran that the tracer does not know, or registers are missing: the image is not frozen
  LT_LATE_GIVEN_UP, ///< the copy ends, and the tracer tries again
};

/// Marks a late thread that has ended, or that is a task of the recorder's. The copy removes it from its list.
enum { LT_THREAD_LEFT_OUT = 1u << 31 };

/// Limit for late threads that wait for a processor.
enum { LT_LATE_MILLISECONDS = 10000 };

/// Makes room for `threadLimit` threads; before the tracer begins. False without memory.
bool lt_thread_stop_reserve(const struct lt_freeze *f);
/// Stops all threads except the one that waits for the tracer. False if the kernel refuses.
bool lt_thread_stop_all(struct lt_freeze *f);
/// Reads the registers of the threads that have stopped.
void lt_thread_stop_read(struct lt_freeze *f);
/// Moves threads that have ended in the meantime behind the others, and likewise the recorder's tasks, which have
/// nothing of the host's. Those of the others that have not stopped are late from now on.
void lt_thread_stop_sort(struct lt_freeze *f);
/// Lets the threads go that have stopped.
void lt_thread_stop_let_go(const struct lt_freeze *f);
/// Waits for the late threads, and lets them go. Returns the new `lt_copy_claim.late`.
uint32_t lt_thread_stop_note_late(struct lt_freeze *f);
/// Forgets the threads when the tracer has ended.
void lt_thread_stop_forget(const struct lt_freeze *f);
/// Resets the state in a child made by fork.
void lt_thread_stop_reset(void);

/// Returns the milliseconds since a moment of CLOCK_MONOTONIC in nanoseconds. Callable anywhere.
uint64_t lt_milliseconds_since(uint64_t begin);

#endif
