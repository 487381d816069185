// Keeps MEGABYTES of words that refer to each other at random. Usage: snapshot-large MEGABYTES [wait|sleep]
// To wait is to have a snapshot begun, and to do nothing for ever; to sleep is to do that for six seconds, and to say how many were left of them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  size_t count = (size_t)atoi(argv[1]) << 17; // words
  void **words = malloc(count * sizeof *words);
  unsigned long state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    words[i] = &words[(state >> 20) % count];
  }
  if (argc > 2 && !strcmp(argv[2], "sleep")) {
    printf("left: %u\n", sleep(6));
    return words[0] == NULL;
  }
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  if (argc > 2 && snapshot) {
    snapshot("large");
    for (;;) pause();
  }
  // Each refers to another: the walk ends where it ends.
  void **at = words;
  for (int i = 0; i < 1000; i++) at = *at;
  printf("%zu\n", (size_t)(at - words));
  return 0;
}
