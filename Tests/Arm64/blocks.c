// Allocates and frees blocks of many sizes and alignments, and prints the blocks: one line for each block that is live
// at the end, and one for each freed address without a live block. The allocator's metadata must agree.

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {8,     24,     40,     200,    1000,   3000,   5000,   9000,    20000,
                               50000, 100000, 131072, 140000, 200000, 300000, 500000, 1000000, 3000000};
enum { SIZES = sizeof sizes / sizeof *sizes, TIMES = 40, FIRST_ALIGNMENT = 4, LAST_ALIGNMENT = 21, LIMIT = 2000 };

static struct block {
  uintptr_t address;
  size_t requested, usable;
} live[LIMIT];
static uintptr_t freed[LIMIT];
static int liveCount, freedCount;

static void add(void *block, size_t requested) {
  if (!block) abort();
  memset(block, 1, requested < 64 ? requested : 64);
  live[liveCount++] = (struct block){(uintptr_t)block, requested, malloc_usable_size(block)};
}

static bool is_live(uintptr_t address) {
  for (int i = 0; i < liveCount; i++)
    if (live[i].address == address) return true;
  return false;
}

static void *use_cache(void *unused) {
  (void)unused;
  for (size_t i = 0; i < 500; i++) free(malloc(24 + i));
  return NULL;
}

int main(void) {
  static char buffer[1 << 16];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  // Otherwise glibc maps fewer blocks after the first large one was freed.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  pthread_t thread;
  if (pthread_create(&thread, NULL, use_cache, NULL) || pthread_join(thread, NULL)) return 1;

  void *blocks[TIMES][SIZES];
  for (int time = 0; time < TIMES; time++)
    for (int i = 0; i < SIZES; i++) blocks[time][i] = malloc(sizes[i]);
  for (int time = 0; time < TIMES; time++)
    for (int i = 0; i < SIZES; i++) {
      if (time % 2) {
        add(blocks[time][i], sizes[i]);
      } else {
        freed[freedCount++] = (uintptr_t)blocks[time][i];
        free(blocks[time][i]);
      }
    }
  for (int shift = FIRST_ALIGNMENT; shift <= LAST_ALIGNMENT; shift++) {
    size_t size = 300000 + (size_t)shift;
    add(memalign((size_t)1 << shift, size), size);
  }

  for (int i = 0; i < liveCount; i++)
    printf("live 0x%jx %zu %zu\n", (uintmax_t)live[i].address, live[i].requested, live[i].usable);
  for (int i = 0; i < freedCount; i++)
    if (!is_live(freed[i])) printf("freed 0x%jx\n", (uintmax_t)freed[i]);
  return 0;
}
