// Takes a file's lock and a port again at once after an image. Says how often that was refused. With "threads" another
// thread sleeps at that time.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 40 };

static void *sleep_on(void *unused) {
  (void)unused;
  pause();
  return NULL;
}

static int listen_on(struct sockaddr_in *address) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int result = bind(descriptor, (struct sockaddr *)address, sizeof *address);
  if (result == 0) listen(descriptor, 1);
  socklen_t size = sizeof *address;
  getsockname(descriptor, (struct sockaddr *)address, &size);
  if (result == 0) return descriptor;
  close(descriptor);
  return -1;
}

int main(int count, char **arguments) {
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  pthread_t thread;
  if (count > 1 && !strcmp(arguments[1], "threads")) pthread_create(&thread, NULL, sleep_on, NULL);
  // An image that takes a while to be written.
  void **heap = malloc(4 << 20);
  for (size_t i = 0; i < (4 << 20) / sizeof *heap; i++) heap[i] = &heap[i];
  char path[] = "/tmp/leaktrace-lock.XXXXXX";
  close(mkstemp(path));
  int lockRefusals = 0, portRefusals = 0;
  for (int i = 0; i < ROUNDS; i++) {
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    flock(descriptor, LOCK_EX);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = listen_on(&address);
    if (snapshot) snapshot("held");
    close(descriptor);
    close(listener);
    descriptor = open(path, O_RDWR | O_CLOEXEC);
    lockRefusals += flock(descriptor, LOCK_EX | LOCK_NB) != 0;
    listener = listen_on(&address);
    portRefusals += listener < 0;
    close(descriptor);
    close(listener);
  }
  unlink(path);
  printf("refused: %d locks, %d ports\n", lockRefusals, portRefusals);
  return 0;
}
