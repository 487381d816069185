// Loses a block, for checkers that say so.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  void *block = malloc(20);
  printf("%d\n", block != NULL);
  block = NULL;
  return block != NULL;
}
