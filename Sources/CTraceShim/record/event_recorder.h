// Records events with their stacks, marks, pauses of the recording, and samples of the process's memory.

#ifndef LEAKTRACE_EVENT_RECORDER_H
#define LEAKTRACE_EVENT_RECORDER_H

#include "check.h"
#include "thread/thread_state.h"
#include "unwind/stack_capture.h"

// --- stacks and marks ------------------------------------------------------------------------------------------------

// Encodes stacks that take more than an event of the usual size, and marks.

/// Puts a key that is not in the dictionary.
LT_NOINLINE uint8_t *lt_buffer_put_literal(struct lt_thread *thread, uint8_t *p, uint64_t key);
/// Writes all but the last few pushed keys of a large change, and takes them out of it.
LT_NOINLINE void lt_buffer_put_large_change(struct lt_thread *thread, struct lt_stack_change *change);
/// Writes a mark, after the change of the stack that its caller has. `time` is that in the mark.
void lt_buffer_put_mark(struct lt_thread *thread, struct lt_stack_change *change, const uint8_t *payload, size_t size,
                        uint64_t time);

// --- recorded stack --------------------------------------------------------------------------------------------------

// An event's stack, captured to be recorded in the thread's present payload.

/// The slow path of lt_record_stack. May begin a new payload.
LT_NOINLINE void lt_record_stack_slowly(struct lt_thread *thread, const uintptr_t *frame, struct lt_walk walk,
                                        struct lt_stack_change *change);

/// Returns how the stack of a hook's caller differs from the one recorded before; the innermost frame is the hook's
/// caller. `frame` is the hook's own frame address (__builtin_frame_address(0)): the hook is compiled with a frame
/// pointer. The change must be recorded, in the same payload, before the next capture. Linear in the depth for a look
/// at each return address; frames that did not change since the thread's last call are not unwound again.
static LT_ALWAYS_INLINE struct lt_stack_change lt_record_stack(struct lt_thread *t, const uintptr_t *frame) {
  lt_stack_memory_begin(t, (uintptr_t)frame);
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

// Records one event: captures its stack, and encodes both into the thread's buffer. Called by hooks between `lt_enter`
// and `lt_leave`.
//
// `frame` is the hook's own frame address (__builtin_frame_address(0)); the event's stack begins with the hook's
// caller.

/// Records an operation on the block or object at `address`.
LT_NOINLINE void lt_record(struct lt_thread *thread, unsigned operation, const void *address, const uintptr_t *frame);
/// Records an operation with an operand: an allocation's size, or a count.
LT_NOINLINE void lt_record_size(struct lt_thread *thread, unsigned operation, const void *address, uint64_t size,
                                const uintptr_t *frame);
/// Records swift_allocObject, with the type of the metadata.
LT_NOINLINE void lt_record_object(struct lt_thread *thread, const void *object, uint64_t size, const void *metadata,
                                  const uintptr_t *frame);
/// Records an operation without a stack.
LT_NOINLINE void lt_record_alone(struct lt_thread *thread, unsigned operation, const void *address);
LT_NOINLINE void lt_record_size_alone(struct lt_thread *thread, unsigned operation, const void *address, uint64_t size);

// --- pauses ----------------------------------------------------------------------------------------------------------

// The trace's notes of pauses of the recording.

/// Notes a pause, by a thread that cannot write it. False if another noticed before.
bool lt_pause_notice(void);
/// Writes that recording was paused or goes on (LT_PAUSE_), by the thread that notices first. Writes both for a pause
/// that only threads noticed that could not write it.
void lt_pause_note(struct lt_thread *thread, uint64_t kind);
/// In a child made by fork.
void lt_pause_notes_reset_after_fork(void);

// --- memory ----------------------------------------------------------------------------------------------------------

// Samples of the process's memory, as the recording goes on.

/// Defines the memory in use, if the last time was long enough ago.
void lt_memory_sample(struct lt_thread *thread);

#endif
