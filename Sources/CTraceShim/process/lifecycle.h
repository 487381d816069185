// The life of the traced process as the recorder sees it: its warnings, and the end of a recording.

#ifndef LEAKTRACE_LIFECYCLE_H
#define LEAKTRACE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Notes that Swift objects are seen from now on. `isPartly`: nothing of the runtime that is interposed by name.
void lt_process_has_swift(bool isPartly);
/// Tells whoever started the recording, and the trace, what is not seen. `detail` is put behind the text, if it is not
/// NULL. One text is told once.
void lt_process_warn(const char *text, const char *detail);

/// Has the calling thread write what is known of the process and its images, as the first call of a hook would.
void lt_process_introduce(void);

/// Chunks that count only if the program is replaced: of other threads' events, and the closing record.
struct lt_exec_copies {
  uint64_t *offsets; ///< places in the trace; NULL if there are none
  size_t count, limit;
};
/// Closes the trace before an exec, in a way that can be undone. `isLast`: the new program exists and will not be
/// recorded. No recorder removes the live file later, so this call does.
void lt_process_before_exec(bool isLast, struct lt_exec_copies *copies);
/// Voids those chunks after an exec that failed: the threads will seal the same events again.
void lt_process_after_failed_exec(const struct lt_exec_copies *copies);
/// Tells whether this process changes its own memory when it writes: a child of vfork does not.
bool lt_process_has_own_memory(void);
/// Ends the recording while the process goes on, and says why: from here on the recorder makes no system call of its
/// own, and has no thread.
void lt_process_stop(const char *why);
/// Ends the recording while the process goes on, by a thread that is in no hook, so that another can begin later. False
/// if nothing is recorded, or the process is at its end.
bool lt_process_detach(void);
/// Gives up what is left of a recording that has ended so. False if some thread is inside a hook all the time.
bool lt_process_forget_recording(void);
/// Closes the trace for good. Safe to call twice, and in any process.
void lt_process_finish(uint32_t reason);
/// Counts a child that is not traced.
void lt_process_count_untraced_child(void);

#endif
