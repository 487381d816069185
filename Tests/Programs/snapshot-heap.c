// Keeps blocks in the ways that a program does, and prints where: "slot ADDRESS VALUE NAME" for words that an image of
// its memory holds, "hole ADDRESS" for those that it does not. Then it ends, or waits. Usage: snapshot-heap return |
// exit | pause | stop-signals | alone
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *inData = &inData;
static void *inZeroData;
static __thread void *inThreadLocal;
static const char *const relocated[] = {"a", "b"};

static void slot(const char *name, void *address) {
  uint64_t value;
  memcpy(&value, address, sizeof value);
  printf("slot %p %#lx %s\n", address, (unsigned long)value, name);
}

static void *idle(void *argument) {
  void *volatile held = malloc(48);
  slot("stack of a thread", (void *)&held);
  fflush(stdout);
  pthread_barrier_wait(argument);
  for (;;) pause();
  return held;
}

static void *allocate(void *unused) {
  for (;;) {
    free(malloc(10));
    usleep(20000);
  }
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const char *way = argv[1];
  void *volatile onStack = malloc(16);
  inData = malloc(24);
  inZeroData = malloc(32);
  inThreadLocal = malloc(40);
  uint64_t *block = malloc(6 * sizeof *block);
  block[0] = (uint64_t)inData;
  block[1] = (uint64_t)inData + 5;                  // into the middle
  block[2] = (uint64_t)inData | 0xAB00000000000000; // what Swift does with the top byte
  block[3] = 0x1122334455667788;
  block[4] = 42;
  block[5] = (uint64_t)block;
  void **mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mapped[70000] = block;
  void **shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared[3] = block;
  void **sealed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sealed[5] = block;
  mprotect(sealed, 4096, PROT_READ);
  slot("stack", (void *)&onStack);
  slot("data", &inData);
  slot("zero data", &inZeroData);
  slot("thread-local", &inThreadLocal);
  slot("relocated constant", (void *)&relocated[1]);
  slot("block", &block[0]);
  slot("into the middle", &block[1]);
  printf("slot %p %p tagged\n", (void *)&block[2], inData);
  printf("hole %p\nhole %p\n", (void *)&block[3], (void *)&block[4]);
  slot("itself", &block[5]);
  slot("mapped", &mapped[70000]);
  slot("shared", &shared[3]);
  slot("read-only", &sealed[5]);
  if (strcmp(way, "return") == 0 || strcmp(way, "exit") == 0) {
    if (way[0] == 'e') exit(7);
    return 7;
  }
  if (strcmp(way, "stop-signals") == 0) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, allocate, NULL);
  } else if (strcmp(way, "alone") != 0) {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t thread;
    pthread_create(&thread, NULL, idle, &barrier);
    pthread_barrier_wait(&barrier);
  }
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  for (;;) pause();
}
