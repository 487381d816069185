// Hooks of the malloc family for other namespaces, bound image by image: nothing can be interposed there by name.

#define _GNU_SOURCE
#include "hooks/namespace_malloc.h"

#include "check.h"
#include "hooks/allocation_recording.h"
#include "hooks/next_functions.h"
#include "hooks/task_memory.h"

#include <errno.h>

static struct lt_next_functions nexts[LT_NAMESPACE_LIMIT];

#define HOOKS_OF(n)                                                                                    \
  static void *malloc_##n(size_t size) {                                                               \
    void *block = nexts[n].malloc(size);                                                               \
    if (lt_task_memory_is_taken_by(LT_CALLER)) lt_task_memory_clear(block, size);                      \
    RECORD_ALLOCATION(LT_OP_MALLOC, block, size);                                                      \
    return block;                                                                                      \
  }                                                                                                    \
  static void *calloc_##n(size_t count, size_t size) {                                                 \
    void *block = nexts[n].calloc(count, size);                                                        \
    RECORD_ALLOCATION(LT_OP_CALLOC, block, count *size);                                               \
    return block;                                                                                      \
  }                                                                                                    \
  static void *realloc_##n(void *block, size_t size) {                                                 \
    return reallocate(nexts[n].realloc, block, size, LT_OP_REALLOC, LT_HOOK_FRAME);                    \
  }                                                                                                    \
  static void *reallocarray_##n(void *block, size_t count, size_t size) {                              \
    size_t total;                                                                                      \
    if (__builtin_mul_overflow(count, size, &total)) return nexts[n].reallocarray(block, count, size); \
    return reallocate(nexts[n].realloc, block, total, LT_OP_REALLOCARRAY, LT_HOOK_FRAME);              \
  }                                                                                                    \
  static void free_##n(void *block) {                                                                  \
    if (!block) return;                                                                                \
    RECORD_FREE(block);                                                                                \
    nexts[n].free(block);                                                                              \
  }                                                                                                    \
  static int posix_memalign_##n(void **result, size_t alignment, size_t size) {                        \
    int error = nexts[n].posix_memalign(result, alignment, size);                                      \
    if (error == 0) RECORD_ALLOCATION(LT_OP_POSIX_MEMALIGN, *result, size);                            \
    return error;                                                                                      \
  }                                                                                                    \
  static void *aligned_alloc_##n(size_t alignment, size_t size) {                                      \
    void *block = nexts[n].aligned_alloc(alignment, size);                                             \
    RECORD_ALLOCATION(LT_OP_ALIGNED_ALLOC, block, size);                                               \
    return block;                                                                                      \
  }                                                                                                    \
  static void *memalign_##n(size_t alignment, size_t size) {                                           \
    void *block = nexts[n].memalign(alignment, size);                                                  \
    RECORD_ALLOCATION(LT_OP_MEMALIGN, block, size);                                                    \
    return block;                                                                                      \
  }                                                                                                    \
  static void *valloc_##n(size_t size) {                                                               \
    void *block = nexts[n].valloc(size);                                                               \
    RECORD_ALLOCATION(LT_OP_VALLOC, block, size);                                                      \
    return block;                                                                                      \
  }                                                                                                    \
  static void *pvalloc_##n(size_t size) {                                                              \
    void *block = nexts[n].pvalloc(size);                                                              \
    RECORD_ALLOCATION(LT_OP_PVALLOC, block, size);                                                     \
    return block;                                                                                      \
  }

#define EACH_NAMESPACE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
EACH_NAMESPACE(HOOKS_OF)

#define COUNT(result, name, parameters) +1
enum { FUNCTION_COUNT = 0 LT_HOOKED_MALLOC_FAMILY(COUNT) };
#define NAME(result, name, parameters) #name,
static const char *const names[FUNCTION_COUNT] = {LT_HOOKED_MALLOC_FAMILY(NAME)};
_Static_assert(sizeof(struct lt_next_functions) == FUNCTION_COUNT * sizeof(void *), "pointers, in one order");

#define ROW(n)                           \
  {.malloc = malloc_##n,                 \
   .calloc = calloc_##n,                 \
   .realloc = realloc_##n,               \
   .reallocarray = reallocarray_##n,     \
   .free = free_##n,                     \
   .posix_memalign = posix_memalign_##n, \
   .aligned_alloc = aligned_alloc_##n,   \
   .memalign = memalign_##n,             \
   .valloc = valloc_##n,                 \
   .pvalloc = pvalloc_##n},
static const struct lt_next_functions hooks[] = {EACH_NAMESPACE(ROW)};
_Static_assert(sizeof hooks / sizeof *hooks == LT_NAMESPACE_LIMIT, "a row each");

bool lt_namespace_malloc_find(unsigned number, const struct lt_loaded_image *images, uint32_t count) {
  LT_CHECK(number < LT_NAMESPACE_LIMIT);
  void **found = (void **)&nexts[number];
  for (unsigned k = 0; k < FUNCTION_COUNT; k++) {
    struct lt_symbol symbol = {0, 0};
    for (uint32_t i = 0; i < count && !symbol.address; i++) lt_loaded_image_symbol(&images[i], names[k], &symbol);
    if (!symbol.address) return false;
    found[k] = (void *)symbol.address;
  }
  return true;
}

void lt_namespace_malloc_bind(unsigned number, const struct lt_loaded_image *image) {
  LT_CHECK(number < LT_NAMESPACE_LIMIT && nexts[number].malloc);
  lt_loaded_image_bind(image, names, (void *const *)&hooks[number], FUNCTION_COUNT);
}
