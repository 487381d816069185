// Threads that compute, and threads that wait for a time, while copies of the process are made. Argument: the number of
// computing threads. SIGTERM ends the program; it then prints the disturbances that it noticed.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MILLISECONDS = 50, MOST_THREADS = 128 };

static volatile unsigned long rounds[MOST_THREADS];
static volatile int disturbed;
static volatile sig_atomic_t ends;

static void end(int signal) { ends = signal; }

static void *compute(void *argument) {
  long number = (long)argument;
  void *blocks[64] = {0};
  unsigned state = (unsigned)number + 1;
  for (;;) {
    state = state * 1103515245 + 12345;
    void **block = &blocks[state >> 8 & 63];
    free(*block);
    *block = malloc(16 + (state >> 16) % 500);
    memset(*block, 1, 16);
    rounds[number]++;
  }
  return NULL;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/// Every way to wait ends by its time alone.
static void *wait_for_a_time(void *argument) {
  long way = (long)argument;
  int events = epoll_create1(0);
  for (;;) {
    double began = now();
    struct timespec time = {.tv_nsec = WAIT_MILLISECONDS * 1000000};
    struct epoll_event event;
    int result = way == 0   ? nanosleep(&time, NULL)
                 : way == 1 ? poll(NULL, 0, WAIT_MILLISECONDS)
                            : epoll_wait(events, &event, 1, WAIT_MILLISECONDS);
    if (result != 0 || now() - began < WAIT_MILLISECONDS / 1000.0 - 0.001) disturbed++;
  }
  return NULL;
}

int main(int count, char **arguments) {
  long computing = count > 1 ? atol(arguments[1]) : 0;
  signal(SIGTERM, end);
  // A thread that gets the signal is not to be one of those that measure.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t thread;
  for (long number = 0; number < computing; number++) pthread_create(&thread, NULL, compute, (void *)number);
  for (long way = 0; way < 3; way++) pthread_create(&thread, NULL, wait_for_a_time, (void *)way);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("rounds %p\nready %d\n", (void *)rounds, getpid());
  while (!ends) {
    usleep(10000);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) disturbed++;
  }
  int disturbances = disturbed;
  // A busy machine may give a thread no processor for a while.
  long going_on = 0;
  unsigned long before[MOST_THREADS];
  for (long number = 0; number < computing; number++) before[number] = rounds[number];
  for (int tries = 0; tries < 600 && going_on < computing; tries++) {
    usleep(50000);
    going_on = 0;
    for (long number = 0; number < computing; number++) going_on += rounds[number] > before[number];
  }
  printf("disturbed %d, %s\n", disturbances, going_on == computing ? "computing" : "stuck");
  return 0;
}
