// Hooks of the C++ operators: guard, call, record, nothing else, like the hooks of the malloc family. Exceptions of the
// next function pass through here.

#include "hooks/operator_hooks.h"

#include "hooks/allocation_recording.h"
#include "hooks/hook.h"
#include "os/bootstrap_arena.h"

#define RECORDING static LT_NOINLINE LT_ALIGNS_STACK
#define PASS_ON __attribute__((musttail)) return

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

// jemalloc's operators tail-call free, as others may: that free is not recorded again.
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

// The names follow the Itanium C++ ABI, where size_t is unsigned long. A reference, to std::nothrow, is a pointer.
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

// A row's parameters and arguments are two macro arguments, but only after the row has been expanded.
#define EXPAND(hook, ...) hook(__VA_ARGS__)
#define NEW_ROW(name, ...) EXPAND(NEW_HOOK, name, __VA_ARGS__)
#define DELETE_ROW(name, ...) EXPAND(DELETE_HOOK, name, __VA_ARGS__)
OPERATORS(NEW_ROW, DELETE_ROW)

#define ENTRY(name, ...) {#name, (void *)hook_##name, (void **)&next_##name},
const struct lt_operator_hook lt_operator_hooks[] = {OPERATORS(ENTRY, ENTRY)};
_Static_assert(sizeof lt_operator_hooks / sizeof *lt_operator_hooks == LT_OPERATOR_COUNT, "an entry each");
