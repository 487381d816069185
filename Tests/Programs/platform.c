// Keeps and loses known numbers of blocks in several threads, so that any platform's recording can be counted.
// platform end: ends when its threads have done their work.
// platform wait: prints "ready PROCESS" and waits. At a byte on standard input it loses blocks again, prints "done" and
// ends at the next byte.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, KEPT = 100, KEPT_SIZE = 3001, IN_THREAD = 50, IN_THREAD_SIZE = 5003, LOST = 20, LOST_SIZE = 1733 };
enum { LARGE_SIZE = 3000017 };

struct kept {
  struct kept *next;
  char rest[KEPT_SIZE - sizeof(struct kept *)];
};

static struct kept *first;
static pthread_barrier_t standing, leaving;

__attribute__((noinline)) static void keep_blocks(void) {
  for (int i = 0; i < KEPT; i++) {
    struct kept *block = malloc(KEPT_SIZE);
    memset(block, 0, KEPT_SIZE);
    block->next = first;
    first = block;
  }
}

__attribute__((noinline)) static void lose_blocks(void) {
  for (int i = 0; i < LOST; i++) {
    char *volatile block = malloc(LOST_SIZE);
    memset(block, i, LOST_SIZE);
    block = NULL;
  }
}

static void *work(void *unused) {
  (void)unused;
  char *volatile held[IN_THREAD];
  for (int i = 0; i < IN_THREAD; i++) {
    char *volatile freed = malloc(IN_THREAD_SIZE);
    held[i] = malloc(IN_THREAD_SIZE);
    memset(held[i], 0, IN_THREAD_SIZE);
    free(freed);
  }
  char *volatile large = malloc(LARGE_SIZE);
  memset(large, 0, LARGE_SIZE);
  pthread_barrier_wait(&standing);
  pthread_barrier_wait(&leaving);
  for (int i = 0; i < IN_THREAD; i++) free(held[i]);
  free(large);
  return NULL;
}

/// Overwrites what earlier calls have left on the stack.
__attribute__((noinline)) static void clear_stack(void) {
  volatile char room[16384];
  memset((char *)room, 0, sizeof room);
}

int main(int count, char **arguments) {
  int waits = count > 1 && strcmp(arguments[1], "wait") == 0;
  pthread_t threads[THREADS];
  char byte;
  pthread_barrier_init(&standing, NULL, THREADS + 1);
  pthread_barrier_init(&leaving, NULL, THREADS + 1);
  keep_blocks();
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
  pthread_barrier_wait(&standing);
  lose_blocks();
  clear_stack();
  if (waits) {
    printf("ready %d\n", getpid());
    fflush(stdout);
    if (read(0, &byte, 1) == 1) {
      lose_blocks();
      clear_stack();
      printf("done\n");
      fflush(stdout);
      if (read(0, &byte, 1) < 0) return 1;
    }
  }
  // The image at the end has the threads' blocks, which only their stacks hold.
  if (!waits) exit(0);
  pthread_barrier_wait(&leaving);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}
