// Loads libraries that make objects, and says how many they say they made.
// Usage: late-host [-b] [-c] [-l] [-t THREADS] [-r ROUNDS] LIBRARY... ; -b has a thread that sleeps, -c closes each
// after use, -l has them leak, -t loads them all from each of so many threads at a time, and "@LIBRARY" loads it into a
// namespace of its own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int closes, leaks, sleeps, threadCount = 1, rounds = 1, count;
static char **libraries;
static pthread_barrier_t barrier;

static long work(const char *path) {
  void *handle = path[0] == '@' ? dlmopen(LM_ID_NEWLM, path + 1, RTLD_NOW) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  int32_t (*make)(int32_t) = (int32_t(*)(int32_t))dlsym(handle, "pluginMake");
  int32_t (*shelve)(int32_t, int32_t) = (int32_t(*)(int32_t, int32_t))dlsym(handle, "pluginShelve");
  int32_t (*early)(void) = (int32_t(*)(void))dlsym(handle, "pluginMadeEarly");
  long made = make(100);
  // The initialiser's objects are counted once for each time that the library was initialised.
  if (early && (closes || threadCount == 1)) made += early();
  if (shelve(5, leaks) != 5) exit(2);
  if (closes && dlclose(handle) != 0) exit(3);
  return made;
}

static void *run(void *unused) {
  (void)unused;
  long made = 0;
  pthread_barrier_wait(&barrier);
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < count; i++) made += work(libraries[i]);
  return (void *)made;
}

static void *sleep_on(void *unused) {
  (void)unused;
  pause();
  return NULL;
}

int main(int argc, char **argv) {
  for (int option; (option = getopt(argc, argv, "bclt:r:")) != -1;) {
    if (option == 'c') closes = 1;
    else if (option == 'b') sleeps = 1;
    else if (option == 'l') leaks = 1;
    else if (option == 't') threadCount = atoi(optarg);
    else if (option == 'r') rounds = atoi(optarg);
    else return 64;
  }
  libraries = argv + optind;
  count = argc - optind;
  // glibc's malloc takes no locks in a process of one thread. It does not count the threads that a library in another
  // namespace makes, and the loader's memory breaks then (glibc 2.36).
  pthread_t sleeper;
  if (sleeps) pthread_create(&sleeper, NULL, sleep_on, NULL);
  pthread_barrier_init(&barrier, NULL, (unsigned)threadCount);
  pthread_t threads[16];
  long made = 0;
  if (threadCount == 1) made = (long)run(NULL);
  for (int i = 0; i < threadCount && threadCount > 1; i++) pthread_create(&threads[i], NULL, run, NULL);
  for (int i = 0; i < threadCount && threadCount > 1; i++) {
    void *result;
    pthread_join(threads[i], &result);
    made += (long)result;
  }
  printf("%ld sheets\n", made);
  return 0;
}
