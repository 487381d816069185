// The life of the traced process as the recorder sees it: its warnings, and the end of a recording.

#ifndef LEAKTRACE_LIFECYCLE_H
#define LEAKTRACE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Notes that Swift objects are seen from now on. `isPartly`: calls of the runtime's functions that are interposed by
/// name are not seen.
void lt_process_note_swift(bool isPartly);
/// Reports a gap in the recording, to the user and in the trace. `detail` is appended to the text, if it is not NULL.
/// Each text is reported once.
void lt_process_warn(const char *text, const char *detail);

/// Makes the calling thread write the descriptions of the process and its images, as the first call of a hook would.
void lt_process_introduce(void);

/// Chunks that are valid only if the exec succeeds: other threads' events, and the closing record.
struct lt_exec_copies {
  uint64_t *offsets; ///< offsets in the trace; NULL if there are none
  size_t count, limit;
};
/// Closes the trace before an exec. lt_process_after_failed_exec can undo that. `isLast`: the new program exists and
/// will not be recorded. Then no recorder could remove the live file later, so this call does.
void lt_process_before_exec(bool isLast, struct lt_exec_copies *copies);
/// Voids the chunks in `copies` after a failed exec: the threads will seal the same events again.
void lt_process_after_failed_exec(const struct lt_exec_copies *copies);
/// True if this process has its own memory. A child made by vfork shares its parent's.
bool lt_process_has_own_memory(void);
/// Ends the recording while the process continues, and reports the reason. Afterwards the recorder makes no system
/// calls of its own, and has no thread.
void lt_process_stop(const char *why);
/// Ends the recording while the process continues, so that another recording can begin later. The calling thread must
/// not be in a hook. False if nothing is recorded, or if the recording is already being ended.
bool lt_process_detach(void);
/// Frees the state of a recording that lt_process_detach has ended, or that has stopped by itself. Waits for a limited
/// time until no thread is inside a hook. Returns false, without freeing the state, if a thread still is inside one.
bool lt_process_forget_recording(void);
/// Closes the trace for good, with an LT_CLOSE_… reason. May be called twice, and in any process.
void lt_process_finish(uint32_t reason);
/// Counts a child that is not traced.
void lt_process_count_untraced_child(void);

#endif
