// Asks for children of any kind after each of five heap images, if it is recorded: it has none but the one that it
// makes itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  char *volatile large = malloc(64 << 20); // takes a moment to write
  memset(large, 7, 64 << 20);
  for (int i = 0; i < 5; i++) {
    if (snapshot) snapshot(NULL);
    int status = 0;
    siginfo_t information = {0};
    pid_t child = waitpid(-1, &status, __WALL);
    printf("waitpid: %s\n", child < 0 ? strerror(errno) : child ? "a child" : "none yet");
    if (snapshot) snapshot(NULL);
    int result = waitid(P_ALL, 0, &information, WEXITED | WNOWAIT | __WALL);
    printf("waitid: %s\n", result < 0 ? strerror(errno) : "a child");
  }
  pid_t own = fork();
  if (own == 0) _exit(7);
  if (snapshot) snapshot(NULL);
  int status = 0;
  pid_t child = waitpid(-1, &status, __WALL);
  printf("own child: %s, status %d\n", child == own ? "found" : "not found", WEXITSTATUS(status));
  return 0;
}
