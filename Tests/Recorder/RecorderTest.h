// Tests in C of parts of the recorder, for the sanitizers. scripts/sanitize builds and runs them.

#ifndef LEAKTRACE_RECORDER_TEST_H
#define LEAKTRACE_RECORDER_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct recorder_test {
  const char *fact; /// a statement that is true if the test passes
  void (*run)(void);
  struct recorder_test *next;
};
void add_recorder_test(struct recorder_test *test);

#define TEST(function, statement)                                            \
  static void function(void);                                                \
  __attribute__((constructor)) static void add_##function(void) {            \
    static struct recorder_test test = {.fact = statement, .run = function}; \
    add_recorder_test(&test);                                                \
  }                                                                          \
  static void function(void)

/// Ends the program if the condition is false.
#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (condition) break;                                                          \
    fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
    abort();                                                                       \
  } while (0)

#endif
