// Waits for a second in the named call. Another thread takes images until the wait is over. Prints the call's result.
// A slow machine takes few images in a second. The program then waits again, until it has taken IMAGES_NEEDED.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IMAGE_LIMIT = 60, IMAGES_NEEDED = 3, BETWEEN_IMAGES = 150000 };

static atomic_int isOver, images;

static void *take_images(void *unused) {
  (void)unused;
  int (*snapshot)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  for (int i = 0; snapshot && i < IMAGE_LIMIT && !atomic_load(&isOver); i++) {
    usleep(BETWEEN_IMAGES);
    if (atomic_load(&isOver)) break;
    snapshot("waiting");
    atomic_fetch_add(&images, 1);
  }
  return NULL;
}

static long wait_in(const char *call) {
  struct timespec second = {1, 0};
  struct epoll_event event;
  int poll = epoll_create1(EPOLL_CLOEXEC);
  if (!strcmp(call, "epoll_wait")) return epoll_wait(poll, &event, 1, 1000);
  if (!strcmp(call, "epoll_pwait2")) return syscall(SYS_epoll_pwait2, poll, &event, 1, &second, NULL, 0);
  if (!strcmp(call, "sigtimedwait")) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, NULL, &second);
  }
  if (!strcmp(call, "semtimedop")) {
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    long result = semtimedop(semaphore, &down, 1, &second);
    int error = errno;
    semctl(semaphore, 0, IPC_RMID);
    errno = error;
    return result;
  }
  if (!strcmp(call, "io_uring_enter")) {
    struct io_uring_params parameters = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
    struct timespec time = second;
    struct io_uring_getevents_arg argument = {.ts = (unsigned long)&time};
    if (ring < 0) return -1;
    return syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
                   sizeof argument);
  }
  int pair[2];
  struct timeval limit = {1, 0};
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return recv(pair[0], &byte, 1, 0);
}

int main(int count, char **arguments) {
  int isTraced = dlsym(RTLD_DEFAULT, "leaktrace_snapshot") != NULL;
  pthread_t thread;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  pthread_create(&thread, NULL, take_images, NULL);
  long result;
  int error;
  do {
    result = wait_in(count > 1 ? arguments[1] : "epoll_wait");
    error = errno;
  } while (isTraced && atomic_load(&images) < IMAGES_NEEDED);
  atomic_store(&isOver, 1);
  pthread_join(thread, NULL);
  printf("%ld %s\n", result, result < 0 ? strerror(error) : "");
  return 0;
}
