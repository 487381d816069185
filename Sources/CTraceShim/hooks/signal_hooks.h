// The signals that cause a snapshot. One signal requests a snapshot, and one ends a round of work. The others end the
// process by default.

#ifndef LEAKTRACE_SIGNAL_HOOKS_H
#define LEAKTRACE_SIGNAL_HOOKS_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

/// Installs handlers for the signals that have the default disposition. Writes the number of the request signal to the
/// live file. `requestSignal`: 0 for the default, 62; `roundSignal`: 0 for none. Called after the trace was opened, and
/// again in a child that has a trace of its own.
void lt_snapshot_signals_init(uint32_t requestSignal, uint32_t roundSignal);
/// Restores the host's disposition of the signals that the recorder handles.
void lt_snapshot_signals_end(void);
/// Takes an image before the host handles its first SIGTERM, and before it handles its first SIGINT. `interrupted`: the
/// state that a handler was given; NULL outside of a handler. May be called by any thread, and in a handler. Keeps
/// errno.
void lt_snapshot_before_end(int number, const ucontext_t *interrupted);

#endif
