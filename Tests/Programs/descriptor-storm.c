// Takes descriptors that are not its own while three threads allocate, and prints how large its own file is after that.
// Usage: descriptor-storm WAY PATH storm: duplicates its file to all numbers up to 1100 and closes them, again and
// again. exhausted: has no number left. confined: changes its root and its user.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int running = 3;

static void *allocate(void *unused) {
  for (int i = 0; i < 150000; i++) {
    void *volatile block = malloc(16 + (size_t)(i * 7919) % 500);
    free(block);
  }
  atomic_fetch_sub(&running, 1);
  return unused;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  printf("open:");
  for (int i = 0; i < 4096; i++)
    if (fcntl(i, F_GETFD) >= 0) printf(" %d", i);
  printf("\n");
  int own = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  if (own < 0 || write(own, "mine", 4) != 4) return 3;
  if (strcmp(argv[1], "exhausted") == 0) {
    struct rlimit limit = {16, 16};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 4;
    while (dup(own) >= 0) {}
  } else if (strcmp(argv[1], "confined") == 0) {
    if (chroot("/proc") != 0 || setgid(65534) != 0 || setuid(65534) != 0) return 5;
  }
  pthread_t threads[3];
  for (int i = 0; i < 3; i++)
    if (pthread_create(&threads[i], NULL, allocate, NULL) != 0) return 6;
  while (running > 0 && strcmp(argv[1], "storm") == 0) {
    for (int i = 3; i < 1100; i++)
      if (i != own) dup2(own, i);
    for (int i = 3; i < 1100; i++)
      if (i != own) close(i);
  }
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  struct stat status;
  if (fstat(own, &status) != 0) return 7;
  printf("own file: %lld bytes\n", (long long)status.st_size);
  return 0;
}
