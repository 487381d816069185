// Closes every descriptor above 2 in the way that is asked for, again and again while it allocates, and prints the
// numbers of those it opens. Usage: descriptors loop|range|list
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void closeAll(const char *way) {
  if (strcmp(way, "loop") == 0) {
    for (int i = 3; i < 65536; i++) close(i);
  } else if (strcmp(way, "range") == 0) {
    if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0) abort();
  } else {
    DIR *list = opendir("/proc/self/fd");
    struct dirent *entry;
    while ((entry = readdir(list)) != NULL) {
      int number = atoi(entry->d_name);
      if (number > 2 && number != dirfd(list)) close(number);
    }
    closedir(list);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (int round = 0; round < 5; round++) {
    closeAll(argv[1]);
    int first = open("/dev/null", O_WRONLY), second = open("/dev/zero", O_RDONLY);
    // Enough to fill buffers, which then have to go somewhere.
    for (int i = 0; i < 20000; i++) free(malloc(16 + (size_t)(i * 7919) % 500));
    printf("opened %d and %d\n", first, second);
    if (write(first, "x", 1) != 1) return 1;
  }
  return 0;
}
