// 64 threads allocate blocks, exchange them through shared places, and free the blocks that they find there.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { threadCount = 64, roundCount = 2000, placeCount = 256 };

static _Atomic(unsigned char *) places[placeCount];
static atomic_ulong freed;

static void *work(void *argument) {
  unsigned seed = (unsigned)(size_t)argument * 2654435761u + 1;
  unsigned long mine = 0;
  for (int round = 0; round < roundCount; round++) {
    seed = seed * 1664525u + 1013904223u;
    size_t size = 16 + (seed >> 24);
    unsigned char *block = malloc(size);
    block[0] = (unsigned char)seed;
    unsigned char *other = atomic_exchange(&places[(seed >> 8) % placeCount], block);
    if (other != NULL) {
      if (seed & 1) other = realloc(other, 300);
      free(other);
      mine++;
    }
  }
  atomic_fetch_add(&freed, mine);
  return NULL;
}

int main(void) {
  pthread_t handles[threadCount];
  for (size_t i = 0; i < threadCount; i++) pthread_create(&handles[i], NULL, work, (void *)i);
  for (size_t i = 0; i < threadCount; i++) pthread_join(handles[i], NULL);
  for (int i = 0; i < placeCount; i++) {
    if (places[i] != NULL) {
      free(places[i]);
      freed++;
    }
  }
  printf("%lu blocks freed\n", (unsigned long)freed);
  return freed == (unsigned long)threadCount * roundCount ? 0 : 1;
}
