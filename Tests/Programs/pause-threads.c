// Allocates a block; then a thread that has allocated nothing so far frees it. Before and after that it writes its
// process ID to PATH.1 and PATH.2, and waits for SIGUSR1. The main thread allocates nothing in the meantime. Usage:
// pause-threads PATH
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *block;
static sem_t begin, done;

static void *end_block(void *unused) {
  sem_wait(&begin);
  free(block);
  block = NULL;
  sem_post(&done);
  return unused;
}

static void wait_at(const char *path, int step) {
  char text[4096];
  snprintf(text, sizeof text, "%s.%d", path, step);
  int file = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int size = snprintf(text, sizeof text, "%d\n", (int)getpid());
  if (write(file, text, (size_t)size) != size) _exit(3);
  close(file);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  int number;
  sigwait(&set, &number);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  sem_init(&begin, 0, 0);
  sem_init(&done, 0, 0);
  block = malloc(1000);
  memset(block, 1, 1000);
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_block, NULL)) return 3;
  wait_at(argv[1], 1);
  sem_post(&begin);
  sem_wait(&done);
  wait_at(argv[1], 2);
  void *volatile last = malloc(10);
  free(last);
  pthread_join(thread, NULL);
  return 0;
}
