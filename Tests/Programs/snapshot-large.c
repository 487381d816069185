// Keeps MEGABYTES of blocks that refer to each other at random. Usage: snapshot-large MEGABYTES
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  size_t count = (size_t)atoi(argv[1]) << 17; // words
  void **words = malloc(count * sizeof *words);
  unsigned long state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    words[i] = &words[(state >> 20) % count];
  }
  // Each refers to another: the walk ends where it ends.
  void **at = words;
  for (int i = 0; i < 1000; i++) at = *at;
  printf("%zu\n", (size_t)(at - words));
  return 0;
}
