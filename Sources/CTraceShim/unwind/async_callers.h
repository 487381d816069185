// The suspended callers of the async function that a task is running: its logical stack, below the physical one.

#ifndef LEAKTRACE_ASYNC_CALLERS_H
#define LEAKTRACE_ASYNC_CALLERS_H

#include "check.h"
#include "thread/thread_state.h"

struct lt_async_change {
  bool isFound;  ///< there is a chain of callers, now in the thread's `async`
  uint32_t kept; ///< number of its outermost entries that were in it before
};

/// Updates the thread's `async`. `returnSlot`: the slot of the return address with which the outermost physical frame
/// of the task's code returns into the concurrency runtime. `hasFramePointer`: that frame is found by the frame
/// pointer. `registerValue`: the value of LT_REG_CONTEXT in that frame.
struct lt_async_change lt_async_callers_update(struct lt_thread *thread, uintptr_t returnSlot, bool hasFramePointer,
                                               uint64_t registerValue);

/// Does the same for a context that is in neither place: uses the first candidate that is a context.
struct lt_async_change lt_async_callers_search(struct lt_thread *thread, const uint64_t *candidates, uint32_t count);

/// True if the callers in the thread's `async` are unchanged in memory. A task that has notified its awaiters has given
/// up its context before its last function returns. A child's context is in its parent's memory, where another thread
/// may write by then (Swift 6.3.1, AsyncTask::completeFuture).
bool lt_async_callers_stand(const struct lt_thread *t);

/// The frame key of entry `i` of the thread's `async`.
static LT_ALWAYS_INLINE uint64_t lt_async_key(const struct lt_thread *t, uint32_t i) {
  LT_CHECK(i < t->asyncDepth && t->asyncDepth <= LT_ASYNC_LIMIT);
  return t->async[i].resume | LT_FRAME_EXACT | LT_FRAME_ASYNC;
}

#endif
