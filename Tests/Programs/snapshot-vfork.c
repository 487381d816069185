// Takes a snapshot of itself while another of its threads waits for a child made by vfork, and is not to be stopped.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int childRuns, imageIsTaken;
static void *parent(void *unused) {
  pid_t child = vfork();
  if (child == 0) {
    // It has its parent's memory, and its parent waits for it to end.
    childRuns = 1;
    while (!imageIsTaken) usleep(1000);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, parent, NULL);
  while (!childRuns) usleep(1000);
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  int result = snapshot ? snapshot("during vfork") : 1;
  imageIsTaken = 1;
  if (result != 1) return 3;
  pthread_join(thread, NULL);
  puts("joined");
  return 0;
}
