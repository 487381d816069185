// Hooks of allocators: the malloc family in all namespaces, C++ operators, and the memory of tasks.

#ifndef LEAKTRACE_MALLOC_HOOKS_H
#define LEAKTRACE_MALLOC_HOOKS_H

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "swift/swift_runtime.h"

// --- C++ operators ---------------------------------------------------------------------------------------------------

// Hooks of the C++ operators new and delete, for allocators that define these operators. Such allocators are jemalloc,
// tcmalloc and mimalloc. Their operators do not call malloc, so the hook of malloc does not see these calls.
//
// The operators of the C++ libraries call malloc and free, so the hooks of malloc and free see those calls. Therefore
// the operators are not interposed by name. Instead, the tables of images are bound to the hooks, and only if the
// allocator defines the operators.

struct lt_operator_hook {
  const char *name; ///< of the symbol
  void *hook;
  void **next; ///< where the hook finds the next operator; must be set before a reference leads to the hook
};

enum { LT_OPERATOR_COUNT = 20 };
extern const struct lt_operator_hook lt_operator_hooks[LT_OPERATOR_COUNT] __attribute__((visibility("hidden")));

// --- memory of tasks -------------------------------------------------------------------------------------------------

// Memory that a Swift concurrency runtime allocates for its tasks and their frames. The hooks clear this memory.

/// The size of the largest block that is cleared. Larger blocks are neither tasks nor slabs of the usual size. A slab
/// is larger only if its first frame needs more.
enum { LT_CLEARED_LIMIT = 16 << 10 };

/// Clears a new block. Some words of a task that has not begun, and of a slab of frames, are written only much later.
/// Until then, the words of an earlier block there would look like references. No program can rely on those words: the
/// contents of fresh memory are undefined.
static inline void lt_task_memory_clear(void *block, size_t size) {
  if (!block || size > LT_CLEARED_LIMIT) return;
  lt_clear_memory(block, size);
}

/// True if an image contains a concurrency runtime. `runtime`: the Swift runtime found in the image; NULL or without
/// `retain` if there is none.
bool lt_task_memory_has_runtime(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);
/// Learns which calls of malloc the image's concurrency runtime makes. False if the image contains more than the
/// runtime, and its symbols do not name the runtime's functions. Also false if too many such images are known.
bool lt_task_memory_learn(const struct lt_loaded_image *image);
/// Calls lt_task_memory_learn, and makes an image of the program's namespace allocate memory for tasks through a
/// separate hook of malloc. The image must be relocated and have a concurrency runtime.
void lt_task_memory_bind(const struct lt_loaded_image *image);
/// True if lt_task_memory_learn has learnt the call of malloc with this return address.
bool lt_task_memory_is_taken_by(const void *caller);
/// Forgets the images that begin in [start, end).
void lt_task_memory_forget(uintptr_t start, uintptr_t end);

// --- namespaces ------------------------------------------------------------------------------------------------------

// The malloc family in a loader namespace other than the program's. Such a namespace has its own C library, so calls of
// malloc there do not reach the preloaded hooks.

/// The number of namespaces that can be hooked at a time. Each one needs its own set of hooks in the code.
enum { LT_NAMESPACE_LIMIT = 8 };

/// Finds the functions that the hooks of namespace `number` interpose: for each name, the first definition in the order
/// of `images`. False if a function is missing.
bool lt_namespace_malloc_find(unsigned number, const struct lt_loaded_image *images, uint32_t count);
/// Binds an image's references to the malloc family to the hooks of its namespace. The image must be relocated.
void lt_namespace_malloc_bind(unsigned number, const struct lt_loaded_image *image);

#endif
