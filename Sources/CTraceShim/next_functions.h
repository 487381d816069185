// The functions that the hooks stand in front of: the next definition in the loader's order.

#ifndef LEAKTRACE_NEXT_FUNCTIONS_H
#define LEAKTRACE_NEXT_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

/// One row a hooked C function: result, name, parameters.
#define LT_HOOKED_MALLOC_FAMILY(X)                                              \
  X(void *, malloc, (size_t))                                                   \
  X(void *, calloc, (size_t, size_t))                                           \
  X(void *, realloc, (void *, size_t))                                          \
  X(void *, reallocarray, (void *, size_t, size_t))                             \
  X(void, free, (void *))                                                       \
  X(int, posix_memalign, (void **, size_t, size_t))                             \
  X(void *, aligned_alloc, (size_t, size_t))                                    \
  X(void *, memalign, (size_t, size_t))                                         \
  X(void *, valloc, (size_t))                                                   \
  X(void *, pvalloc, (size_t))

struct lt_next_functions {
#define FIELD(result, name, parameters) result(*name) parameters;
  LT_HOOKED_MALLOC_FAMILY(FIELD)
#undef FIELD
};
extern struct lt_next_functions lt_next __attribute__((visibility("hidden")));

/// Finds them, into `found`. While `lt_next` is empty, calls are served from a small arena that is never freed: those that the
/// loader makes before the recorder is there, and those that the recorder itself causes while it sets itself up.
void lt_next_functions_find(struct lt_next_functions *found);

void *lt_bootstrap_allocate(size_t size, size_t alignment);
enum { LT_BOOTSTRAP_SIZE = 256 << 10 };
extern uint8_t lt_bootstrap_arena[LT_BOOTSTRAP_SIZE] __attribute__((visibility("hidden")));
static inline int lt_bootstrap_owns(const void *pointer) { return (uintptr_t)pointer - (uintptr_t)lt_bootstrap_arena < LT_BOOTSTRAP_SIZE; }
size_t lt_bootstrap_size(const void *pointer);
/// The pages of the arena, which holds what others asked for.
void lt_bootstrap_range(uintptr_t *start, uintptr_t *end);

#endif
