// The signals at which a snapshot is taken: one that asks for it, one that says that a round of work is over, and those
// that end the process by default.

#ifndef LEAKTRACE_SNAPSHOT_SIGNALS_H
#define LEAKTRACE_SNAPSHOT_SIGNALS_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

/// Handles those signals whose disposition is the default, and writes to the live file which one asks. `requestSignal`:
/// 0 for the usual one; `roundSignal`: 0 for none. After the trace was opened; again in a child that has a trace of its
/// own.
void lt_snapshot_signals_init(uint32_t requestSignal, uint32_t roundSignal);
/// Gives the signals that only the recorder handles back to the kernel.
void lt_snapshot_signals_end(void);
/// Takes an image of the state before the host handles SIGTERM or SIGINT, at the first of each. `interrupted`: the
/// state that a handler was given, else NULL. By any thread, also in a handler. Keeps errno.
void lt_snapshot_before_end(int number, const ucontext_t *interrupted);

#endif
