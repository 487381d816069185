// Has a userfaultfd that reports forks. "read": a thread reads its events, so that a fork returns. "unread": no thread
// reads them.

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 64 << 10 };

static void *read_events(void *descriptor) {
  struct uffd_msg message;
  while (read(*(int *)descriptor, &message, sizeof message) == sizeof message)
    if (message.event == UFFD_EVENT_FORK) close((int)message.arg.fork.ufd);
  return NULL;
}

int main(int count, char **arguments) {
  // The thread may outlive main.
  static int descriptor;
  descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_EVENT_FORK};
  char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {.range = {(unsigned long)memory, SIZE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (descriptor < 0 || ioctl(descriptor, UFFDIO_API, &api) != 0 || ioctl(descriptor, UFFDIO_REGISTER, &range) != 0) {
    puts("refused by this kernel");
    return 0;
  }
  pthread_t reader;
  if (count > 1 && !strcmp(arguments[1], "read")) pthread_create(&reader, NULL, read_events, &descriptor);
  for (int i = 0; i < 100; i++) free(malloc(100));
  puts("done");
  return 0;
}
