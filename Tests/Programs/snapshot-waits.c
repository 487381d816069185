// Waits in one call for some seconds, and says whether it returned early.
// snapshot-waits SECONDS CALL [filtered|busy]   "filtered": after confining itself by a filter that allows everything.
// "busy": works instead, confined.

#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int seconds;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static long wait_in(const char *call) {
  struct timespec limit = {.tv_sec = seconds};
  struct timeval shortLimit = {.tv_sec = seconds};
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  if (!strcmp(call, "sleep")) return sleep(seconds);
  if (!strcmp(call, "nanosleep")) return nanosleep(&limit, NULL);
  if (!strcmp(call, "poll")) return poll(NULL, 0, seconds * 1000);
  if (!strcmp(call, "ppoll")) return ppoll(NULL, 0, &limit, &signals);
  if (!strcmp(call, "select")) return select(0, NULL, NULL, NULL, &shortLimit);
  if (!strcmp(call, "epoll_wait")) {
    struct epoll_event event;
    return epoll_wait(epoll_create1(0), &event, 1, seconds * 1000);
  }
  if (!strcmp(call, "sigtimedwait")) return sigtimedwait(&signals, NULL, &limit);
  if (!strcmp(call, "recv")) {
    int pair[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -2;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &shortLimit, sizeof shortLimit);
    return recv(pair[0], &byte, 1, 0);
  }
  return -3;
}

static void confine(void) {
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = 1, .filter = &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) perror("prctl");
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  seconds = atoi(argv[1]);
  if (argc > 3) confine();
  void *volatile block = malloc(100);
  double begin = now();
  if (argc > 3 && !strcmp(argv[3], "busy")) {
    // The last reference to each is the argument of free.
    while (now() - begin < seconds)
      for (int i = 0; i < 100; i++) free(malloc(64));
    puts("worked");
    return block == NULL;
  }
  errno = 0;
  long result = wait_in(argv[2]);
  int error = errno;
  printf("%s returned %ld, %s\n", now() - begin >= seconds - 0.01 ? "in time" : "early", result,
         result < 0 ? strerror(error) : "no error");
  return block == NULL;
}
