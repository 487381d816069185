// Hooks of allocators: the malloc family, here and in other namespaces, C++ operators, and the memory of tasks.

#ifndef LEAKTRACE_MALLOC_HOOKS_H
#define LEAKTRACE_MALLOC_HOOKS_H

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "swift/swift_runtime.h"

// --- C++ operators ---------------------------------------------------------------------------------------------------

// Hooks of the C++ operators new and delete, for allocators that have their own: jemalloc, tcmalloc and mimalloc serve
// them without a call of malloc or free.
//
// Those of the C++ libraries call malloc and free, whose hooks see them. So no name leads here: the tables of images
// do, and only where the operators are the allocator's.

struct lt_operator_hook {
  const char *name; ///< of the symbol
  void *hook;
  void **next; ///< to be set before anything leads to the hook
};

enum { LT_OPERATOR_COUNT = 20 };
extern const struct lt_operator_hook lt_operator_hooks[LT_OPERATOR_COUNT] __attribute__((visibility("hidden")));

// --- memory of tasks -------------------------------------------------------------------------------------------------

// Memory that a Swift concurrency runtime takes for its tasks and their frames: handed out cleared.

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

// --- namespaces ------------------------------------------------------------------------------------------------------

// The malloc family in a loader namespace other than the program's. It has a C library of its own, whose calls do not
// reach the preloaded hooks.

/// Namespaces that can be hooked at a time. Each has a set of hooks in the code.
enum { LT_NAMESPACE_LIMIT = 8 };

/// Finds the functions that the hooks of a namespace interpose: the first definitions among its images, in their order.
/// False if one is missing.
bool lt_namespace_malloc_find(unsigned number, const struct lt_loaded_image *images, uint32_t count);
/// Binds an image's references to the malloc family to the hooks of its namespace. The image must be relocated.
void lt_namespace_malloc_bind(unsigned number, const struct lt_loaded_image *image);

#endif
