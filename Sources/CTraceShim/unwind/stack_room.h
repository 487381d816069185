// Memory for the record of a thread's last stack. It grows with the deepest stack: most threads need room for a few
// hundred frames.

#ifndef LEAKTRACE_STACK_ROOM_H
#define LEAKTRACE_STACK_ROOM_H

#include "check.h"
#include "thread/thread_state.h"

/// True if the thread has room and its last stack is within it.
LT_INVARIANT bool lt_stack_room_is_valid(const struct lt_thread *t) {
  const uint8_t *entries = (const uint8_t *)t->entries;
  return t->room && entries > t->room && entries < t->room + t->roomSize && t->entryLimit > 0 &&
         t->freshLimit <= t->entryLimit && t->depth <= t->entryLimit && t->asyncDepth <= LT_ASYNC_LIMIT &&
         t->entries[-1].state.returnSlot == UINTPTR_MAX;
}

/// Gives a thread room for its first stacks, of at most `limit` frames. False without memory; then nothing was taken.
bool lt_stack_room_make(struct lt_thread *thread, uint32_t limit);
/// Gives it more, up to `limit` frames. Forgets the record of its last stack. False, and all is as it was, at the limit
/// and without memory; after that no more is asked for.
bool lt_stack_room_grow(struct lt_thread *thread, uint32_t limit);

#endif
