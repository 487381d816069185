// Plays the part of a shell on a terminal of its own: runs a command in the foreground, presses keys, and prints what
// becomes of the job. Usage: terminal interrupt|quit|suspend COMMAND ARGUMENT...
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int terminal;
static char screen[65536];
static size_t screenLength;

/// Reads the output of the job. Returns 1 once the output contains `text`. Returns 0 if the output ended, or if there
/// was none for 100 seconds.
static int readUntil(const char *text) {
  while (memmem(screen, screenLength, text, strlen(text)) == NULL) {
    struct pollfd poller = {terminal, POLLIN, 0};
    if (poll(&poller, 1, 100000) <= 0) return 0;
    ssize_t count = read(terminal, screen + screenLength, sizeof screen - screenLength - 1);
    if (count <= 0) return 0;
    screenLength += (size_t)count;
  }
  screenLength = 0;
  memset(screen, 0, sizeof screen);
  return 1;
}

static void press(char key) {
  if (write(terminal, &key, 1) != 1) exit(2);
}

/// Waits for the job to stop or end, without sitting still for ever.
static int await(pid_t job) {
  for (int i = 0; i < 10000; i++) {
    int status;
    if (waitpid(job, &status, WUNTRACED | WNOHANG) == job) return status;
    usleep(10000);
  }
  printf("the job neither stopped nor ended\n");
  kill(-job, SIGKILL);
  exit(3);
}

static void describe(int status) {
  if (WIFSTOPPED(status)) printf("stopped by signal %d\n", WSTOPSIG(status));
  if (WIFEXITED(status)) printf("exited with %d\n", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) printf("killed by signal %d\n", WTERMSIG(status));
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return 2;
  const char *name = ptsname(terminal);
  if (setsid() < 0) {
    // A process group's leader cannot begin a session.
    pid_t child = fork();
    if (child != 0) {
      int status;
      waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    }
    setsid();
  }
  int own = open(name, O_RDWR | O_CLOEXEC);
  if (own < 0 || ioctl(own, TIOCSCTTY, 0) != 0) return 2;
  signal(SIGTTOU, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  pid_t job = fork();
  if (job == 0) {
    setpgid(0, 0);
    tcsetpgrp(own, getpid());
    signal(SIGTTOU, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    for (int i = 0; i < 3; i++) dup2(own, i);
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  setpgid(job, job);
  if (!readUntil("ready")) return 2;
  const char *way = argv[1];
  if (strcmp(way, "interrupt") == 0) press(3);
  if (strcmp(way, "quit") == 0) press(28);
  if (strcmp(way, "suspend") == 0) {
    for (int i = 0; i < 3; i++) {
      press(26);
      describe(await(job));
      tcsetpgrp(own, job);
      kill(-job, SIGCONT);
      if (!readUntil("continued")) return 2;
    }
    press(3);
  }
  describe(await(job));
  return 0;
}
