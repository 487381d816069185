// Records calls of the allocator.
//
// A free is recorded before it happens, an allocation afterwards: in between another thread may be given the address.

#ifndef LEAKTRACE_ALLOCATION_RECORDING_H
#define LEAKTRACE_ALLOCATION_RECORDING_H

#include "hooks/hook.h"
#include "hooks/light_recording.h"
#include "image/expectations.h"
#include "process/thread_entry.h"
#include "record/event_recorder.h"
#include "sampling/kept_blocks.h"

static LT_ALWAYS_INLINE void record_free(struct lt_thread *t, unsigned operation, void *block, const uintptr_t *frame) {
  lt_record(t, operation, block, frame);
  lt_expectations_freed(block);
}

#define RECORD_FREE(block)                                \
  do {                                                    \
    if (lt_sample_period) {                               \
      if (lt_is_marked(block)) lt_light_freed(block);     \
    } else {                                              \
      struct lt_thread *t = lt_enter();                   \
      if (t) {                                            \
        record_free(t, LT_OP_FREE, block, LT_HOOK_FRAME); \
        lt_leave();                                       \
      }                                                   \
    }                                                     \
  } while (0)

/// The runtime's object allocation calls the allocator for a block that its own hook records.
static LT_ALWAYS_INLINE bool is_inside_object_allocation(void) { return LT_UNLIKELY(lt_tls.isInsideObjectAllocation); }

#define RECORD_ALLOCATION(operation, block, size)                                                  \
  do {                                                                                             \
    if (lt_sample_period) {                                                                        \
      if ((block) && !lt_passes_samples(size)) lt_light_allocated((block), (size), LT_HOOK_FRAME); \
    } else if ((block) && !is_inside_object_allocation()) {                                        \
      struct lt_thread *t = lt_enter();                                                            \
      if (t) {                                                                                     \
        lt_record_size(t, (operation), (block), (size), LT_HOOK_FRAME);                            \
        lt_leave();                                                                                \
      }                                                                                            \
    }                                                                                              \
  } while (0)

/// A realloc while sampling.
static LT_ALWAYS_INLINE void *sample_reallocation(void *(*next)(void *, size_t), void *block, size_t size,
                                                  const uintptr_t *frame) {
  // Save the old sample; a failed realloc leaves the block unchanged.
  struct lt_sampled_block before;
  bool isMarked = block && lt_is_marked(block),
       wasSampled = isMarked && lt_sampled_blocks_find((uintptr_t)block, &before);
  uint64_t keptSize = isMarked && lt_keeps_blocks ? lt_kept_blocks_size((uintptr_t)block) : 0;
  if (isMarked) lt_light_freed(block);
  void *result = next(block, size);
  if (result) {
    if (!lt_passes_samples(size)) lt_light_allocated(result, size, frame);
  } else if (size > 0) {
    if (keptSize) lt_kept_blocks_add((uintptr_t)block, keptSize);
    if (wasSampled) lt_light_restored(block, &before);
  }
  return result;
}

/// Calls and records a realloc, as a free and an allocation.
static LT_ALWAYS_INLINE void *reallocate(void *(*next)(void *, size_t), void *block, size_t size, unsigned operation,
                                         const uintptr_t *frame) {
  if (lt_sample_period) return sample_reallocation(next, block, size, frame);
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
