// Memory that a Swift concurrency runtime takes for its tasks and their frames: handed out cleared.

#ifndef LEAKTRACE_TASK_MEMORY_H
#define LEAKTRACE_TASK_MEMORY_H

#include "arch/arch.h"
#include "elf/loaded_image.h"
#include "swift/swift_runtime.h"

/// Larger blocks are no task and no slab of frames that was made before its first frame asked for more.
enum { LT_CLEARED_LIMIT = 16 << 10 };

/// Clears the block. A task that has not begun and a slab of frames have words that are written only much later; older
/// words there look like references. No program can tell: the contents of fresh memory are undefined.
static inline void lt_task_memory_clear(void *block, size_t size) {
  if (!block || size > LT_CLEARED_LIMIT) return;
  lt_clear_memory(block, size);
}

/// Tells whether an image has a concurrency runtime. `runtime`: the Swift runtime found in the image; NULL or without
/// `retain` if there is none.
bool lt_task_memory_has_runtime(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);
/// Learns which calls of malloc are a runtime's. False if the image has more inside than a concurrency runtime and
/// names none of its functions, or if too many such images are known.
bool lt_task_memory_learn(const struct lt_loaded_image *image);
/// Learns, and has an image of the program's namespace take memory for tasks from a hook of its own. The image must be
/// relocated and have a runtime.
void lt_task_memory_bind(const struct lt_loaded_image *image);
/// Tells whether the call that returns to an address is one of those that were learnt.
bool lt_task_memory_is_taken_by(const void *caller);
/// Forgets the image at [start, end), which is gone.
void lt_task_memory_forget(uintptr_t start, uintptr_t end);

#endif
