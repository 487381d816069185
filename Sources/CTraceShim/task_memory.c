// Hooks of malloc for a concurrency runtime, bound to its image alone: other callers have nothing to do with them.
//
// The runtime's own library calls malloc for tasks, slabs of frames, and small things. A program that has the runtime inside shares its one reference to
// malloc with it: there it is the caller that tells.

#define _GNU_SOURCE
#include "task_memory.h"

#include "allocation_recording.h"
#include "next_functions.h"

/// What other images call.
LT_EXPORT void *LT_HOOK(malloc)(size_t size);

// --- which calls are a runtime's ------------------------------------------------------------------------------------------------

static const char *const runtimeFunction = "swift_task_create_common", *const coreFunction = "swift_retain";

/// Functions that take memory for tasks: of Swift 6.3.1, and for slabs of 6.1.2. Those that a compiler put into their callers have no name of their own.
static const char *const functionNames[] = {
    "swift_task_create_common", "swift_task_alloc",
    "_ZN5swift14StackAllocatorILm984EXadL_ZNS_25TaskAllocatorSlabMetadataEEENS_26TaskAllocatorConfigurationEE5allocEm",
    "_ZN5swift14StackAllocatorILm984EXadL_ZNS_25TaskAllocatorSlabMetadataEEEE20getSlabForAllocationEm",
};
enum { FUNCTION_COUNT = sizeof functionNames / sizeof *functionNames, LINKED_IN_LIMIT = 8 };

/// Of the images that have the runtime inside. Written before the image's code can run, or by the one that looks at images; a caller's are there when it calls.
static struct functions {
  uintptr_t imageStart;
  struct { uintptr_t start, size; } ranges[FUNCTION_COUNT];
} linkedIn[LINKED_IN_LIMIT];

static bool is_task_function(uintptr_t caller) {
  for (int i = 0; i < LINKED_IN_LIMIT; i++) {
    if (!linkedIn[i].imageStart) continue;
    for (int k = 0; k < FUNCTION_COUNT; k++)
      if (caller - linkedIn[i].ranges[k].start < linkedIn[i].ranges[k].size) return true;
  }
  return false;
}

// --- hooks -------------------------------------------------------------------------------------------------------------------

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
  // A function that leaves by a jump to malloc is not its caller; none that takes memory for tasks does, but where slabs were switched off.
  if (is_task_function((uintptr_t)__builtin_return_address(0))) lt_task_memory_clear(block, size);
  RECORD_ALLOCATION(LT_OP_MALLOC, block, size);
  return block;
}

// --- binding -----------------------------------------------------------------------------------------------------------------

bool lt_task_memory_is_library(const struct lt_loaded_image *image) {
  struct lt_symbol symbol;
  return lt_loaded_image_symbol(image, runtimeFunction, &symbol) && !lt_loaded_image_symbol(image, coreFunction, &symbol);
}

bool lt_task_memory_has_runtime(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime) {
  struct lt_symbol symbol;
  return (runtime && runtime->retain && runtime->isLinkedIn) || lt_loaded_image_symbol(image, runtimeFunction, &symbol);
}

/// The functions of an image that has more inside. False if it names none of them, or there is no room.
static bool find_functions(const struct lt_loaded_image *image) {
  struct functions found = {.imageStart = image->start};
  struct lt_symbol symbols[FUNCTION_COUNT];
  struct lt_elf_file file;
  if (!lt_elf_open(image->path, &file)) return false;
  bool isNamed = lt_elf_is_image(&file, image->start) && lt_elf_find_symbols(&file, functionNames, symbols, FUNCTION_COUNT) && symbols[0].address;
  lt_elf_close(&file);
  for (int i = 0; isNamed && i < FUNCTION_COUNT; i++) {
    if (!symbols[i].address) continue;
    found.ranges[i].start = image->bias + symbols[i].address;
    // A call that is the last thing in a function returns to the address behind it.
    found.ranges[i].size = symbols[i].size + 1;
  }
  for (int i = 0; isNamed && i < LINKED_IN_LIMIT; i++) {
    if (linkedIn[i].imageStart && linkedIn[i].imageStart != image->start) continue;
    linkedIn[i] = found;
    return true;
  }
  return false;
}

void lt_task_memory_bind(const struct lt_loaded_image *image) {
  bool isLibrary = lt_task_memory_is_library(image);
  if (!isLibrary && !find_functions(image)) return;
  lt_loaded_image_rebind_calls(image, "malloc", (void *)LT_HOOK(malloc), isLibrary ? (void *)malloc_of_runtime : (void *)malloc_of_program);
}

void lt_task_memory_forget(uintptr_t start, uintptr_t end) {
  for (int i = 0; i < LINKED_IN_LIMIT; i++)
    if (linkedIn[i].imageStart >= start && linkedIn[i].imageStart < end) linkedIn[i].imageStart = 0;
}
