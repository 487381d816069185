// Runs the tests, or those whose statement has the letters given as an argument.

#include "RecorderTest.h"

#include <string.h>

static struct recorder_test *first;

void add_recorder_test(struct recorder_test *test) {
  test->next = first;
  first = test;
}

int main(int count, char **arguments) {
  int passed = 0;
  for (struct recorder_test *test = first; test; test = test->next) {
    if (count > 1 && !strstr(test->fact, arguments[1])) continue;
    // Before it runs: a sanitizer ends the program where it finds something.
    printf("%s\n", test->fact);
    fflush(stdout);
    test->run();
    passed++;
  }
  printf("%d passed, 0 failed\n", passed);
  return passed == 0;
}
