// Threads that allocate, free and take locks while the main thread takes snapshots of itself. Prints the sum of their
// results. Usage: snapshot-threads THREADS SNAPSHOTS
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum; // guarded by the lock
static char *shared[SLOTS];
static atomic_int stops;

static void *work(void *argument) {
  unsigned long own = 0, state = (unsigned long)argument * 7919 + 1, counted = 0;
  while (!atomic_load(&stops)) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    size_t size = 16 + (state >> 40) % 500;
    char *block = malloc(size);
    memset(block, (int)size, size);
    pthread_mutex_lock(&lock);
    char **slot = &shared[(state >> 33) % SLOTS];
    char *old = *slot;
    *slot = block;
    sum++;
    pthread_mutex_unlock(&lock);
    counted++;
    own += old ? (unsigned char)old[0] : 0;
    free(old);
  }
  return (void *)(counted + (own & 0));
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int threadCount = atoi(argv[1]), snapshotCount = atoi(argv[2]);
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  pthread_t *threads = calloc((size_t)threadCount, sizeof *threads);
  for (long i = 0; i < threadCount; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < snapshotCount; i++) {
    char label[32];
    snprintf(label, sizeof label, "round %d", i + 1);
    if (snapshot && snapshot(label) != i + 1) return 3;
  }
  atomic_store(&stops, 1);
  unsigned long counted = 0;
  for (int i = 0; i < threadCount; i++) {
    void *result;
    pthread_join(threads[i], &result);
    counted += (unsigned long)result;
  }
  free(threads);
  puts(counted == sum ? "nothing was lost" : "the counts differ");
  return 0;
}
