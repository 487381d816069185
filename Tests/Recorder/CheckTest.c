// Runtime checks: a failed check ends the process, however the program handles signals.

#include "check.h"
#include "os/os.h"

#include "RecorderTest.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void ignore(int signal) { (void)signal; }

/// Breaks an invariant in a child that blocks SIGABRT and has a handler for it. Returns the child's wait status.
static int break_invariant(char *message, size_t size) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    sigset_t all;
    sigfillset(&all);
    signal(SIGABRT, ignore);
    sigprocmask(SIG_BLOCK, &all, NULL);
    dup2(ends[1], STDERR_FILENO);
    char text[LT_NUMBER_SIZE];
    lt_put_number(text, 5, 17); // a base above 16 has no digits
    _exit(0);
  }
  close(ends[1]);
  size_t used = 0;
  for (ssize_t n; used + 1 < size && (n = read(ends[0], message + used, size - used - 1)) > 0;) used += (size_t)n;
  message[used] = 0;
  close(ends[0]);
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  return status;
}

TEST(failed_check, "A broken invariant is named on standard error, and aborts the process") {
  char message[256];
  int status = break_invariant(message, sizeof message);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  EXPECT(strstr(message, "leaktrace: check failed: os.c:") == message);
  const char *end = ": base >= 8 && base <= 16\n";
  EXPECT(strlen(message) > strlen(end) && strcmp(message + strlen(message) - strlen(end), end) == 0);
}

static int evaluations;
static bool count_evaluation(void) { return ++evaluations > 0; }

TEST(held_check, "A check that holds evaluates its condition once and goes on") {
  LT_CHECK(count_evaluation());
  EXPECT(evaluations == 1);
}
