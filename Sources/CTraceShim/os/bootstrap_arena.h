// A small arena that is never freed, for calls of the allocator that come before the next one is known: those that the
// loader makes before the recorder is there, and those that the recorder itself causes while it sets itself up.

#ifndef LEAKTRACE_BOOTSTRAP_ARENA_H
#define LEAKTRACE_BOOTSTRAP_ARENA_H

#include <stddef.h>
#include <stdint.h>

void *lt_bootstrap_allocate(size_t size, size_t alignment);
enum { LT_BOOTSTRAP_SIZE = 256 << 10 };
extern uint8_t lt_bootstrap_arena[LT_BOOTSTRAP_SIZE] __attribute__((visibility("hidden")));
static inline int lt_bootstrap_owns(const void *pointer) {
  return (uintptr_t)pointer - (uintptr_t)lt_bootstrap_arena < LT_BOOTSTRAP_SIZE;
}
size_t lt_bootstrap_size(const void *pointer);
/// The end of the part of the arena that is in use.
uintptr_t lt_bootstrap_used_end(void);
/// Gives the pages of the arena, which holds blocks that others asked for.
void lt_bootstrap_range(uintptr_t *start, uintptr_t *end);

#endif
