// A library that serves malloc as an early jemalloc does: it answers to jemalloc's calls, and has books that are laid
// out otherwise than in 5.1 to 5.3.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { POOL_SIZE = 256 << 20, SIZE_FIELD = 16 };

static _Atomic(char *) pool;
static _Atomic size_t used;

static char *memory(void) {
  char *begin = atomic_load(&pool), *none = NULL;
  if (begin) return begin;
  begin = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return NULL;
  if (atomic_compare_exchange_strong(&pool, &none, begin)) return begin;
  munmap(begin, POOL_SIZE);
  return none;
}

/// No memory is reused. The size is stored before the block.
void *memalign(size_t alignment, size_t size) {
  char *begin = memory();
  if (alignment < SIZE_FIELD) alignment = SIZE_FIELD;
  size_t rounded = (size + SIZE_FIELD - 1) & ~(size_t)(SIZE_FIELD - 1);
  size_t place = atomic_fetch_add(&used, SIZE_FIELD + alignment + rounded);
  if (!begin || place + SIZE_FIELD + alignment + rounded > POOL_SIZE) return NULL;
  uintptr_t block = ((uintptr_t)begin + place + SIZE_FIELD + alignment - 1) & ~(uintptr_t)(alignment - 1);
  ((size_t *)block)[-1] = size;
  return (void *)block;
}

void *malloc(size_t size) { return memalign(SIZE_FIELD, size); }
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
size_t malloc_usable_size(void *block) { return block ? ((size_t *)block)[-1] : 0; }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
void *realloc(void *block, size_t size) {
  void *result = malloc(size);
  size_t old = malloc_usable_size(block);
  if (result && block) memcpy(result, block, old < size ? old : size);
  return result;
}

int mallctl(const char *name, void *old, size_t *oldSize, void *new, size_t newSize) {
  (void)new, (void)newSize;
  if (strcmp(name, "version") != 0) return ENOENT;
  if (*oldSize != sizeof(const char *)) return EINVAL;
  *(const char **)old = "4.5.0-0-g04380e79f1e2428bd0ad000bbc6e3d2dfc6b66a5";
  return 0;
}
