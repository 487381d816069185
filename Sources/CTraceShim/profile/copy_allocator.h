// An allocator for a copy of the process that runs nothing else: it maps its own memory, and returns none to the
// kernel.

#ifndef LEAKTRACE_COPY_ALLOCATOR_H
#define LEAKTRACE_COPY_ALLOCATOR_H

#include <stddef.h>

void *lt_copy_malloc(size_t size);
void *lt_copy_calloc(size_t count, size_t size);
void *lt_copy_realloc(void *block, size_t size);
void lt_copy_free(void *block);
void *lt_copy_aligned(size_t alignment, size_t size);
int lt_copy_posix_memalign(void **block, size_t alignment, size_t size);
/// Frees all blocks, if there are many.
void lt_copy_allocator_rewind(void);

#endif
