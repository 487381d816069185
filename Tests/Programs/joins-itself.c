// Has itself recorded while its threads work, and ends that, again and again.
// Usage: joins-itself LIBRARY SETTINGS THREADS TIMES [PLUGIN]
// SETTINGS: with %d for the number of the recording. PLUGIN: a library that is loaded while a recording is under way;
// its function `plugin_allocate` calls aligned_alloc and free once.
//
// Between two recordings the threads call malloc; while one is under way, aligned_alloc. Prints for each recording how
// often. The last one ends with the process.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREAD_LIMIT = 128, HELD = 64, RECORDED_MICROSECONDS = 1000 };
static _Atomic int isCounting, isOver;
static struct worker {
  pthread_t thread;
  _Atomic int seen;
  _Atomic unsigned long counted;
  char *held[HELD];
} workers[THREAD_LIMIT];

static void fail(const char *what) {
  fprintf(stderr, "joins-itself: %s\n", what);
  exit(1);
}

static void *work(void *argument) {
  struct worker *w = argument;
  for (unsigned long i = 0; !isOver; i++) {
    int counts = isCounting;
    atomic_store(&w->seen, counts);
    char **place = &w->held[i % HELD];
    // Blocks of before are freed while a recording is under way, and the other way round.
    if (*place && **place != 'b') fail("a block has changed");
    free(*place);
    size_t size = 16 + i * 40503 % 600;
    *place = counts ? aligned_alloc(32, size) : malloc(size);
    if (!*place) fail("no memory");
    **place = 'b';
    if (counts) w->counted++;
    if (i % 16 == 0) free(strdup("text"));
    if (i % 64 == 0) sched_yield();
  }
  return NULL;
}

static void set_counting(int counts, int threads) {
  isCounting = counts;
  for (int i = 0; i < threads; i++)
    while (workers[i].seen != counts) usleep(100);
  // A thread has seen it before it calls anything: the call that it was at is over.
}

int main(int argc, char **argv) {
  if (argc < 5) return 64;
  int threads = atoi(argv[3]), times = atoi(argv[4]);
  for (int i = 0; i < threads; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror());
  int (*attach)(const char *) = (int (*)(const char *))dlsym(library, "leaktrace_attach");
  int (*detach)(void) = (int (*)(void))dlsym(library, "leaktrace_detach");
  if (!attach || !detach) fail("the library has no such functions");
  if (detach() == 0) fail("nothing was recorded");
  unsigned long before = 0;
  for (int time = 1; time <= times; time++) {
    char settings[8192];
    snprintf(settings, sizeof settings, argv[2], time);
    void *earlier = malloc(100);
    int result = attach(settings);
    // A recording has a free of an earlier block, also if no other thread has got a processor.
    free(earlier);
    if (result) {
      printf("refused %d\n", result);
      return 2;
    }
    if (attach(settings) == 0) fail("two recordings at a time");
    set_counting(1, threads);
    usleep(RECORDED_MICROSECONDS);
    unsigned long more = 0;
    if (argc > 5) {
      void *plugin = dlopen(argv[5], RTLD_LAZY);
      if (!plugin) fail(dlerror());
      void (*allocate)(void) = (void (*)(void))dlsym(plugin, "plugin_allocate");
      for (; more < 100; more++) allocate();
      dlclose(plugin);
    }
    set_counting(0, threads);
    unsigned long counted = more;
    for (int i = 0; i < threads; i++) counted += workers[i].counted;
    printf("counted %lu\n", counted - before);
    before = counted - more;
    if (time < times) {
      if (detach() != 0) fail("the recording does not end");
      usleep(2000);
    }
  }
  isOver = 1;
  for (int i = 0; i < threads; i++) pthread_join(workers[i].thread, NULL);
  printf("done\n");
  return 0;
}
