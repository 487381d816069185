// Does nothing for a second, and then calls the allocator two million times. A write to standard output divides the
// phases.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *phase) {
  if (write(1, phase, strlen(phase)) < 0) _exit(1);
}

int main(void) {
  // The first call registers the thread.
  void *volatile block = malloc(100);
  say("phase: idle\n");
  sleep(1);
  say("phase: calls\n");
  for (int i = 0; i < 1000000; i++) {
    free(block);
    block = malloc(100 + i % 16);
  }
  say("phase: end\n");
  return block == NULL;
}
