// A shared object whose functions have frames of ROOM bytes; loaded and unloaded by stacks-calls.
#include "stacks-backtrace.h"

__attribute__((noinline)) static void inner(void (*callback)(void), int depth) {
  volatile char room[ROOM];
  room[ROOM - 1] = (char)depth;
  MARK();
  if (depth) inner(callback, depth - 1);
  else callback();
  MARK();
}

void stacks_plugin_run(void (*callback)(void));
void stacks_plugin_run(void (*callback)(void)) {
  inner(callback, 3);
  MARK();
}
