// A library that puts the environment elsewhere before main, as libfaketime does.

#include <stdlib.h>

__attribute__((constructor)) static void move(void) { setenv("LEAKTRACE_TEST_MOVED", "1", 1); }
