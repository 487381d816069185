// Threads wait in calls that the kernel does not restart after a signal. If the program is recorded, it takes ten heap
// images during the waits. Prints which calls returned early.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int pair[6][2], semaphores;
static atomic_int ready;

static const char *ended(long result) {
  return result >= 0 ? "done" : errno == EINTR ? "interrupted" : strerror(errno);
}
static const char *results[6];

static void *waitForEvents(void *unused) {
  int events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(events, EPOLL_CTL_ADD, pair[0][0], &event);
  ready++;
  results[0] = ended(epoll_wait(events, &event, 1, -1));
  return unused;
}
static void *waitForSemaphore(void *unused) {
  struct sembuf take = {0, -1, 0};
  ready++;
  results[1] = ended(semop(semaphores, &take, 1));
  return unused;
}
static void *waitForSignal(void *unused) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  struct timespec limit = {.tv_sec = 60};
  ready++;
  results[2] = ended(sigtimedwait(&set, NULL, &limit));
  return unused;
}
static void *waitForBytes(void *unused) {
  struct timeval limit = {.tv_sec = 60};
  setsockopt(pair[3][0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte;
  ready++;
  results[3] = ended(recv(pair[3][0], &byte, 1, 0));
  return unused;
}
static void *waitInPoll(void *unused) {
  struct pollfd entry = {.fd = pair[4][0], .events = POLLIN};
  ready++;
  results[4] = ended(poll(&entry, 1, 60000));
  return unused;
}
static void *waitForTime(void *unused) {
  struct timespec length = {.tv_sec = 1}, begin, end;
  ready++;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  int result = nanosleep(&length, NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
  results[5] = result == 0 && seconds >= 1 ? "done" : "too early";
  return unused;
}

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  for (int i = 0; i < 6; i++)
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]) != 0) return 1;
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  if (semaphores < 0) return 2;
  void *(*const waits[])(void *) = {waitForEvents, waitForSemaphore, waitForSignal,
                                    waitForBytes,  waitInPoll,       waitForTime};
  pthread_t threads[6];
  for (int i = 0; i < 6; i++) pthread_create(&threads[i], NULL, waits[i], NULL);
  while (ready < 6) usleep(1000);
  usleep(100000);
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  for (int i = 0; snapshot && i < 10; i++) snapshot(NULL);
  struct sembuf give = {0, 1, 0};
  semop(semaphores, &give, 1);
  pthread_kill(threads[2], SIGUSR2);
  for (int i = 0; i < 6; i++)
    if (write(pair[i][1], "x", 1) != 1) return 3;
  for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
  semctl(semaphores, 0, IPC_RMID);
  const char *const names[] = {"epoll_wait", "semop", "sigtimedwait", "recv", "poll", "nanosleep"};
  for (int i = 0; i < 6; i++) printf("%s: %s\n", names[i], results[i]);
  return 0;
}
