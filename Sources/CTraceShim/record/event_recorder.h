// Records events with their stacks, marks, pauses of the recording, and samples of the process's memory.

#ifndef LEAKTRACE_EVENT_RECORDER_H
#define LEAKTRACE_EVENT_RECORDER_H

#include "check.h"
#include "thread/thread_state.h"
#include "unwind/stack_capture.h"

// --- stacks and marks ------------------------------------------------------------------------------------------------

// Encodes marks, and stacks that need more room than a usual event has.

/// Writes a key that is not in the dictionary.
LT_NOINLINE uint8_t *lt_buffer_put_literal(struct lt_thread *thread, uint8_t *p, uint64_t key);
/// Writes all but the last few pushed keys of a large change, and removes the written keys from the change.
LT_NOINLINE void lt_buffer_put_large_change(struct lt_thread *thread, struct lt_stack_change *change);
/// Writes a change of the stack and then a mark. The caller has captured the change. `time` is the time in the mark.
void lt_buffer_put_mark(struct lt_thread *thread, struct lt_stack_change *change, const uint8_t *payload, size_t size,
                        uint64_t time);

// --- recorded stack --------------------------------------------------------------------------------------------------

// Captures an event's stack for the thread's current payload.

/// The slow path of lt_record_stack. May begin a new payload.
LT_NOINLINE void lt_record_stack_slowly(struct lt_thread *thread, struct lt_hook_frame frame, struct lt_walk walk,
                                        struct lt_stack_change *change);

/// Returns how the stack of a hook's caller differs from the stack recorded before. The innermost frame is the hook's
/// caller. `frame` is the hook's own frame; the hook is compiled with a frame pointer. The change must be recorded
/// before the next capture, and in the same payload. Takes linear time in the depth, because each return address is
/// compared. Frames that did not change since the thread's previous event are not unwound again.
static LT_ALWAYS_INLINE struct lt_stack_change lt_record_stack(struct lt_thread *t, struct lt_hook_frame frame) {
  lt_stack_memory_begin(t, (uintptr_t)frame.record);
  LT_CHECK(lt_stack_room_is_valid(t));
  struct lt_walk walk = lt_walk_changed(t, frame, t->freshLimit);
  uint32_t total = walk.entries + walk.fresh;
  if (LT_UNLIKELY(!walk.entries || t->needsSlowCapture || total > t->entryLimit)) {
    struct lt_stack_change change;
    lt_record_stack_slowly(t, frame, walk, &change);
    return change;
  }
  LT_CHECK(!t->endsInTask && t->recordedDepth == t->depth);
  LT_CHECK(walk.kept <= walk.entries && walk.entries <= t->depth);
  lt_keep_fresh(t, walk.entries, walk.fresh);
  const uint64_t *end = t->addresses + total;
  struct lt_stack_change change = {.pops = t->recordedDepth - walk.kept,
                                   .pushes = total - walk.kept,
                                   .keys = t->addresses + walk.kept,
                                   .innermost = end[-1],
                                   .next = total > 1 ? end[-2] : 0};
  t->depth = t->recordedDepth = total;
  return change;
}

// --- events ----------------------------------------------------------------------------------------------------------

// Records one event: captures its stack, and encodes the event and the stack change into the thread's buffer. Hooks
// call these functions between `lt_enter` and `lt_leave`.
//
// `frame` is the hook's own frame; the event's stack begins with the hook's caller.

/// Records an operation on the block or object at `address`.
LT_NOINLINE void lt_record(struct lt_thread *thread, unsigned operation, const void *address,
                           struct lt_hook_frame frame);
/// Records an operation with an operand, which is an allocation's size or a count.
LT_NOINLINE void lt_record_size(struct lt_thread *thread, unsigned operation, const void *address, uint64_t size,
                                struct lt_hook_frame frame);
/// Records swift_allocObject, with the type that `metadata` describes.
LT_NOINLINE void lt_record_object(struct lt_thread *thread, const void *object, uint64_t size, const void *metadata,
                                  struct lt_hook_frame frame);
/// Records an operation without a stack.
LT_NOINLINE void lt_record_alone(struct lt_thread *thread, unsigned operation, const void *address);
LT_NOINLINE void lt_record_size_alone(struct lt_thread *thread, unsigned operation, const void *address, uint64_t size);

// --- pauses ----------------------------------------------------------------------------------------------------------

// Records pauses of the recording in the trace.

/// Notes a pause, in a thread that cannot write it to the trace. Returns false if another thread has noted it before.
bool lt_pause_notice(void);
/// Writes to the trace that recording was paused or continues (LT_PAUSE_). Only the first thread that notices writes
/// this. If only threads that could not write noticed the pause, writes both its start and its end.
void lt_pause_note(struct lt_thread *thread, uint64_t kind);
/// Forgets pauses, in a child made by fork.
void lt_pause_notes_reset_after_fork(void);

// --- memory ----------------------------------------------------------------------------------------------------------

// Samples the process's memory during the recording.

/// Writes a sample of the memory in use to the trace, if the previous sample is old enough.
void lt_memory_sample(struct lt_thread *thread);

#endif
