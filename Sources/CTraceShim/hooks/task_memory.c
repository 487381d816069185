// Hooks of malloc for a concurrency runtime, bound to its image alone: other callers never reach them.
//
// The runtime's own library calls malloc for tasks, slabs of frames, and small things. A program that has the runtime
// inside shares its one reference to malloc with it: there the caller decides.

#define _GNU_SOURCE
#include "hooks/task_memory.h"

#include "check.h"
#include "hooks/allocation_recording.h"
#include "hooks/next_functions.h"

/// The hook that other images call.
LT_EXPORT void *LT_HOOK(malloc)(size_t size);

// --- calls of a runtime ----------------------------------------------------------------------------------------------

static const char *const runtimeFunction = "swift_task_create_common", *const coreFunction = "swift_retain";

/// Functions that take memory for tasks: of Swift 6.3.1, and for slabs of 6.1.2. Those that a compiler put into their
/// callers have no name of their own.
static const char *const functionNames[] = {
    "swift_task_create_common",
    "swift_task_alloc",
    "_ZN5swift14StackAllocatorILm984EXadL_ZNS_25TaskAllocatorSlabMetadataEEENS_26TaskAllocatorConfigurationEE5allocEm",
    "_ZN5swift14StackAllocatorILm984EXadL_ZNS_25TaskAllocatorSlabMetadataEEEE20getSlabForAllocationEm",
};
enum { FUNCTION_COUNT = sizeof functionNames / sizeof *functionNames, RUNTIME_LIMIT = 16 };

/// Written before the image's code can run, or by the one that looks at images; a caller's image is there when it
/// calls.
static struct callers {
  uintptr_t imageStart; ///< 0 if there is none
  struct {
    uintptr_t start, size;
  } ranges[FUNCTION_COUNT];
} known[RUNTIME_LIMIT];

bool lt_task_memory_is_taken_by(const void *caller) {
  for (int i = 0; i < RUNTIME_LIMIT; i++) {
    if (!known[i].imageStart) continue;
    for (int k = 0; k < FUNCTION_COUNT; k++)
      if ((uintptr_t)caller - known[i].ranges[k].start < known[i].ranges[k].size) return true;
  }
  return false;
}

static bool is_library(const struct lt_loaded_image *image) {
  struct lt_symbol symbol;
  return lt_loaded_image_symbol(image, runtimeFunction, &symbol) &&
         !lt_loaded_image_symbol(image, coreFunction, &symbol);
}

bool lt_task_memory_has_runtime(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime) {
  struct lt_symbol symbol;
  return (runtime && runtime->retain && runtime->isLinkedIn) || lt_loaded_image_symbol(image, runtimeFunction, &symbol);
}

/// Finds the functions of an image that has more inside. False if it names none of them.
static bool find_functions(const struct lt_loaded_image *image, struct callers *found) {
  struct lt_symbol symbols[FUNCTION_COUNT];
  struct lt_elf_file file;
  if (!lt_elf_open(image->path, &file)) return false;
  bool isNamed = lt_elf_is_image(&file, image->start) &&
                 lt_elf_find_symbols(&file, functionNames, symbols, FUNCTION_COUNT) && symbols[0].address;
  lt_elf_close(&file);
  for (int i = 0; isNamed && i < FUNCTION_COUNT; i++) {
    if (!symbols[i].address) continue;
    found->ranges[i].start = image->bias + symbols[i].address;
    // A call that is the last thing in a function returns to the address behind it.
    found->ranges[i].size = symbols[i].size + 1;
  }
  return isNamed;
}

bool lt_task_memory_learn(const struct lt_loaded_image *image) {
  LT_CHECK(image->start && image->start < image->end);
  struct callers found = {.imageStart = image->start};
  if (is_library(image)) {
    found.ranges[0].start = image->start;
    found.ranges[0].size = image->end - image->start;
  } else if (!find_functions(image, &found)) {
    return false;
  }
  for (int i = 0; i < RUNTIME_LIMIT; i++) {
    if (known[i].imageStart && known[i].imageStart != image->start) continue;
    known[i] = found;
    return true;
  }
  return false;
}

// --- hooks -----------------------------------------------------------------------------------------------------------

static void *malloc_of_runtime(size_t size) {
  if (LT_UNLIKELY(!lt_next.malloc)) return LT_HOOK(malloc)(size);
  void *block = lt_next.malloc(size);
  lt_task_memory_clear(block, size);
  RECORD_ALLOCATION(LT_OP_MALLOC, block, size);
  return block;
}

static void *malloc_of_program(size_t size) {
  if (LT_UNLIKELY(!lt_next.malloc)) return LT_HOOK(malloc)(size);
  void *block = lt_next.malloc(size);
  // A function that leaves by a jump to malloc is not its caller; none that takes memory for tasks does so, unless
  // slabs were switched off.
  if (lt_task_memory_is_taken_by(LT_CALLER)) lt_task_memory_clear(block, size);
  RECORD_ALLOCATION(LT_OP_MALLOC, block, size);
  return block;
}

// --- binding ---------------------------------------------------------------------------------------------------------

void lt_task_memory_bind(const struct lt_loaded_image *image) {
  if (!lt_task_memory_learn(image)) return;
  lt_loaded_image_rebind_calls(image, "malloc", (void *)LT_HOOK(malloc),
                               is_library(image) ? (void *)malloc_of_runtime : (void *)malloc_of_program);
}

void lt_task_memory_forget(uintptr_t start, uintptr_t end) {
  for (int i = 0; i < RUNTIME_LIMIT; i++)
    if (known[i].imageStart >= start && known[i].imageStart < end) known[i].imageStart = 0;
}
