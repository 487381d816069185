// Hooks of allocators: the malloc family in all namespaces, C++ operators, and the memory of tasks.

#define _GNU_SOURCE
#include "hooks/malloc_hooks.h"

#include "check.h"
#include "hooks/hook.h"
#include "os/os.h"

#include <errno.h>
#include <string.h>

// === malloc ==========================================================================================================

// Hooks of the malloc family. They guard, call and record, and do nothing else.
//
// When sampling, most hooks tail-call the real allocator: for unsampled allocations, and for frees of unmarked blocks.
// No hook does so before the next allocator is known, or while all calls are recorded.
//
// A free is recorded before it happens, and an allocation afterwards. Otherwise, another thread could get the freed
// address and record its allocation first. Hooks leave errno as the allocator set it, unless a hook fails a call
// itself.

#define ALLOCATOR_HOOK LT_EXPORT LT_ALIGNS_STACK
#define NEXT_IS_KNOWN LT_LIKELY(lt_next.free != NULL)
/// Marks the recording part of a hook. The hook tail-calls that part, so the part's frame replaces the hook's frame
/// next to the caller's.
#define RECORDING static LT_NOINLINE LT_ALIGNS_STACK
#define PASS_ON __attribute__((musttail)) return

RECORDING void *record_malloc(size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, 16);
  void *block = lt_next.malloc(size);
  RECORD_ALLOCATION(LT_OP_MALLOC, block, size);
  return block;
}

LT_EXPORT void *lt_hook_malloc(size_t size) {
  if (lt_passes_samples(size)) PASS_ON lt_next.malloc(size);
  PASS_ON record_malloc(size);
}

RECORDING void *record_calloc(size_t count, size_t size) {
  if (!NEXT_IS_KNOWN) {
    size_t total;
    if (!__builtin_mul_overflow(count, size, &total)) return lt_bootstrap_allocate(total, 16); // arena memory is zero
    errno = ENOMEM;
    return NULL;
  }
  void *block = lt_next.calloc(count, size);
  RECORD_ALLOCATION(LT_OP_CALLOC, block, count * size);
  return block;
}

LT_EXPORT void *lt_hook_calloc(size_t count, size_t size) {
  size_t total;
  if (!__builtin_mul_overflow(count, size, &total) && lt_passes_samples(total)) PASS_ON lt_next.calloc(count, size);
  PASS_ON record_calloc(count, size);
}

RECORDING void record_and_free(void *block) {
  if (!block || LT_UNLIKELY(lt_bootstrap_owns(block))) return;
  if (!NEXT_IS_KNOWN) return;
  if (!LT_UNLIKELY(lt_tls.isInsideOperator)) RECORD_FREE(block);
  lt_next.free(block);
}

LT_EXPORT void lt_hook_free(void *block) {
  if (!lt_is_marked(block)) PASS_ON lt_next.free(block);
  PASS_ON record_and_free(block);
}

static LT_NOINLINE void *move_from_arena(void *block, size_t size) {
  void *result = lt_hook_malloc(size);
  size_t old = lt_bootstrap_size(block);
  if (result) memcpy(result, block, old < size ? old : size);
  return result;
}

RECORDING void *record_realloc(void *block, size_t size) {
  if (!NEXT_IS_KNOWN) {
    void *result = lt_bootstrap_allocate(size, 16);
    if (result && block) memcpy(result, block, lt_bootstrap_size(block) < size ? lt_bootstrap_size(block) : size);
    return result;
  }
  if (LT_UNLIKELY(lt_bootstrap_owns(block))) return move_from_arena(block, size);
  return reallocate(lt_next.realloc, block, size, LT_OP_REALLOC, LT_HOOK_FRAME);
}

LT_EXPORT void *lt_hook_realloc(void *block, size_t size) {
  if (!lt_is_marked(block) && lt_passes_samples(size)) PASS_ON lt_next.realloc(block, size);
  PASS_ON record_realloc(block, size);
}

