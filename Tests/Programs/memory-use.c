// Says what memory its process takes, alone and with threads that have each allocated once.
// Usage: memory-use THREADS any|locked|KILOBYTES locked: all memory is locked, now and in future. KILOBYTES: the
// address space ends so far from where it is before a thread, which asks for memory until there is none.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_barrier_t allocated, measured;

static void *work(void *unused) {
  void *volatile block = malloc(100);
  free(block);
  pthread_barrier_wait(&allocated);
  pthread_barrier_wait(&measured);
  return unused;
}

static unsigned long field(const char *name) {
  char line[256];
  unsigned long value = 0;
  FILE *file = fopen("/proc/self/status", "r");
  if (!file) exit(2);
  while (fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) sscanf(line + strlen(name), ": %lu", &value);
  fclose(file);
  return value;
}

static void tell(const char *when) { printf("%s %lu %lu\n", when, field("VmSize"), field("VmRSS")); }

/// Prints how much of the remaining memory a thread can allocate.
static void *take_all(void *unused) {
  unsigned long taken = 0;
  for (int i = 0; i < 10000; i++) {
    void *volatile block = malloc(32);
    free(block);
  }
  for (void *volatile block; (block = malloc(64 << 10));) taken += 64;
  printf("taken %lu 0\n", taken);
  return unused;
}

int main(int count, char **arguments) {
  int threads = count > 1 ? atoi(arguments[1]) : 1;
  const char *way = count > 2 ? arguments[2] : "any";
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  mallopt(M_ARENA_MAX, 1);
  if (strcmp(way, "locked") == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 3;
  if (atoi(way)) {
    pthread_t thread;
    struct rlimit limit = {.rlim_cur = (field("VmSize") + (unsigned long)atoi(way)) << 10, .rlim_max = RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0 || pthread_create(&thread, &attributes, take_all, NULL) != 0) return 4;
    pthread_join(thread, NULL);
    limit.rlim_cur = RLIM_INFINITY;
    return setrlimit(RLIMIT_AS, &limit) != 0;
  }
  tell("before");
  pthread_barrier_init(&allocated, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&measured, NULL, (unsigned)threads + 1);
  pthread_t *all = calloc((size_t)threads, sizeof *all);
  for (int i = 0; i < threads; i++)
    if (pthread_create(&all[i], &attributes, work, NULL) != 0) return 5;
  pthread_barrier_wait(&allocated);
  tell("with");
  pthread_barrier_wait(&measured);
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  free(all);
  return 0;
}
