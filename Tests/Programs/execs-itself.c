// Becomes itself again after each millisecond or so, until a signal ends it. Its argument is the number of the turn.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  char turn[32];
  free(malloc(100));
  snprintf(turn, sizeof turn, "%ld", count > 1 ? atol(arguments[1]) + 1 : 1);
  usleep(1000);
  execl("/proc/self/exe", arguments[0], turn, (char *)NULL);
  return 2;
}
