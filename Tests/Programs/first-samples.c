// Allocates 3,000 blocks at one place and 5,000 at another, and keeps all of them.

#include <stdlib.h>

static void *kept[8000];

__attribute__((noinline)) static void *first(void) { return malloc(64); }
__attribute__((noinline)) static void *second(void) { return malloc(64); }

int main(void) {
  for (int i = 0; i < 3000; i++) kept[i] = first();
  for (int i = 3000; i < 8000; i++) kept[i] = second();
  return !kept[7999];
}
