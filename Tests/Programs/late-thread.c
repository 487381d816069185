// Takes images while threads of the program wait for a processor. Usage: late-thread THREADS IMAGES BUSY LATE
// MILLISECONDS
//
// BUSY processes that compute share the late thread's processor, or all processors if LATE is 0. The late thread
// computes as well, but every other process goes first: it gets a turn every second or two. THREADS threads wait and
// wake every MILLISECONDS (0: never). Prints the late thread's stack.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STACK_SIZE = 256 << 10, BUSY_LIMIT = 64, LEAST_PRIORITY = 19, BETWEEN_IMAGES = 20000 };

static atomic_int isOver;
static volatile unsigned long computed;
static int wakeMilliseconds;
static cpu_set_t lateProcessor;

static void *compute_late(void *unused) {
  (void)unused;
  sched_setaffinity(0, sizeof lateProcessor, &lateProcessor);
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LEAST_PRIORITY);
  while (!atomic_load(&isOver)) computed++;
  return NULL;
}

static void *wait_and_wake(void *unused) {
  (void)unused;
  struct timespec moment = {wakeMilliseconds / 1000, wakeMilliseconds % 1000 * 1000000};
  while (wakeMilliseconds && !atomic_load(&isOver)) nanosleep(&moment, NULL);
  while (!atomic_load(&isOver)) usleep(100000);
  return NULL;
}

/// A process that computes until this one ends.
static pid_t start_busy(int isPinned) {
  pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  if (isPinned) sched_setaffinity(0, sizeof lateProcessor, &lateProcessor);
  for (;;) computed++;
}

int main(int count, char **arguments) {
  if (count != 6) return 2;
  int threadCount = atoi(arguments[1]), images = atoi(arguments[2]), busy = atoi(arguments[3]);
  int hasLate = atoi(arguments[4]);
  wakeMilliseconds = atoi(arguments[5]);
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  CPU_ZERO(&lateProcessor);
  CPU_SET(sched_getcpu(), &lateProcessor);
  pid_t processes[BUSY_LIMIT];
  if (busy > BUSY_LIMIT) return 2;
  for (int i = 0; i < busy; i++) processes[i] = start_busy(hasLate);
  pthread_t *threads = calloc((size_t)threadCount, sizeof *threads), late;
  for (int i = 0; i < threadCount; i++)
    if (pthread_create(&threads[i], NULL, wait_and_wake, NULL) != 0) return 3;
  if (hasLate) {
    pthread_attr_t attributes;
    char *stack = aligned_alloc(4096, STACK_SIZE);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK_SIZE);
    printf("stack %p %p\n", (void *)stack, (void *)(stack + STACK_SIZE));
    fflush(stdout);
    if (pthread_create(&late, &attributes, compute_late, NULL) != 0) return 3;
    while (computed == 0) usleep(1000);
  }
  int taken = 0;
  for (int i = 0; snapshot && i < images; i++) {
    usleep(BETWEEN_IMAGES);
    taken += snapshot("late") > 0;
  }
  for (int i = 0; i < busy; i++) kill(processes[i], SIGKILL);
  for (int i = 0; i < busy; i++) waitpid(processes[i], NULL, 0);
  atomic_store(&isOver, 1);
  for (int i = 0; i < threadCount; i++) pthread_join(threads[i], NULL);
  if (hasLate) pthread_join(late, NULL);
  free(threads);
  return snapshot && taken != images;
}
