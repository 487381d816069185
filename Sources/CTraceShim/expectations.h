// Objects that the program expects to be freed by a given time, for a heap image of that time if they are not.
//
// What an expectation comes to is decided by who reads the trace. This is only about the image: it shows what kept the object then. So an entry may be
// lost, or stay too long, without harm to any verdict. Lock-free; memory is mapped at the first expectation.

#ifndef LEAKTRACE_EXPECTATIONS_H
#define LEAKTRACE_EXPECTATIONS_H

#include "thread_state.h"

struct lt_expectation {
  uintptr_t address; ///< of the block
  uint64_t deadline; ///< trace clock
  uint64_t number;
  const char *name, *file; ///< may be NULL
  uint32_t line;
};

/// Has the block watched, by the calling thread in a hook. Does nothing where no images are taken.
void lt_expectations_add(struct lt_thread *thread, const struct lt_expectation *expectation);

/// Blocks that are watched.
extern _Atomic uint32_t lt_expectations_pending __attribute__((visibility("hidden")));
LT_NOINLINE void lt_expectations_forget(uintptr_t address);
/// The block at `address` is about to be freed. A load while nothing is watched.
static LT_ALWAYS_INLINE void lt_expectations_freed(const void *address) {
  if (LT_UNLIKELY(atomic_load_explicit(&lt_expectations_pending, memory_order_relaxed))) lt_expectations_forget((uintptr_t)address);
}

/// The deadline that is due first; UINT64_MAX when nothing is watched, or a time that has passed.
uint64_t lt_expectations_next_deadline(void);
/// Whether an image may be taken of what is due.
enum lt_image_choice { LT_IMAGE_POSSIBLE, LT_IMAGE_LATER, LT_IMAGE_IMPOSSIBLE };
enum { LT_EXPECTATION_LABEL_SIZE = 320 };
/// Ends the watch of everything that was due at `now`. The label of the image that is wanted goes to `label`, "" when none is: at most one for each place
/// in the program. With LT_IMAGE_LATER what deserves an image stays watched. By the watcher.
void lt_expectations_take_due(uint64_t now, enum lt_image_choice choice, char label[LT_EXPECTATION_LABEL_SIZE]);

/// `takesSnapshots`: whether there will be images. When the trace is open, and once only.
void lt_expectations_init(bool takesSnapshots);
/// In a child made by fork.
void lt_expectations_reset_after_fork(void);

#endif
