// Chooses the thread of a stopped process that may call the loader.

#ifndef LEAKTRACE_THREAD_CHOICE_H
#define LEAKTRACE_THREAD_CHOICE_H

#include "code_places.h"
#include "library_call.h"
#include "stopped_process.h"
#include "thread_frames.h"

#include <sys/types.h>

enum { LT_NO_THREAD = -1 };

/// Returns the index of a thread that may make a call. If there is none, returns LT_NO_THREAD, and `obstacles` says
/// why. The thread's stack must have `room` free bytes.
ssize_t lt_choose_thread(const struct lt_stopped_process *stopped, const struct lt_code_places *places,
                         struct lt_unwinding *unwinding, size_t room, struct lt_call_obstacles *obstacles);

#endif