ALLOCATOR_HOOK void *lt_hook_reallocarray(void *block, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) total = 0;
  if (!total && count && size) {
    errno = ENOMEM;
    return NULL;
  }
  if (!NEXT_IS_KNOWN || LT_UNLIKELY(lt_bootstrap_owns(block))) return lt_hook_realloc(block, total);
  // Call realloc. The C library's reallocarray would call the hook of realloc, and the call would be recorded twice.
  return reallocate(lt_next.realloc, block, total, LT_OP_REALLOCARRAY, LT_HOOK_FRAME);
}

ALLOCATOR_HOOK int lt_hook_posix_memalign(void **result, size_t alignment, size_t size) {
  if (!NEXT_IS_KNOWN) {
    void *block = lt_bootstrap_allocate(size, alignment);
    if (!block) return ENOMEM;
    *result = block;
    return 0;
  }
  int error = lt_next.posix_memalign(result, alignment, size);
  if (error == 0) RECORD_ALLOCATION(LT_OP_POSIX_MEMALIGN, *result, size);
  return error;
}

ALLOCATOR_HOOK void *lt_hook_aligned_alloc(size_t alignment, size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, alignment);
  void *block = lt_next.aligned_alloc(alignment, size);
  RECORD_ALLOCATION(LT_OP_ALIGNED_ALLOC, block, size);
  return block;
}

ALLOCATOR_HOOK void *lt_hook_memalign(size_t alignment, size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, alignment);
  void *block = lt_next.memalign(alignment, size);
  RECORD_ALLOCATION(LT_OP_MEMALIGN, block, size);
  return block;
}

ALLOCATOR_HOOK void *lt_hook_valloc(size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, lt_page_size());
  void *block = lt_next.valloc(size);
  RECORD_ALLOCATION(LT_OP_VALLOC, block, size);
  return block;
}

ALLOCATOR_HOOK void *lt_hook_pvalloc(size_t size) {
  if (!NEXT_IS_KNOWN) return size > LT_BOOTSTRAP_SIZE ? NULL : lt_bootstrap_allocate(lt_page_end(size), lt_page_size());
  void *block = lt_next.pvalloc(size);
  RECORD_ALLOCATION(LT_OP_PVALLOC, block, size);
  return block;
}

// === C++ operators ===================================================================================================

// Hooks of the C++ operators. They guard, call and record, and do nothing else, like the hooks of the malloc family.
// Exceptions that the next function throws pass through the hooks.

#define NEW_HOOK(name, parameters, arguments)                   \
  static void *(*next_##name)parameters;                        \
  RECORDING void *record_##name parameters {                    \
    void *block = next_##name arguments;                        \
    RECORD_ALLOCATION(LT_OP_MALLOC, block, size);               \
    return block;                                               \
  }                                                             \
  static void *hook_##name parameters {                         \
    if (lt_passes_samples(size)) PASS_ON next_##name arguments; \
    PASS_ON record_##name arguments;                            \
  }

// jemalloc's operators tail-call free, and other allocators' operators may do so, too. `isInsideOperator` prevents that
// call of free from being recorded again.
#define DELETE_HOOK(name, parameters, arguments)                 \
  static void(*next_##name) parameters;                          \
  RECORDING void record_##name parameters {                      \
    if (!block || LT_UNLIKELY(lt_bootstrap_owns(block))) return; \
    RECORD_FREE(block);                                          \
    lt_tls.isInsideOperator = true;                              \
    next_##name arguments;                                       \
    lt_tls.isInsideOperator = false;                             \
  }                                                              \
  static void hook_##name parameters {                           \
    if (!lt_is_marked(block)) PASS_ON next_##name arguments;     \
    PASS_ON record_##name arguments;                             \
  }

