// Memory that a Swift concurrency runtime takes for its tasks and their frames: handed out cleared.

#ifndef LEAKTRACE_TASK_MEMORY_H
#define LEAKTRACE_TASK_MEMORY_H

#include "loaded_image.h"
#include "swift_runtime.h"

/// Larger blocks are no task and no slab of frames that was made before its first frame asked for more.
enum { LT_CLEARED_LIMIT = 16 << 10 };

/// A task that has not begun and a slab of frames have words that nobody writes before much later. What stood there before looks like references.
/// Nobody can tell: what fresh memory of the allocator's holds is undefined.
static inline void lt_task_memory_clear(void *block, size_t size) {
  if (!block || size > LT_CLEARED_LIMIT) return;
  // A call of memset may lead into the program.
  __asm__ volatile("rep stosb" : "+D"(block), "+c"(size) : "a"(0) : "memory");
}

/// Whether an image has a concurrency runtime. `runtime`: what was found of a Swift runtime in the image; NULL or without `retain` if there is none.
bool lt_task_memory_has_runtime(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);
/// Keeps in mind which calls of malloc are a runtime's. False if the image has more inside than a concurrency runtime and names none of that's functions, or if
/// too many such images are known.
bool lt_task_memory_learn(const struct lt_loaded_image *image);
/// Learns, and has an image of the program's namespace take memory for tasks from a hook of its own. The image must be relocated and have a runtime.
void lt_task_memory_bind(const struct lt_loaded_image *image);
/// Whether the call that returns to an address is one of those that were learnt.
bool lt_task_memory_is_taken_by(const void *caller);
/// The image at [start, end) is gone.
void lt_task_memory_forget(uintptr_t start, uintptr_t end);

#endif
