// The difference between a stack and the one recorded before it.

#ifndef LEAKTRACE_STACK_CHANGE_H
#define LEAKTRACE_STACK_CHANGE_H

#include <stdint.h>

/// Most frames that an event pushes by itself; more go into a control record before it.
enum { LT_EVENT_PUSH_LIMIT = 48 };

struct lt_stack_change {
  uint32_t pops, pushes;
  const uint64_t *keys;     ///< pushed, the outermost first
  uint64_t innermost, next; ///< the two innermost keys of the stack
};

#endif
