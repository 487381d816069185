#include "profile/copy_allocator.h"

#include "check.h"
#include "os/os.h"

#include <errno.h>
#include <string.h>

enum {
  SIZE = 64 << 20, ///< only its used pages are resident
  MANY = 1 << 20,
  HEAD = 16, ///< before a block: its size
};

static uint8_t *memory;
static size_t used; ///< at most SIZE

void *lt_copy_aligned(size_t alignment, size_t size) {
  if (!memory) memory = lt_map_private(SIZE);
  if (alignment < HEAD) alignment = HEAD;
  if (!memory || alignment > SIZE || size > SIZE) return NULL;
  size_t start = (used + HEAD + alignment - 1) & ~(alignment - 1);
  if (start > SIZE || size > SIZE - start) return NULL;
  used = start + size;
  LT_CHECK(used <= SIZE && start >= HEAD && start % alignment == 0);
  memcpy(memory + start - HEAD, &size, sizeof size);
  return memory + start;
}

void *lt_copy_malloc(size_t size) { return lt_copy_aligned(HEAD, size); }

void *lt_copy_calloc(size_t count, size_t size) {
  size_t total;
  void *block = __builtin_mul_overflow(count, size, &total) ? NULL : lt_copy_malloc(total);
  return block ? memset(block, 0, total) : NULL;
}

void *lt_copy_realloc(void *block, size_t size) {
  void *made = lt_copy_malloc(size);
  // The process's own blocks belong to another allocator, so their sizes are unknown.
  if (!made || !block || (uint8_t *)block < memory || (uint8_t *)block >= memory + SIZE) return block ? NULL : made;
  size_t before;
  memcpy(&before, (uint8_t *)block - HEAD, sizeof before);
  LT_CHECK(before <= SIZE && (uint8_t *)block - memory + before <= SIZE);
  return memcpy(made, block, before < size ? before : size);
}

void lt_copy_free(void *block) { (void)block; }

int lt_copy_posix_memalign(void **block, size_t alignment, size_t size) {
  *block = lt_copy_aligned(alignment, size);
  return *block ? 0 : ENOMEM;
}

void lt_copy_allocator_rewind(void) {
  if (used > MANY) used = 0;
}
