#include "record/recorded_stack.h"

#include "record/event_buffer.h"

LT_NOINLINE void lt_record_stack_slowly(struct lt_thread *t, const uintptr_t *frame, struct lt_walk walk,
                                        struct lt_stack_change *change) {
  lt_capture_slowly(t, frame, walk, change);
  if (!lt_buffer_fits(t, change->pushes) && lt_buffer_renew(t)) lt_capture_again(t, frame, change);
  lt_buffer_put_task(t);
  if (LT_UNLIKELY(lt_verifies_stacks)) lt_capture_verify(t, frame);
}
