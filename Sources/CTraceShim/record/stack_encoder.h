// Encodes stacks that take more than an event of the usual size, and marks.

#ifndef LEAKTRACE_STACK_ENCODER_H
#define LEAKTRACE_STACK_ENCODER_H

#include "thread/thread_state.h"
#include "unwind/stack_change.h"

/// Puts a key that is not in the dictionary.
LT_NOINLINE uint8_t *lt_buffer_put_literal(struct lt_thread *thread, uint8_t *p, uint64_t key);
/// Writes all but the last few pushed keys of a large change, and takes them out of it.
LT_NOINLINE void lt_buffer_put_large_change(struct lt_thread *thread, struct lt_stack_change *change);
/// Writes a mark, after the change of the stack that its caller has. `time` is that in the mark.
void lt_buffer_put_mark(struct lt_thread *thread, struct lt_stack_change *change, const uint8_t *payload, size_t size,
                        uint64_t time);

#endif
