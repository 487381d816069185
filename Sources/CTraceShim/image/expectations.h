// Expects objects to be freed in time, and watches for objects that are not.

#ifndef LEAKTRACE_EXPECTATIONS_H
#define LEAKTRACE_EXPECTATIONS_H

#include "arch/arch.h"
#include "thread/thread_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// --- expectations ----------------------------------------------------------------------------------------------------

// Objects that the program expects to be freed by a given time. If an object is not, the recorder takes a heap image.
//
// The reader of the trace decides whether an expectation was met. This part only provides the heap image, which shows
// what kept the object alive. So the reader's verdict stays right if an entry is lost, or if it stays too long. The
// table is lock-free. Its memory is mapped at the first expectation.

struct lt_expectation {
  uintptr_t address; ///< address of the block
  uint64_t deadline; ///< in ticks of the trace's clock
  uint64_t number;
  const char *name, *file; ///< may be NULL
  uint32_t line;
};

/// Maps the table's memory at the first call. Returns false if there is no memory; it is then not requested again.
bool lt_expectations_have_memory(void);
/// Starts to watch the block. lt_expectations_have_memory must have returned true. Returns false if there is no room.
/// Sets `isFirst` if this deadline comes before all deadlines known so far.
bool lt_expectations_add(const struct lt_expectation *expectation, bool *isFirst);

/// Number of blocks that are watched. Raised before a block is watched. A hook reads it without an order: the program
/// orders the free of a block after the call that watches it.
extern _Atomic uint32_t lt_expectations_pending __attribute__((visibility("hidden")));
LT_NOINLINE void lt_expectations_forget(uintptr_t address);
/// Ends the watch of the block at `address`, which is about to be freed. Needs only a load while nothing is watched.
static LT_ALWAYS_INLINE void lt_expectations_freed(const void *address) {
  if (LT_UNLIKELY(atomic_load_explicit(&lt_expectations_pending, memory_order_relaxed)))
    lt_expectations_forget((uintptr_t)address);
}

/// Returns a time that is not later than any deadline of a watched block. UINT64_MAX means that nothing is watched.
uint64_t lt_expectations_next_deadline(void);
/// Says whether a heap image of the objects that are due can be taken now, later, or never.
enum lt_image_choice { LT_IMAGE_POSSIBLE, LT_IMAGE_LATER, LT_IMAGE_IMPOSSIBLE };
enum { LT_EXPECTATION_LABEL_SIZE = 320 };
/// Ends the watch of all objects that are due at `now`. Writes the label of the heap image to take to `label`, or "" if
/// none is needed. Each place in the program gets at most one heap image. With LT_IMAGE_LATER, objects that need a heap
/// image stay watched. Called by the watcher.
void lt_expectations_take_due(uint64_t now, enum lt_image_choice choice, char label[LT_EXPECTATION_LABEL_SIZE]);

/// Ends all watches. Other threads may use the table at the same time.
void lt_expectations_forget_all(void);
/// Ends all watches, in a child made by fork.
void lt_expectations_reset_after_fork(void);

// --- watcher ---------------------------------------------------------------------------------------------------------

// The recorder's own thread that notices passed deadlines, even in a process that does nothing.

/// Must be called once, when the trace is open. If `takesSnapshots` is false, nothing is watched.
void lt_watcher_init(bool takesSnapshots);
/// Starts to watch the block, and starts the watcher at the first call. Called by a thread in a hook. Does nothing if
/// no heap images are taken.
void lt_watcher_expect(struct lt_thread *thread, const struct lt_expectation *expectation);
/// Ends the watcher, and waits for its end. The watcher is not started again.
void lt_watcher_end(void);
/// Resets the watcher in a child made by fork, where the thread does not exist.
void lt_watcher_reset_after_fork(void);

#endif
