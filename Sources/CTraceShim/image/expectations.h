// Expects objects to be freed in time, and watches for those that are not.

#ifndef LEAKTRACE_EXPECTATIONS_H
#define LEAKTRACE_EXPECTATIONS_H

#include "arch/arch.h"
#include "thread/thread_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// --- expectations ----------------------------------------------------------------------------------------------------

// Objects that the program expects to be freed by a given time, for a heap image of that time if they are not.
//
// The reader of the trace decides whether an expectation was met. This part only provides the image, which shows what
// kept the object then. So an entry may be lost, or stay too long, without harm to any verdict. Lock-free; memory is
// mapped at the first expectation.

struct lt_expectation {
  uintptr_t address; ///< of the block
  uint64_t deadline; ///< trace clock
  uint64_t number;
  const char *name, *file; ///< may be NULL
  uint32_t line;
};

/// Maps the table's memory, the first time. False without memory, for good.
bool lt_expectations_have_memory(void);
/// Has the block watched, once there is memory. False if there is no room. `isFirst`: its deadline is due before those
/// that were known.
bool lt_expectations_add(const struct lt_expectation *expectation, bool *isFirst);

/// Blocks that are watched.
extern _Atomic uint32_t lt_expectations_pending __attribute__((visibility("hidden")));
LT_NOINLINE void lt_expectations_forget(uintptr_t address);
/// Ends the watch of the block at `address`, which is about to be freed. A load while nothing is watched.
static LT_ALWAYS_INLINE void lt_expectations_freed(const void *address) {
  if (LT_UNLIKELY(atomic_load_explicit(&lt_expectations_pending, memory_order_relaxed)))
    lt_expectations_forget((uintptr_t)address);
}

/// The deadline that is due first; UINT64_MAX when nothing is watched, or a time that has passed.
uint64_t lt_expectations_next_deadline(void);
/// The choices for an image of the objects that are due.
enum lt_image_choice { LT_IMAGE_POSSIBLE, LT_IMAGE_LATER, LT_IMAGE_IMPOSSIBLE };
enum { LT_EXPECTATION_LABEL_SIZE = 320 };
/// Ends the watch of all objects that were due at `now`. The label of the image to take goes to `label`, "" if none is
/// wanted: at most one for each place in the program. With LT_IMAGE_LATER, objects that deserve an image stay watched.
/// Called by the watcher.
void lt_expectations_take_due(uint64_t now, enum lt_image_choice choice, char label[LT_EXPECTATION_LABEL_SIZE]);

/// Ends all watches. Other threads may be at it.
void lt_expectations_forget_all(void);
/// In a child made by fork.
void lt_expectations_reset_after_fork(void);

// --- watcher ---------------------------------------------------------------------------------------------------------

// The recorder's own thread, which notices that deadlines pass, in a process that does nothing itself.

/// `takesSnapshots`: whether there will be images. When the trace is open, and once only.
void lt_watcher_init(bool takesSnapshots);
/// Has the block watched, by the calling thread in a hook; the first time, starts the thread. Does nothing if no images
/// are taken.
void lt_watcher_expect(struct lt_thread *thread, const struct lt_expectation *expectation);
/// Ends the thread, and waits for that. It is not started again.
void lt_watcher_end(void);
/// Resets the watcher in a child made by fork, which has no such thread.
void lt_watcher_reset_after_fork(void);

#endif
