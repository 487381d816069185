// The life of the traced process as the recorder sees it: its warnings, and the end of a recording.

#ifndef LEAKTRACE_LIFECYCLE_H
#define LEAKTRACE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Notes that Swift objects are seen from now on. `isPartly`: except the runtime's functions that are interposed by
/// name.
void lt_process_has_swift(bool isPartly);
/// Reports to the user and in the trace what the recording lacks. `detail` is appended to the text, if it is not NULL.
/// Each text is reported once.
void lt_process_warn(const char *text, const char *detail);

/// Makes the calling thread write the descriptions of the process and its images, as the first call of a hook would.
void lt_process_introduce(void);

/// Chunks that count only if the program is replaced: other threads' events, and the closing record.
struct lt_exec_copies {
  uint64_t *offsets; ///< offsets in the trace; NULL if there are none
  size_t count, limit;
};
/// Closes the trace before an exec, in a way that can be undone. `isLast`: the new program exists and will not be
/// recorded. No recorder removes the live file later, so this call does.
void lt_process_before_exec(bool isLast, struct lt_exec_copies *copies);
/// Voids those chunks after a failed exec: the threads will seal the same events again.
void lt_process_after_failed_exec(const struct lt_exec_copies *copies);
/// True if this process writes to its own memory: a child of vfork writes to its parent's.
bool lt_process_has_own_memory(void);
/// Ends the recording while the process goes on, and reports the reason. From here on the recorder makes no system
/// calls of its own, and has no thread.
void lt_process_stop(const char *why);
/// Ends the recording while the process goes on, so that another can begin later. The calling thread must be in no
/// hook. False if nothing is recorded, or the process is at its end.
bool lt_process_detach(void);
/// Frees the state of a recording that has ended so. False if some thread is inside a hook all the time.
bool lt_process_forget_recording(void);
/// Closes the trace for good. Safe to call twice, and in any process.
void lt_process_finish(uint32_t reason);
/// Counts a child that is not traced.
void lt_process_count_untraced_child(void);

#endif
