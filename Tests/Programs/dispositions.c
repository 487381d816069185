// Prints the dispositions of signals as it sees and changes them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ran;
static void own(int number) { (void)number, ran++; }
static const char *name(void (*handler)(int)) {
  return handler == SIG_DFL ? "default" : handler == SIG_IGN ? "ignored" : handler == own ? "own" : "another";
}

static int status_of_child(int number) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    raise(number);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return status;
}

int main(void) {
  const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGRTMAX - 2, SIGUSR1, SIGQUIT};
  for (int i = 0; i < 6; i++) {
    int number = numbers[i];
    struct sigaction action, before;
    memset(&before, 0xAA, sizeof before);
    sigaction(number, NULL, &before);
    printf("%d begins as %s with flags %d\n", number, name(before.sa_handler), before.sa_flags & ~0x04000000);
    printf("a child gets status %d\n", status_of_child(number));
    memset(&action, 0, sizeof action);
    action.sa_handler = own;
    action.sa_flags = SA_RESTART;
    printf("%d\n", sigaction(number, &action, &before));
    printf("was %s\n", name(before.sa_handler));
    raise(number);
    printf("was %s\n", name(signal(number, SIG_DFL)));
    printf("was %s\n", name(signal(number, SIG_IGN)));
    raise(number);
    printf("was %s\n", name(signal(number, SIG_DFL)));
    printf("a child gets status %d\n", status_of_child(number));
    action.sa_handler = SIG_DFL;
    action.sa_flags = SA_NODEFER;
    sigaction(number, &action, NULL);
    sigaction(number, NULL, &before);
    printf("is %s with flags %d\n", name(before.sa_handler), before.sa_flags & ~0x04000000);
    printf("refused: %d\n", sigaction(number, (struct sigaction *)0, &before));
    if (i == 2) printf("own handler ran %d times\n", (int)ran);
  }
  return 0;
}
