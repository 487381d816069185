// The trace's notes of pauses of the recording.

#ifndef LEAKTRACE_PAUSE_NOTES_H
#define LEAKTRACE_PAUSE_NOTES_H

#include "thread/thread_state.h"

/// Notes a pause, by a thread that cannot write it. False if another noticed before.
bool lt_pause_notice(void);
/// Writes that recording was paused or goes on (LT_PAUSE_), by the thread that notices first. Writes both for a pause
/// that only threads noticed that could not write it.
void lt_pause_note(struct lt_thread *thread, uint64_t kind);
/// In a child made by fork.
void lt_pause_notes_reset_after_fork(void);

#endif
