#include "os/bootstrap_arena.h"

#include "check.h"

#include <stdatomic.h>
#include <string.h>

enum { HEADER = 16 };
_Alignas(4096) uint8_t lt_bootstrap_arena[LT_BOOTSTRAP_SIZE];
static _Atomic size_t arenaUsed; ///< bytes; at most LT_BOOTSTRAP_SIZE, and never less than before

void *lt_bootstrap_allocate(size_t size, size_t alignment) {
  if (alignment < 16) alignment = 16;
  if (size > LT_BOOTSTRAP_SIZE || alignment > 4096) return NULL;
  size_t need = (size + alignment + HEADER + 15) & ~(size_t)15, start = atomic_load(&arenaUsed);
  // A request that does not fit takes no room from later ones.
  do
    if (need > LT_BOOTSTRAP_SIZE - start) return NULL;
  while (!atomic_compare_exchange_weak(&arenaUsed, &start, start + need));
  uintptr_t address = ((uintptr_t)lt_bootstrap_arena + start + HEADER + alignment - 1) / alignment * alignment;
  LT_CHECK(address % alignment == 0);
  LT_CHECK(address - 8 >= (uintptr_t)lt_bootstrap_arena + start);
  LT_CHECK(address + size <= (uintptr_t)lt_bootstrap_arena + start + need);
  memcpy((void *)(address - 8), &size, sizeof size);
  return (void *)address;
}

void lt_bootstrap_range(uintptr_t *start, uintptr_t *end) {
  *start = (uintptr_t)lt_bootstrap_arena;
  *end = *start + LT_BOOTSTRAP_SIZE;
}

uintptr_t lt_bootstrap_used_end(void) {
  LT_CHECK(atomic_load(&arenaUsed) <= LT_BOOTSTRAP_SIZE);
  return (uintptr_t)lt_bootstrap_arena + atomic_load(&arenaUsed);
}

size_t lt_bootstrap_size(const void *pointer) {
  size_t size;
  memcpy(&size, (const char *)pointer - 8, sizeof size);
  LT_CHECK(!lt_bootstrap_owns(pointer) || size <= LT_BOOTSTRAP_SIZE);
  return size;
}
