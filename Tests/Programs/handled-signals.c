// Handles SIGTERM and SIGINT in each possible way, sends itself both, and prints its handlers as it sees them.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t plainCalls, detailedCalls, ownSender;

static void plain(int number) { plainCalls += number; }
static void other(int number) { plainCalls += 100 * number; }
static void detailed(int number, siginfo_t *information, void *context) {
  detailedCalls += number;
  ownSender = information->si_pid == getpid() && context != NULL;
}

static const char *name(const struct sigaction *action) {
  if (action->sa_handler == SIG_DFL) return "default";
  if (action->sa_handler == SIG_IGN) return "ignored";
  if (action->sa_flags & SA_SIGINFO) return action->sa_sigaction == detailed ? "detailed" : "?";
  return action->sa_handler == plain ? "plain" : action->sa_handler == other ? "other" : "?";
}

static void show(const char *when, int number) {
  struct sigaction now;
  sigaction(number, NULL, &now);
  printf("%s: %d is %s, flags %x\n", when, number, name(&now), (unsigned)now.sa_flags & ~0x04000000u);
}

static void set(int number, struct sigaction action) {
  struct sigaction before;
  if (sigaction(number, &action, &before) != 0) printf("not set\n");
  printf("before: %s\n", name(&before));
}

static void send(int number) {
  kill(getpid(), number);
  printf("plain %d, detailed %d, own sender %d\n", (int)plainCalls, (int)detailedCalls, (int)ownSender);
}

int main(void) {
  const int numbers[] = {SIGTERM, SIGINT};
  for (int i = 0; i < 2; i++) {
    int number = numbers[i];
    show("at first", number);
    set(number, (struct sigaction){.sa_handler = plain, .sa_flags = SA_RESTART});
    show("plain", number);
    send(number);
    send(number);
    set(number, (struct sigaction){.sa_sigaction = detailed, .sa_flags = SA_SIGINFO | SA_NODEFER});
    show("detailed", number);
    send(number);
    // A child that shares this memory goes back to the default.
    pid_t child = vfork();
    if (child == 0) {
      struct sigaction usual = {.sa_handler = SIG_DFL};
      sigaction(number, &usual, NULL);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    send(number);
    printf("signal returned %d\n", signal(number, plain) == (void (*)(int))(void *)detailed);
    printf("signal returned %d\n", signal(number, other) == plain);
    show("other", number);
    send(number);
    printf("signal returned %d\n", signal(number, SIG_IGN) == other);
    send(number);
    // Its own stack has room for its own handler.
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, NULL);
    set(number, (struct sigaction){.sa_handler = plain, .sa_flags = SA_ONSTACK | SA_RESETHAND});
    send(number);
    show("after one", number);
    set(number, (struct sigaction){.sa_handler = plain});
    fflush(stdout);
    child = fork();
    if (child == 0) {
      send(number);
      fflush(stdout);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  return 0;
}