// The names follow the Itanium C++ ABI, where size_t is unsigned long. The reference to std::nothrow is passed as a
// pointer.
#define SIZE (size_t size), (size)
#define SIZE_OR_NULL (size_t size, const void *nothrow), (size, nothrow)
#define SIZE_ALIGNED (size_t size, size_t alignment), (size, alignment)
#define SIZE_ALIGNED_OR_NULL (size_t size, size_t alignment, const void *nothrow), (size, alignment, nothrow)
#define BLOCK (void *block), (block)
#define BLOCK_SIZED (void *block, size_t size), (block, size)
#define BLOCK_OR_NULL (void *block, const void *nothrow), (block, nothrow)
#define BLOCK_ALIGNED (void *block, size_t alignment), (block, alignment)
#define BLOCK_SIZED_ALIGNED (void *block, size_t size, size_t alignment), (block, size, alignment)
#define BLOCK_ALIGNED_OR_NULL (void *block, size_t alignment, const void *nothrow), (block, alignment, nothrow)

#define OPERATORS(NEW, DELETE)                                       \
  NEW(_Znwm, SIZE)                                                   \
  NEW(_Znam, SIZE)                                                   \
  NEW(_ZnwmRKSt9nothrow_t, SIZE_OR_NULL)                             \
  NEW(_ZnamRKSt9nothrow_t, SIZE_OR_NULL)                             \
  NEW(_ZnwmSt11align_val_t, SIZE_ALIGNED)                            \
  NEW(_ZnamSt11align_val_t, SIZE_ALIGNED)                            \
  NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, SIZE_ALIGNED_OR_NULL)      \
  NEW(_ZnamSt11align_val_tRKSt9nothrow_t, SIZE_ALIGNED_OR_NULL)      \
  DELETE(_ZdlPv, BLOCK)                                              \
  DELETE(_ZdaPv, BLOCK)                                              \
  DELETE(_ZdlPvm, BLOCK_SIZED)                                       \
  DELETE(_ZdaPvm, BLOCK_SIZED)                                       \
  DELETE(_ZdlPvRKSt9nothrow_t, BLOCK_OR_NULL)                        \
  DELETE(_ZdaPvRKSt9nothrow_t, BLOCK_OR_NULL)                        \
  DELETE(_ZdlPvSt11align_val_t, BLOCK_ALIGNED)                       \
  DELETE(_ZdaPvSt11align_val_t, BLOCK_ALIGNED)                       \
  DELETE(_ZdlPvmSt11align_val_t, BLOCK_SIZED_ALIGNED)                \
  DELETE(_ZdaPvmSt11align_val_t, BLOCK_SIZED_ALIGNED)                \
  DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, BLOCK_ALIGNED_OR_NULL) \
  DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, BLOCK_ALIGNED_OR_NULL)

// A row's parameters and arguments become two macro arguments only when the row is expanded. EXPAND expands it first.
#define EXPAND(hook, ...) hook(__VA_ARGS__)
#define NEW_ROW(name, ...) EXPAND(NEW_HOOK, name, __VA_ARGS__)
#define DELETE_ROW(name, ...) EXPAND(DELETE_HOOK, name, __VA_ARGS__)
OPERATORS(NEW_ROW, DELETE_ROW)

#define ENTRY(name, ...) {#name, (void *)hook_##name, (void **)&next_##name},
const struct lt_operator_hook lt_operator_hooks[] = {OPERATORS(ENTRY, ENTRY)};
_Static_assert(sizeof lt_operator_hooks / sizeof *lt_operator_hooks == LT_OPERATOR_COUNT, "an entry each");

// === memory of tasks =================================================================================================

// Hooks of malloc for a concurrency runtime. Only the references of the runtime's image are bound to them.
//
// The runtime's own library calls malloc only for tasks, slabs of frames, and small blocks, so all of them are cleared.
// If the runtime is linked into a program, the program's code and the runtime share one reference to malloc. In this
// case, the return address shows whether the runtime made the call.

// --- calls of a runtime ----------------------------------------------------------------------------------------------

static const char *const runtimeFunction = "swift_task_create_common", *const coreFunction = "swift_retain";

