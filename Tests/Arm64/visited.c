// A library that `calls` has another process load. Its functions are called in that process.

#include <time.h>

/// Makes the file longer than a page. Otherwise the loader maps its first page twice, as two images.
__attribute__((used)) static const char filler[1 << 17] = {1};

__attribute__((visibility("default"))) void visit_briefly(const char *argument, int *result) {
  int sum = 0;
  for (const char *c = argument; *c; c++) sum += *c;
  *result = sum;
}

__attribute__((visibility("default"))) void visit_slowly(const char *argument, int *result) {
  struct timespec time = {.tv_sec = 1};
  *result = nanosleep(&time, (void *)0) + (*argument == 0);
}
