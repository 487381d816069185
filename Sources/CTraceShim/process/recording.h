// Begins a recording, describes the process in the trace, and notices when the trace reaches its limit.

#ifndef LEAKTRACE_RECORDING_H
#define LEAKTRACE_RECORDING_H

#include "thread/thread_state.h"

// --- description -----------------------------------------------------------------------------------------------------

// The trace's description of the process: its program, the kinds of events that the recorder sees, and warnings.

/// Finds the name of the program that the process runs.
void lt_description_name_program(void);
const char *lt_description_program_name(void);

/// Called by each thread when it has registered. The first thread writes the description.
void lt_description_begin(struct lt_thread *thread);
/// Writes the description again if it has changed.
void lt_description_renew(struct lt_thread *thread);
/// Writes the current times of the trace's clock and the kernel's clock.
void lt_description_put_clock(struct lt_thread *thread);

/// Notes that Swift objects are seen from now on. `isPartly`: calls of the runtime's functions that are interposed by
/// name are not seen. False if this was already noted.
bool lt_description_add_swift(bool isPartly);
/// Size of the longest warning, with the zero at its end.
enum { LT_WARNING_SIZE = 512 };
/// Adds a warning. False if it was added before.
bool lt_description_add_warning(const char text[LT_WARNING_SIZE]);
/// Announces that the description has changed. False if no description was written yet: the first one will contain the
/// change. Otherwise the next thread that calls lt_thread_prepare writes the description again.
bool lt_description_has_changed(void);

/// Begins the description for a new trace of this process, which was running before the recording.
void lt_description_join(void);
/// Called before fork. Notes, for the child's description, whether the process has threads besides the calling one.
void lt_description_note_threads(bool hasOthers);
/// Resets the description in a child made by fork that will have a trace of its own.
void lt_description_reset_after_fork(void);
/// True if this process is a child made by fork that has a trace of its own.
bool lt_description_is_forked(void);

// --- limit -----------------------------------------------------------------------------------------------------------

// Notices when the trace has reached its limit, and then makes the recorder switch to sampling.

/// Sets the function that switches to sampling. A hook calls this function. It returns false if it must be called again
/// later.
void lt_trace_limit_observe(bool (*goOver)(struct lt_thread *thread));
/// Watches the size of the open trace. `bytes`: the limit; 0 for none.
void lt_trace_limit_begin(uint64_t bytes);
/// Checks the trace's size. Needs a single load if there is no limit. Called when a thread has sealed a chunk.
void lt_trace_limit_check(void);
/// Switches to sampling if the limit was reached. Otherwise needs a single load. Called by a hook, on the program's
/// stack.
void lt_trace_limit_heed(struct lt_thread *thread);

// --- beginning -------------------------------------------------------------------------------------------------------

// Begins the recording of this process, and of children made by fork.

/// Begins a recording with the current settings. If that is not possible, reports the reason and returns false.
bool lt_recording_begin(void);
/// True if this process is the one whose trace is open.
bool lt_recording_is_on(void);
/// True if the calling process may record. A followed child's own trace is opened here. In a child whose fork was not
/// noticed, also turns recording off or begins the child's trace.
bool lt_process_is_ours(void);
/// Called in the child after a fork. Turns recording off, or prepares the child's own trace if children are followed.
void lt_process_after_fork(void);
/// Frees the state of a recording that has ended, so that another can begin. Used when recordings are attached to a
/// running process. No thread may be inside a hook, and all threads' states must have been freed.
void lt_recording_forget(void);
/// Gives up the trace of a followed child whose trace has not begun.
void lt_recording_forgo(void);
/// Does the periodic work when a thread has sealed a chunk. For example, it refreshes the list of images and samples
/// the memory use.
void lt_recording_keep_up(struct lt_thread *thread);

/// Callbacks to the hooks, at changes of the recording. Members may be NULL.
struct lt_recording_observer {
  void (*takesSnapshots)(void); ///< this process's trace is open, and heap images are taken
  void (*stopped)(void);        ///< recording has stopped, and the recorder makes no more system calls
  void (*forked)(void);         ///< this process is a followed child whose trace is not yet open
};
void lt_recording_observe(struct lt_recording_observer observer);
/// Calls the observer's `stopped`.
void lt_recording_set_stopped(void);

#endif
