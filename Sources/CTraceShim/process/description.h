// The trace's description of the process: its program, the events that can be seen, warnings.

#ifndef LEAKTRACE_DESCRIPTION_H
#define LEAKTRACE_DESCRIPTION_H

#include "thread/thread_state.h"

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

#endif
