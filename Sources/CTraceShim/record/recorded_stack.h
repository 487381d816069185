// An event's stack, captured to be recorded in the thread's present payload.

#ifndef LEAKTRACE_RECORDED_STACK_H
#define LEAKTRACE_RECORDED_STACK_H

#include "check.h"
#include "unwind/stack_capture.h"

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

#endif
