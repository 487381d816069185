// Records calls of the allocator.
//
// A free is recorded before it happens, an allocation after: in between another thread may be given the address.

#ifndef LEAKTRACE_ALLOCATION_RECORDING_H
#define LEAKTRACE_ALLOCATION_RECORDING_H

#include "hooks/hook.h"
#include "image/expectations.h"
#include "process/thread_entry.h"
#include "record/event_recorder.h"

static LT_ALWAYS_INLINE void record_free(struct lt_thread *t, unsigned operation, void *block, const uintptr_t *frame) {
  lt_record(t, operation, block, frame);
  lt_expectations_freed(block);
}

/// The runtime's object allocation calls the allocator for a block that its own hook records.
static LT_ALWAYS_INLINE bool is_inside_object_allocation(void) { return LT_UNLIKELY(lt_tls.isInsideObjectAllocation); }

#define RECORD_ALLOCATION(operation, block, size)                       \
  do {                                                                  \
    if ((block) && !is_inside_object_allocation()) {                    \
      struct lt_thread *t = lt_enter();                                 \
      if (t) {                                                          \
        lt_record_size(t, (operation), (block), (size), LT_HOOK_FRAME); \
        lt_leave();                                                     \
      }                                                                 \
    }                                                                   \
  } while (0)

/// Both halves of a realloc.
static LT_ALWAYS_INLINE void *reallocate(void *(*next)(void *, size_t), void *block, size_t size, unsigned operation,
                                         const uintptr_t *frame) {
  struct lt_thread *t = block ? lt_enter() : NULL;
  if (t) {
    record_free(t, LT_OP_REALLOC_FREE, block, frame);
    lt_leave();
  }
  void *result = next(block, size);
  if (result) {
    t = lt_enter();
    if (t) {
      lt_record_size(t, operation, result, size, frame);
      lt_leave();
    }
  } else if (block && size > 0) {
    t = lt_enter();
    if (t) {
      lt_record_size(t, LT_OP_REALLOC_FAILED, block, 0, frame);
      lt_leave();
    }
  }
  return result;
}

#endif
