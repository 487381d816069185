// Keeps MEGABYTES of words that refer to each other at random. Usage: snapshot-large MEGABYTES [wait|PIPE]
// To wait is to have a snapshot begun, and to do nothing for ever. With a named pipe it does nothing until there is
// something to read, and says what ended that wait.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
  if (argc > 2 && strcmp(argv[2], "wait")) {
    // Open for writing as well: there is always a writer, so that nothing but a byte ends the wait.
    struct pollfd entry = {.fd = open(argv[2], O_RDWR), .events = POLLIN};
    int result = poll(&entry, 1, -1);
    printf("poll returned %d, %s\n", result, result < 0 ? strerror(errno) : "no error");
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
