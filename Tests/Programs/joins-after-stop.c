// Has itself recorded while its threads work, until the trace is as large as files may be. Then it has itself recorded
// again.
// Usage: joins-after-stop LIBRARY SETTINGS TIMES
// SETTINGS: with %d for the number of the recording.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS = 4, TRACE_BYTES = 2 << 20, IS_RECORDED_ALREADY = 2 };
static _Atomic int isOver;

static void *work(void *unused) {
  for (unsigned i = 0; !isOver; i++) {
    char *volatile block = malloc(16 + i * 40503 % 600);
    free(block);
  }
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  // Without this a write beyond the limit ends the process.
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = {TRACE_BYTES, TRACE_BYTES};
  setrlimit(RLIMIT_FSIZE, &limit);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*attach)(const char *) = library ? (int (*)(const char *))dlsym(library, "leaktrace_attach") : NULL;
  if (!attach) return 1;
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int time = 1; time <= atoi(argv[3]); time++) {
    char settings[8192];
    snprintf(settings, sizeof settings, argv[2], time);
    int result;
    // Refused until the recording before has stopped by itself.
    while ((result = attach(settings)) == IS_RECORDED_ALREADY) usleep(100);
    if (result) {
      printf("refused %d\n", result);
      return 2;
    }
  }
  isOver = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  puts("done");
}
