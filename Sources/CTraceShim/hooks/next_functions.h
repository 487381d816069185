// The functions that the hooks interpose: the next definition in the loader's order.

#ifndef LEAKTRACE_NEXT_FUNCTIONS_H
#define LEAKTRACE_NEXT_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

/// One row for each hooked C function: result, name, parameters.
#define LT_HOOKED_MALLOC_FAMILY(X)                  \
  X(void *, malloc, (size_t))                       \
  X(void *, calloc, (size_t, size_t))               \
  X(void *, realloc, (void *, size_t))              \
  X(void *, reallocarray, (void *, size_t, size_t)) \
  X(void, free, (void *))                           \
  X(int, posix_memalign, (void **, size_t, size_t)) \
  X(void *, aligned_alloc, (size_t, size_t))        \
  X(void *, memalign, (size_t, size_t))             \
  X(void *, valloc, (size_t))                       \
  X(void *, pvalloc, (size_t))

struct lt_next_functions {
#define FIELD(result, name, parameters) result(*name) parameters;
  LT_HOOKED_MALLOC_FAMILY(FIELD)
#undef FIELD
};
extern struct lt_next_functions lt_next __attribute__((visibility("hidden")));

/// Finds the functions and stores them in `found`. While `lt_next` is empty, calls are served from the bootstrap arena.
void lt_next_functions_find(struct lt_next_functions *found);

#endif