/// Functions that allocate memory for tasks in Swift 6.3.1, and slabs in 6.1.2. Functions that a compiler inlined have
/// no symbol.
static const char *const functionNames[] = {
    "swift_task_create_common",
    "swift_task_alloc",
    "_ZN5swift14StackAllocatorILm984EXadL_ZNS_25TaskAllocatorSlabMetadataEEENS_26TaskAllocatorConfigurationEE5allocEm",
    "_ZN5swift14StackAllocatorILm984EXadL_ZNS_25TaskAllocatorSlabMetadataEEEE20getSlabForAllocationEm",
};
enum { FUNCTION_COUNT = sizeof functionNames / sizeof *functionNames, RUNTIME_LIMIT = 16 };

/// The calls that were learnt. An entry is written before the image's code can run, or by the one thread that examines
/// images. A caller's entry stays valid during the call, since the caller's image is loaded.
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

/// Finds the runtime's functions in an image that contains more than the runtime. False if the image's symbols do not
/// name the functions.
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
    // If a function ends with a call, that call's return address is the first address after the function.
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
  if (LT_UNLIKELY(!lt_next.malloc)) return lt_hook_malloc(size);
  void *block = lt_next.malloc(size);
  lt_task_memory_clear(block, size);
  RECORD_ALLOCATION(LT_OP_MALLOC, block, size);
  return block;
}

static void *malloc_of_program(size_t size) {
  if (LT_UNLIKELY(!lt_next.malloc)) return lt_hook_malloc(size);
  void *block = lt_next.malloc(size);
  // The return address does not show a function that tail-calls malloc. But no function that allocates memory for tasks
  // does so, unless slabs are switched off.
  if (lt_task_memory_is_taken_by(LT_CALLER)) lt_task_memory_clear(block, size);
  RECORD_ALLOCATION(LT_OP_MALLOC, block, size);
  return block;
}

// --- binding ---------------------------------------------------------------------------------------------------------

void lt_task_memory_bind(const struct lt_loaded_image *image) {
  if (!lt_task_memory_learn(image)) return;
  lt_loaded_image_rebind_calls(image, "malloc", (void *)lt_hook_malloc,
                               is_library(image) ? (void *)malloc_of_runtime : (void *)malloc_of_program);
}

void lt_task_memory_forget(uintptr_t start, uintptr_t end) {
  for (int i = 0; i < RUNTIME_LIMIT; i++)
    if (known[i].imageStart >= start && known[i].imageStart < end) known[i].imageStart = 0;
}

// === namespaces ======================================================================================================

// Hooks of the malloc family for other namespaces. Each image's references are bound to the hooks, since no function
// can be interposed there by name.

static struct lt_next_functions nexts[LT_NAMESPACE_LIMIT];

