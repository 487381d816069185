// Begins the recording of this process, and of children made by fork.

#ifndef LEAKTRACE_RECORDING_H
#define LEAKTRACE_RECORDING_H

#include "thread/thread_state.h"

/// Begins it by the settings. False, after saying why, when that cannot be.
bool lt_recording_begin(void);
/// Tells whether this process is the one whose trace is open.
bool lt_recording_is_on(void);
/// Tells the same, but in a child made by a fork that nobody announced it turns tracing off, or begins the child's own
/// trace.
bool lt_process_is_ours(void);
/// Child side of fork.
void lt_process_after_fork(void);
/// Gives up what is left of a recording that has ended, so that another can begin, in a process that was running before
/// the first. Nobody may be inside a hook, and threads have no states any more.
void lt_recording_forget(void);
/// Gives up the trace of a followed child that has not begun it.
void lt_recording_forgo(void);
/// Does what is due now and then, when a thread has sealed a chunk: images, memory samples.
void lt_recording_keep_up(struct lt_thread *thread);

/// The observer that stands in front of the host's functions while it is recorded. Members may be NULL.
struct lt_recording_observer {
  void (*takesSnapshots)(void); ///< a trace is open, of this process, and heap images are taken
  void (*stopped)(void);        ///< the process goes on, and makes no calls of the recorder's any more
  void (*forked)(void);         ///< this is a child that is followed, and its trace is not yet open
};
void lt_recording_observe(struct lt_recording_observer observer);
/// As the observer has it.
void lt_recording_has_stopped(void);

#endif
