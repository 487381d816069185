// Records one event: captures its stack, and encodes both into the thread's buffer. Called by hooks between `lt_enter`
// and `lt_leave`.
//
// `frame` is the hook's own frame address (__builtin_frame_address(0)); the event's stack begins with the hook's
// caller.

#ifndef LEAKTRACE_EVENT_RECORDER_H
#define LEAKTRACE_EVENT_RECORDER_H

#include "thread/thread_state.h"

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

#endif
