// Allocates and frees COUNT blocks of random sizes in random order, which makes for a trace that compresses badly.
#include <stdio.h>
#include <stdlib.h>

static unsigned long long state = 88172645463325252ull;

static unsigned next(unsigned limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 20) % limit;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  static void *places[4096];
  for (long i = atol(argv[1]); i > 0; i--) {
    void **place = &places[next(4096)];
    free(*place);
    *place = malloc(16 + next(2000));
  }
  for (int i = 0; i < 4096; i++) free(places[i]);
  printf("state %llx\n", state);
  return 21;
}
