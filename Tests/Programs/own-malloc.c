// Defines its own malloc, as a program with a statically linked allocator does. Link with -rdynamic, so that shared
// libraries use this malloc too.
#include <stddef.h>
#include <stdio.h>

static char pool[1 << 20];
static size_t used;

void *malloc(size_t size) {
  void *block = pool + used;
  used += (size + 15) & ~(size_t)15;
  return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
  char *result = malloc(size);
  for (size_t i = 0; block && i < size; i++) result[i] = ((char *)block)[i];
  return result;
}

int main(void) {
  char *block = malloc(10);
  printf("%d\n", block >= pool && block < pool + sizeof pool);
  free(block);
  return 0;
}
