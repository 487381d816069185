// A mapping with one unreadable page: a guard page, or a page behind a protection key. Words around it point to it.
// The page behind the key has the only pointer to a block. "reserve" reserves more memory than any machine has, and
// touches two pages of it. With "wait" it stays until a signal.

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { PAGE = 4096 };

static void *map(size_t size) {
  void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) exit(2);
  return start;
}

static void show(const char *name, void **slot) { printf("slot %p %p %s\n", (void *)slot, *slot, name); }

int main(int count, char **arguments) {
  const char *way = arguments[1];
  if (!strcmp(way, "reserve")) {
    size_t size = 64ull << 40;
    char *start = map(size);
    for (int i = 0; i < 12; i++) {
      void **slot = (void **)(start + (i % 2 ? size / 2 : PAGE) + 8 * i);
      *slot = start + i;
      show("reserved", slot);
    }
  } else {
    char *start = map(16 * PAGE);
    for (int i = 0; i < 16 * PAGE; i += 8) *(void **)(start + i) = start + i;
    for (int i = 0; i < 16; i++)
      if (i != 2) show("beside", (void **)(start + i * PAGE + 64));
    if (!strcmp(way, "guard")) {
      if (madvise(start + 2 * PAGE, PAGE, MADV_GUARD_INSTALL) != 0) puts("unknown to this kernel");
    } else {
      *(void *volatile *)(start + 2 * PAGE) = malloc(777);
      int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
      if (key < 0 || pkey_mprotect(start + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE, key) != 0)
        puts("unknown to this processor");
    }
  }
  fflush(stdout);
  free(malloc(1000));
  if (count > 2) pause();
  return 0;
}
