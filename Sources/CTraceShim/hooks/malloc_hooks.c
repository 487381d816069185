// The malloc family: guard, call, record, nothing else.
//
// When sampling, most calls tail-call the real allocator: unsampled allocations, and frees of unmarked blocks. No call
// does so before the next allocator is known, or while all calls are recorded.
//
// A free is recorded before it happens, an allocation afterwards: in between another thread may be given the address.
// errno stays as the allocator left it: nothing here touches it.

#include "hooks/allocation_recording.h"
#include "hooks/hook.h"
#include "hooks/next_functions.h"
#include "os/bootstrap_arena.h"

#include <errno.h>
#include <string.h>

#define ALLOCATOR_HOOK LT_EXPORT LT_ALIGNS_STACK
#define NEXT_IS_KNOWN LT_LIKELY(lt_next.free != NULL)
/// The recording part of a hook. It is tail-called, so its frame replaces the hook's, next to the caller's.
#define RECORDING static LT_NOINLINE LT_ALIGNS_STACK
#define PASS_ON __attribute__((musttail)) return

RECORDING void *record_malloc(size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, 16);
  void *block = lt_next.malloc(size);
  RECORD_ALLOCATION(LT_OP_MALLOC, block, size);
  return block;
}

LT_EXPORT void *LT_HOOK(malloc)(size_t size) {
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

LT_EXPORT void *LT_HOOK(calloc)(size_t count, size_t size) {
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

LT_EXPORT void LT_HOOK(free)(void *block) {
  if (!lt_is_marked(block)) PASS_ON lt_next.free(block);
  PASS_ON record_and_free(block);
}

static LT_NOINLINE void *move_from_arena(void *block, size_t size) {
  void *result = LT_HOOK(malloc)(size);
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

LT_EXPORT void *LT_HOOK(realloc)(void *block, size_t size) {
  if (!lt_is_marked(block) && lt_passes_samples(size)) PASS_ON lt_next.realloc(block, size);
  PASS_ON record_realloc(block, size);
}

ALLOCATOR_HOOK void *LT_HOOK(reallocarray)(void *block, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) total = 0;
  if (!total && count && size) {
    errno = ENOMEM;
    return NULL;
  }
  if (!NEXT_IS_KNOWN || LT_UNLIKELY(lt_bootstrap_owns(block))) return LT_HOOK(realloc)(block, total);
  // The C library's own reallocarray calls realloc, and would be recorded twice.
  return reallocate(lt_next.realloc, block, total, LT_OP_REALLOCARRAY, LT_HOOK_FRAME);
}

ALLOCATOR_HOOK int LT_HOOK(posix_memalign)(void **result, size_t alignment, size_t size) {
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

ALLOCATOR_HOOK void *LT_HOOK(aligned_alloc)(size_t alignment, size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, alignment);
  void *block = lt_next.aligned_alloc(alignment, size);
  RECORD_ALLOCATION(LT_OP_ALIGNED_ALLOC, block, size);
  return block;
}

ALLOCATOR_HOOK void *LT_HOOK(memalign)(size_t alignment, size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, alignment);
  void *block = lt_next.memalign(alignment, size);
  RECORD_ALLOCATION(LT_OP_MEMALIGN, block, size);
  return block;
}

ALLOCATOR_HOOK void *LT_HOOK(valloc)(size_t size) {
  if (!NEXT_IS_KNOWN) return lt_bootstrap_allocate(size, 4096);
  void *block = lt_next.valloc(size);
  RECORD_ALLOCATION(LT_OP_VALLOC, block, size);
  return block;
}

ALLOCATOR_HOOK void *LT_HOOK(pvalloc)(size_t size) {
  if (!NEXT_IS_KNOWN)
    return size > LT_BOOTSTRAP_SIZE ? NULL : lt_bootstrap_allocate((size + 4095) & ~(size_t)4095, 4096);
  void *block = lt_next.pvalloc(size);
  RECORD_ALLOCATION(LT_OP_PVALLOC, block, size);
  return block;
}
