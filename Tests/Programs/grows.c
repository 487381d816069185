// Grows to SIZE MB, a block of 64 KiB at a time, and stays so large; goes on to allocate. Says when it begins.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64 << 10, BLOCK_LIMIT = 1 << 14, PAUSE_MICROSECONDS = 5000 };

static void *blocks[BLOCK_LIMIT];

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  int count = atoi(argv[1]) * 16;
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("ready %d\n", (int)getpid());
  if (count > BLOCK_LIMIT) return 2;
  for (int i = 0;; i = (i + 1) % count) {
    free(blocks[i]);
    blocks[i] = malloc(BLOCK);
    if (blocks[i]) memset(blocks[i], 1, BLOCK);
    usleep(PAUSE_MICROSECONDS);
  }
}
