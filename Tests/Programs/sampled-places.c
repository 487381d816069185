// Allocates in places of known sizes and shares, and prints the live and the allocated bytes of each.
#include <stdio.h>
#include <stdlib.h>

#define PLACE(name, size, count, keep)                                       \
  __attribute__((noinline)) static void name(void) {                         \
    for (int i = 0; i < (count); i++) {                                      \
      char *volatile block = malloc(size);                                   \
      if (i % (keep) != 0) free(block);                                      \
      else {                                                                 \
        *(char **)block = kept;                                              \
        kept = block;                                                        \
      }                                                                      \
    }                                                                        \
  }                                                                          \
  static const unsigned long name##_total = (unsigned long)(size) * (count), \
                             name##_live = (unsigned long)(size) * (((count) + (keep)-1) / (keep));

static char *kept;
PLACE(nodes, 48, 2000000, 4)
PLACE(strings, 200, 500000, 10)
PLACE(buffers, 4096, 40000, 8)
PLACE(pages, 70000, 1000, 10)

int main(void) {
  nodes();
  strings();
  buffers();
  pages();
  printf("{\"nodes\": [%lu, %lu], \"strings\": [%lu, %lu], \"buffers\": [%lu, %lu], \"pages\": [%lu, %lu]}\n",
         nodes_live, nodes_total, strings_live, strings_total, buffers_live, buffers_total, pages_live, pages_total);
  return 0;
}
