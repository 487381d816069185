// An allocator for a copy of the process, in which nothing else runs: it takes memory of its own, and gives none back.

#ifndef LEAKTRACE_COPY_ALLOCATOR_H
#define LEAKTRACE_COPY_ALLOCATOR_H

#include <stddef.h>

void *lt_copy_malloc(size_t size);
void *lt_copy_calloc(size_t count, size_t size);
void *lt_copy_realloc(void *block, size_t size);
void lt_copy_free(void *block);
void *lt_copy_aligned(size_t alignment, size_t size);
int lt_copy_posix_memalign(void **block, size_t alignment, size_t size);
/// Takes all blocks for freed, if there are many.
void lt_copy_allocator_rewind(void);

#endif
