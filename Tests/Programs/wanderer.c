// Changes its working directory, allocating all the while.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  static const char *const directories[] = {"/", "/usr", "/proc/self", "/"};
  for (int i = 0; i < 4; i++) {
    if (chdir(directories[i]) != 0) return 1;
    for (int j = 0; j < 20000; j++) free(malloc(16 + (size_t)(j * 7919) % 500));
    char *path = getcwd(NULL, 0);
    printf("%s\n", i == 2 ? "/proc/…" : path);
    free(path);
  }
  return 0;
}
