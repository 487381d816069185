// Runs all tests, or the tests whose statement contains the argument. Each test runs in its own process, because the
// recorder's state belongs to the process.

#include "RecorderTest.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct recorder_test *first;

void add_recorder_test(struct recorder_test *test) {
  test->next = first;
  first = test;
}

static bool passes(const struct recorder_test *test) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    test->run();
    // No destructors run, because the test has nothing left to do.
    _exit(0);
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int count, char **arguments) {
  int passed = 0, failed = 0;
  for (struct recorder_test *test = first; test; test = test->next) {
    if (count > 1 && !strstr(test->fact, arguments[1])) continue;
    bool isPassed = passes(test);
    printf("%s %s\n", isPassed ? "passed:" : "FAILED:", test->fact);
    if (isPassed) passed++;
    else failed++;
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
