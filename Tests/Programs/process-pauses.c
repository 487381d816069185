// Copies a child as an inspector does, while other processes want its processors, and prints for how long it stood
// still: as the guardian says, and as a thread of the child's sees it that always gets a processor.
// Usage: process-pauses COPIES WAITING COMPUTING BURNERS [MEBIBYTES]: threads of the child's that wait and that
// compute, other processes that compute, and memory of the child's that is in use.

#define _GNU_SOURCE
#include "CProcessCalls.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BURNERS = 256, BETWEEN_COPIES_MICROSECONDS = 20000, LOOK_MICROSECONDS = 100 };

static struct shared {
  _Atomic unsigned long longestGap; ///< nanoseconds between two looks
  _Atomic int isReady, hasWatcher;
} * shared;

static char *volatile memory; ///< the target's memory, which is never read

static unsigned long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec;
}

static void *compute(void *unused) {
  for (volatile unsigned long i = 0;; i++) {}
  return unused;
}

/// Works a little now and then, as a thread of a server's does.
static void *wait_and_work(void *unused) {
  for (;;) {
    usleep(2000);
    for (volatile int i = 0; i < 20000; i++) {}
  }
  return unused;
}

static void *watch(void *unused) {
  struct sched_param parameters = {.sched_priority = 1};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) return unused;
  shared->hasWatcher = 1;
  for (unsigned long last = nanoseconds();;) {
    usleep(LOOK_MICROSECONDS);
    unsigned long now = nanoseconds(), gap = now - last;
    if (gap > shared->longestGap) shared->longestGap = gap;
    last = now;
  }
}

static void be_target(int waiting, int computing, size_t bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  pthread_t thread;
  memory = malloc(bytes + 1);
  if (memory) memset(memory, 1, bytes);
  for (int i = 0; i < waiting; i++) pthread_create(&thread, NULL, wait_and_work, NULL);
  for (int i = 0; i < computing; i++) pthread_create(&thread, NULL, compute, NULL);
  pthread_create(&thread, NULL, watch, NULL);
  shared->isReady = 1;
  for (;;) pause();
}

static int compare(const void *one, const void *other) {
  double difference = *(const double *)one - *(const double *)other;
  return (difference > 0) - (difference < 0);
}

static void print(const char *name, double *milliseconds, int count) {
  qsort(milliseconds, (size_t)count, sizeof *milliseconds, compare);
  printf("%s: median %.1f ms, 95%% within %.1f ms, longest %.1f ms\n", name, milliseconds[count / 2],
         milliseconds[count * 95 / 100], milliseconds[count - 1]);
}

int main(int count, char **arguments) {
  if (count < 5) return 64;
  int copies = atoi(arguments[1]), burners = atoi(arguments[4]), failures = 0, unmet = 0;
  size_t bytes = count > 5 ? (size_t)atoi(arguments[5]) << 20 : 0;
  pid_t burning[MOST_BURNERS];
  if (copies < 1 || burners > MOST_BURNERS) return 64;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t target = fork();
  if (target == 0) be_target(atoi(arguments[2]), atoi(arguments[3]), bytes);
  for (int i = 0; i < burners; i++) {
    burning[i] = fork();
    if (burning[i] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      compute(NULL);
    }
  }
  while (!shared->isReady) usleep(1000);
  sleep(1);
  double *pauses = calloc((size_t)copies, sizeof *pauses), *gaps = calloc((size_t)copies, sizeof *gaps);
  double *whole = calloc((size_t)copies, sizeof *whole), *kernel = calloc((size_t)copies, sizeof *kernel);
  for (int i = 0; i < copies; i++) {
    struct lt_copy_options options = {.mode = LT_COPY_MODE_COPY};
    struct lt_process_copy copy;
    usleep(BETWEEN_COPIES_MICROSECONDS);
    shared->longestGap = 0;
    unsigned long begin = nanoseconds();
    int result = lt_process_copy_begin(target, &options, &copy);
    if (result != 0) {
      printf("copy %d: %d\n", i, result);
      failures++;
      continue;
    }
    pauses[i] = copy.pauseNanoseconds / 1e6;
    kernel[i] = copy.copyNanoseconds / 1e6;
    for (size_t k = 0; k < copy.threadCount; k++) unmet += copy.threads[k].state == LT_THREAD_NOT_MET;
    result = lt_process_copy_end(&copy);
    if (result != 0) {
      printf("end %d: %d\n", i, result);
      failures++;
    }
    whole[i] = (nanoseconds() - begin) / 1e6;
    usleep(1000);
    gaps[i] = shared->longestGap / 1e6;
  }
  print("pause", pauses, copies);
  if (shared->hasWatcher) print("seen from inside", gaps, copies);
  print("the kernel's copy", kernel, copies);
  print("begin to end", whole, copies);
  printf("threads not met: %d, failures: %d\n", unmet, failures);
  for (int i = 0; i < burners; i++) kill(burning[i], SIGKILL);
  kill(target, SIGKILL);
  while (wait(NULL) > 0) {}
  return failures != 0;
}