#define HOOKS_OF(n)                                                                                    \
  static void *malloc_##n(size_t size) {                                                               \
    void *block = nexts[n].malloc(size);                                                               \
    if (lt_task_memory_is_taken_by(LT_CALLER)) lt_task_memory_clear(block, size);                      \
    RECORD_ALLOCATION(LT_OP_MALLOC, block, size);                                                      \
    return block;                                                                                      \
  }                                                                                                    \
  static void *calloc_##n(size_t count, size_t size) {                                                 \
    void *block = nexts[n].calloc(count, size);                                                        \
    RECORD_ALLOCATION(LT_OP_CALLOC, block, count *size);                                               \
    return block;                                                                                      \
  }                                                                                                    \
  static void *realloc_##n(void *block, size_t size) {                                                 \
    return reallocate(nexts[n].realloc, block, size, LT_OP_REALLOC, LT_HOOK_FRAME);                    \
  }                                                                                                    \
  static void *reallocarray_##n(void *block, size_t count, size_t size) {                              \
    size_t total;                                                                                      \
    if (__builtin_mul_overflow(count, size, &total)) return nexts[n].reallocarray(block, count, size); \
    return reallocate(nexts[n].realloc, block, total, LT_OP_REALLOCARRAY, LT_HOOK_FRAME);              \
  }                                                                                                    \
  static void free_##n(void *block) {                                                                  \
    if (!block) return;                                                                                \
    RECORD_FREE(block);                                                                                \
    nexts[n].free(block);                                                                              \
  }                                                                                                    \
  static int posix_memalign_##n(void **result, size_t alignment, size_t size) {                        \
    int error = nexts[n].posix_memalign(result, alignment, size);                                      \
    if (error == 0) RECORD_ALLOCATION(LT_OP_POSIX_MEMALIGN, *result, size);                            \
    return error;                                                                                      \
  }                                                                                                    \
  static void *aligned_alloc_##n(size_t alignment, size_t size) {                                      \
    void *block = nexts[n].aligned_alloc(alignment, size);                                             \
    RECORD_ALLOCATION(LT_OP_ALIGNED_ALLOC, block, size);                                               \
    return block;                                                                                      \
  }                                                                                                    \
  static void *memalign_##n(size_t alignment, size_t size) {                                           \
    void *block = nexts[n].memalign(alignment, size);                                                  \
    RECORD_ALLOCATION(LT_OP_MEMALIGN, block, size);                                                    \
    return block;                                                                                      \
  }                                                                                                    \
  static void *valloc_##n(size_t size) {                                                               \
    void *block = nexts[n].valloc(size);                                                               \
    RECORD_ALLOCATION(LT_OP_VALLOC, block, size);                                                      \
    return block;                                                                                      \
  }                                                                                                    \
  static void *pvalloc_##n(size_t size) {                                                              \
    void *block = nexts[n].pvalloc(size);                                                              \
    RECORD_ALLOCATION(LT_OP_PVALLOC, block, size);                                                     \
    return block;                                                                                      \
  }

#define EACH_NAMESPACE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
EACH_NAMESPACE(HOOKS_OF)

#define COUNT(result, name, parameters) +1
enum { MALLOC_COUNT = 0 LT_HOOKED_MALLOC_FAMILY(COUNT) };
#define NAME(result, name, parameters) #name,
static const char *const names[MALLOC_COUNT] = {LT_HOOKED_MALLOC_FAMILY(NAME)};
_Static_assert(sizeof(struct lt_next_functions) == MALLOC_COUNT * sizeof(void *), "pointers, in one order");

#define ROW(n)                           \
  {.malloc = malloc_##n,                 \
   .calloc = calloc_##n,                 \
   .realloc = realloc_##n,               \
   .reallocarray = reallocarray_##n,     \
   .free = free_##n,                     \
   .posix_memalign = posix_memalign_##n, \
   .aligned_alloc = aligned_alloc_##n,   \
   .memalign = memalign_##n,             \
   .valloc = valloc_##n,                 \
   .pvalloc = pvalloc_##n},
static const struct lt_next_functions hooks[] = {EACH_NAMESPACE(ROW)};
_Static_assert(sizeof hooks / sizeof *hooks == LT_NAMESPACE_LIMIT, "a row each");

bool lt_namespace_malloc_find(unsigned number, const struct lt_loaded_image *images, uint32_t count) {
  LT_CHECK(number < LT_NAMESPACE_LIMIT);
  void **found = (void **)&nexts[number];
  for (unsigned k = 0; k < MALLOC_COUNT; k++) {
    struct lt_symbol symbol = {0, 0};
    for (uint32_t i = 0; i < count && !symbol.address; i++) lt_loaded_image_symbol(&images[i], names[k], &symbol);
    if (!symbol.address) return false;
    found[k] = (void *)symbol.address;
  }
  return true;
}

void lt_namespace_malloc_bind(unsigned number, const struct lt_loaded_image *image) {
  LT_CHECK(number < LT_NAMESPACE_LIMIT && nexts[number].malloc);
  lt_loaded_image_bind(image, names, (void *const *)&hooks[number], MALLOC_COUNT);
}
