// Allocates BLOCKS blocks of 1000 bytes that stay, and then ends in the way that is asked for.
// Usage: endings WAY BLOCKS
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void *exitFromThread(void *unused) {
  (void)unused;
  exit(24);
}

static void *outliveMain(void *unused) {
  (void)unused;
  usleep(20000);
  free(malloc(100));
  return NULL;
}

static pthread_barrier_t allocated;

/// Keeps blocks of 500 bytes, and does not end.
static void *keepBlocks(void *blocks) {
  static void *volatile kept;
  for (int i = atoi(blocks); i > 0; i--) {
    void **block = malloc(500);
    *block = kept;
    kept = block;
  }
  pthread_barrier_wait(&allocated);
  for (;;) pause();
}

static void keepInAnotherThread(char *blocks) {
  pthread_t thread;
  pthread_barrier_init(&allocated, NULL, 2);
  pthread_create(&thread, NULL, keepBlocks, blocks);
  pthread_barrier_wait(&allocated);
}

static void allocateAtExit(void) { free(malloc(200)); }

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const char *way = argv[1];
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  static void *volatile kept;
  for (int i = atoi(argv[2]); i > 0; i--) {
    void **block = malloc(1000);
    *block = kept;
    kept = block;
  }
  printf("ending by %s\n", way);
  fflush(stdout);
  if (strcmp(way, "return") == 0) return 21;
  if (strcmp(way, "exit") == 0) exit(22);
  if (strcmp(way, "atexit") == 0) {
    atexit(allocateAtExit);
    return 0;
  }
  if (strcmp(way, "_exit") == 0) _exit(23);
  if (strcmp(way, "_Exit") == 0) _Exit(25);
  if (strcmp(way, "quick_exit") == 0) quick_exit(26);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "crash") == 0) *(volatile int *)16 = 1;
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "terminate") == 0) kill(getpid(), SIGTERM);
  pthread_t thread;
  if (strcmp(way, "thread-exit") == 0) {
    pthread_create(&thread, NULL, exitFromThread, NULL);
    pthread_join(thread, NULL);
  }
  if (strcmp(way, "main-thread-ends") == 0) {
    pthread_create(&thread, NULL, outliveMain, NULL);
    pthread_exit(NULL);
  }
  if (strncmp(way, "threads-", 8) == 0) {
    keepInAnotherThread(argv[2]);
    way += 8;
  }
  if (strcmp(way, "exec") == 0) execl("/bin/echo", "echo", "replaced", (char *)NULL);
  if (strcmp(way, "exec-fails") == 0) {
    execl("/nonexistent/program", "program", (char *)NULL);
    free(malloc(300));
    return 27;
  }
  return 2;
}
