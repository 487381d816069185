// Begins a recording, describes the process in the trace, and notices when the trace reaches its limit.

#ifndef LEAKTRACE_RECORDING_H
#define LEAKTRACE_RECORDING_H

#include "thread/thread_state.h"

// --- description -----------------------------------------------------------------------------------------------------

// The trace's description of the process: its program, the events that can be seen, warnings.

/// Finds the name of the program that the process runs.
void lt_description_name_program(void);
const char *lt_description_program_name(void);

/// Called by each thread when it has registered; the first writes the description.
void lt_description_begin(struct lt_thread *thread);
/// Writes the description again if it has changed.
void lt_description_renew(struct lt_thread *thread);
/// Writes the present time by the trace's clock and the kernel's.
void lt_description_put_clock(struct lt_thread *thread);

/// Notes that Swift objects are seen from now on. `isPartly`: except the runtime's functions that are interposed by
/// name. False if that is known already.
bool lt_description_add_swift(bool isPartly);
/// Longest warning, with the zero at its end.
enum { LT_WARNING_SIZE = 512 };
/// Adds a warning. False if it was added before.
bool lt_description_add_warning(const char text[LT_WARNING_SIZE]);
/// Announces an addition. False if no description was written yet: the addition will be part of it. Otherwise the next
/// thread that calls lt_thread_prepare writes it.
bool lt_description_has_news(void);

/// Begins a new description for another trace of this process, which had run for a while before the recording.
void lt_description_join(void);
/// Notes for the child whether the process has threads besides the one that is about to fork.
void lt_description_note_threads(bool hasOthers);
/// Resets the description in a child made by fork that will have a trace of its own.
void lt_description_reset_after_fork(void);
/// True if this process is such a child.
bool lt_description_is_forked(void);

// --- limit -----------------------------------------------------------------------------------------------------------

// Notices that the trace has reached its limit, and makes the recorder switch to sampling then.

/// Sets the function that switches to sampling, which a hook calls. It returns false if it must be called again later.
void lt_trace_limit_observe(bool (*goOver)(struct lt_thread *thread));
/// Watches the trace that was opened. `bytes`: 0 for no limit.
void lt_trace_limit_begin(uint64_t bytes);
/// Checks the trace's size, when a thread has sealed a chunk. Costs a load where there is no limit.
void lt_trace_limit_look(void);
/// Switches to sampling if it is time. Called by a hook, on the program's stack. Costs a load if it is not time.
void lt_trace_limit_heed(struct lt_thread *thread);

// --- beginning -------------------------------------------------------------------------------------------------------

// Begins the recording of this process, and of children made by fork.

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
