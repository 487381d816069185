// Memory for the record of a thread's last stack. It grows with the deepest stack: most threads need room for a few
// hundred frames.

#ifndef LEAKTRACE_STACK_ROOM_H
#define LEAKTRACE_STACK_ROOM_H

#include "thread/thread_state.h"

/// Gives a thread room for its first stacks, of at most `limit` frames. False without memory; then nothing was taken.
bool lt_stack_room_make(struct lt_thread *thread, uint32_t limit);
/// Gives it more, up to `limit` frames. Forgets the record of its last stack. False, and all is as it was, at the limit
/// and without memory; after that no more is asked for.
bool lt_stack_room_grow(struct lt_thread *thread, uint32_t limit);

#endif
