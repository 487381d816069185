// Frees most of its blocks, so that the allocator keeps much unused memory. Prints the process's private memory in kB,
// as the kernel reports it. The remaining blocks are spread over all the pages, so the allocator can return no memory
// to the kernel.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 128 * 1024, KEPT = 256, SIZE = 1000 };
static void *blocks[COUNT];

int main(void) {
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = malloc(SIZE);
    memset(blocks[i], 1, SIZE);
  }
  for (int i = 0; i < COUNT; i++) {
    if (i % KEPT) free(blocks[i]), blocks[i] = NULL;
  }
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  while (status && fgets(line, sizeof line, status)) {
    unsigned long kilobytes;
    if (sscanf(line, "RssAnon: %lu", &kilobytes) == 1) printf("private %lu\n", kilobytes);
  }
  if (status) fclose(status);
  return 0;
}
