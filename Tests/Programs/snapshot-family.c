// Takes snapshots of itself and looks whether it has children that it did not start, or has use of theirs. Usage:
// snapshot-family THREADS
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t childSignals;
static void onChild(int number) { (void)number, childSignals++; }
static void *idle(void *unused) {
  for (;;) pause();
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  struct sigaction action = {0};
  action.sa_handler = onChild;
  sigaction(SIGCHLD, &action, NULL);
  for (int i = atoi(argv[1]); i > 0; i--) {
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
  }
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  int strangers = 0;
  for (int i = 0; i < 20; i++) {
    if (snapshot && snapshot("family") <= 0) return 3;
    // At once, and when the image is likely to be written.
    for (int k = 0; k < 2; k++) {
      int status;
      if (waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD) strangers++;
      if (wait(&status) != -1 || errno != ECHILD) strangers++;
      usleep(5000);
    }
  }
  struct rusage children;
  struct tms all;
  getrusage(RUSAGE_CHILDREN, &children);
  times(&all);
  long used = children.ru_utime.tv_sec + children.ru_utime.tv_usec + children.ru_stime.tv_sec +
              children.ru_stime.tv_usec + children.ru_minflt + children.ru_nvcsw + children.ru_maxrss + all.tms_cutime +
              all.tms_cstime;
  pid_t child = fork();
  if (child == 0) _exit(9);
  int status;
  pid_t ended;
  do ended = wait(&status);
  while (ended < 0 && errno == EINTR);
  getrusage(RUSAGE_CHILDREN, &children);
  printf("used before %ld, after %d; ", used, children.ru_minflt > 0 && children.ru_maxrss > 0);
  printf("strangers %d, own child %d with status %d, signals %d\n", strangers, ended == child, WEXITSTATUS(status),
         (int)childSignals);
  return 0;
}
