// Prints its environment. Replaces another program, linked statically or not.
#include <stdio.h>
#include <stdlib.h>

extern char **environ;

int main(void) {
  free(malloc(100));
  for (char **entry = environ; *entry; entry++) puts(*entry);
  return 0;
}
