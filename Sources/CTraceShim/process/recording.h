// Begins the recording of this process, and of children made by fork.

#ifndef LEAKTRACE_RECORDING_H
#define LEAKTRACE_RECORDING_H

#include "thread/thread_state.h"

/// Begins a recording with the current settings. False, after reporting the reason, when that is not possible.
bool lt_recording_begin(void);
/// True if this process is the one whose trace is open.
bool lt_recording_is_on(void);
/// Same result as lt_recording_is_on. In a child whose fork was not noticed, it also turns recording off, or begins the
/// child's own trace.
bool lt_process_is_ours(void);
/// Child side of fork.
void lt_process_after_fork(void);
/// Frees the state of a recording that has ended, so that another can begin. For a process that was running before the
/// first recording. No thread may be inside a hook, and all threads' states must be gone.
void lt_recording_forget(void);
/// Drops the trace of a followed child that has not begun it.
void lt_recording_forgo(void);
/// Does periodic work when a thread has sealed a chunk: images, memory samples.
void lt_recording_keep_up(struct lt_thread *thread);

/// Callbacks of the hooks that interpose the host's functions while it is recorded. Members may be NULL.
struct lt_recording_observer {
  void (*takesSnapshots)(void); ///< this process's trace is open, and heap images are taken
  void (*stopped)(void);        ///< the process goes on without the recorder's system calls
  void (*forked)(void);         ///< this is a followed child, and its trace is not yet open
};
void lt_recording_observe(struct lt_recording_observer observer);
/// Calls the observer's `stopped`.
void lt_recording_has_stopped(void);

#endif
