// Receives SIGTERM and SIGINT without a handler, and prints them. The argument names the function, such as sigwait.
// With "reused", a pipe gets the number of a closed signalfd. The bytes in the pipe look like a signal.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static sigset_t signals;

static void by_waiting(int number, const char *way) {
  int found = 0;
  siginfo_t information = {0};
  const struct timespec limit = {.tv_sec = 10}, none = {0};
  kill(getpid(), number);
  if (strcmp(way, "sigwait") == 0) {
    int result = sigwait(&signals, &found);
    printf("sigwait: %d, %d\n", result, found);
  } else if (strcmp(way, "sigwaitinfo") == 0) {
    found = sigwaitinfo(&signals, &information);
    printf("sigwaitinfo: %d, own %d\n", found, information.si_pid == getpid());
  } else {
    found = sigtimedwait(&signals, NULL, &limit);
    printf("sigtimedwait: %d\n", found);
  }
  found = sigtimedwait(&signals, &information, &none);
  printf("then: %d, %s\n", found, strerror(errno));
}

static void by_reading(int number, int waiting) {
  struct signalfd_siginfo found[3];
  int descriptor = signalfd(-1, &signals, waiting ? SFD_CLOEXEC : SFD_NONBLOCK | SFD_CLOEXEC);
  if (!waiting) printf("nothing: %zd, %s\n", read(descriptor, found, sizeof found), strerror(errno));
  kill(getpid(), SIGUSR1);
  kill(getpid(), number);
  ssize_t size = read(descriptor, found, sizeof found);
  printf("signals: %zd,", size / (ssize_t)sizeof *found);
  for (ssize_t i = 0; i < size / (ssize_t)sizeof *found; i++) printf(" %u", found[i].ssi_signo);
  sigset_t other;
  sigemptyset(&other);
  sigaddset(&other, SIGUSR1);
  printf("\nanother set: %d\n", signalfd(descriptor, &other, 0) == descriptor);
  printf("refused: %d, %s\n", signalfd(0, &other, 0), strerror(errno));
  close(descriptor);
}

static void of_a_file(void) {
  struct signalfd_siginfo record = {.ssi_signo = SIGTERM}, found;
  int descriptor = signalfd(-1, &signals, SFD_NONBLOCK), ends[2];
  close(descriptor);
  if (pipe(ends) != 0) return;
  printf("reused: %d\n", ends[0] == descriptor);
  ((unsigned char *)&record)[sizeof record - 1] = 1;
  printf("written: %zd\n", write(ends[1], &record, sizeof record));
  printf("read: %zd\n", read(ends[0], &found, sizeof found));
}

int main(int count, char **arguments) {
  const char *way = count > 1 ? arguments[1] : "";
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  if (strcmp(way, "reused") == 0) {
    of_a_file();
    return 0;
  }
  const int numbers[] = {SIGTERM, SIGINT};
  for (int i = 0; i < 2; i++) {
    if (strncmp(way, "signalfd", 8) == 0) by_reading(numbers[i], strcmp(way, "signalfd") != 0);
    else by_waiting(numbers[i], way);
  }
  return 0;
}
