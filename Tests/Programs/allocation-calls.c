// Makes each allocation call COUNT times in each of THREADS threads (1: the main thread alone), and frees every block.
// Usage: allocation-calls THREADS COUNT
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int count;

static void *use(void *block) {
  if (block == NULL) abort();
  *(volatile char *)block = 1;
  return block;
}

static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < count; i++) {
    free(use(malloc(24)));
    free(use(calloc(3, 8)));
    void *block = use(malloc(40));
    free(use(realloc(block, 4000)));
    block = use(malloc(48));
    free(use(reallocarray(block, 100, 7)));
    if (posix_memalign(&block, 64, 100) != 0) abort();
    free(use(block));
    free(use(aligned_alloc(128, 256)));
    free(use(memalign(32, 33)));
    free(use(valloc(10)));
#ifndef WITHOUT_PVALLOC // which jemalloc does not define
    free(use(pvalloc(10)));
#endif
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int threads = atoi(argv[1]);
  count = atoi(argv[2]);
  if (threads == 1) {
    work(NULL);
  } else {
    pthread_t *handles = calloc((size_t)threads, sizeof *handles);
    for (int i = 0; i < threads; i++) pthread_create(&handles[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++) pthread_join(handles[i], NULL);
    free(handles);
  }
  printf("%d threads, %d calls of each kind\n", threads, count);
  return 0;
}
