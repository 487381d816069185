// A server of several processes: each takes connections on one socket, a thread for each, which allocates, now and then
// starts a program, and answers. Workers that end are replaced. What each has allocated by aligned_alloc, which nothing
// else calls, is counted in a file that others can read, before and after each call. Usage: soak-server DIRECTORY
// WORKERS
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESS_LIMIT = 1 << 16, POOL = 500, ALLOCATIONS = 40, PROGRAM_EVERY = 1000 };

struct counts {
  _Atomic uint64_t process, begun, done, reserved;
};
static struct counts *all, *own;
static _Atomic uint32_t processCount;
static int listener;
static volatile sig_atomic_t isEnding;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *pool[POOL];
static atomic_uint next;

static void fail(const char *text) {
  perror(text);
  exit(1);
}

static void *allocate(unsigned i) {
  atomic_fetch_add(&own->begun, 1);
  void *block = aligned_alloc(64, 64 + i % 30 * 64);
  atomic_fetch_add(&own->done, 1);
  return block;
}

static void start_program(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", NULL);
    _exit(127);
  }
  int status;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
}

static void *answer(void *connection) {
  int file = (int)(intptr_t)connection;
  char byte;
  while (read(file, &byte, 1) == 1) {
    unsigned number = 0;
    for (int i = 0; i < ALLOCATIONS; i++) {
      number = atomic_fetch_add(&next, 1);
      void *block = allocate(number);
      pthread_mutex_lock(&lock);
      void *old = pool[number % POOL];
      pool[number % POOL] = block;
      pthread_mutex_unlock(&lock);
      free(old);
    }
    if (number / ALLOCATIONS % PROGRAM_EVERY == 1) start_program();
    if (write(file, &byte, 1) != 1) break;
  }
  close(file);
  return NULL;
}

static _Noreturn void work(uint32_t index) {
  own = &all[index];
  atomic_store(&own->process, (uint64_t)getpid());
  signal(SIGTERM, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  // So that its size says something: threads are few or many at the moment of a look.
  pthread_attr_setstacksize(&attributes, 64 << 10);
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (;;) {
    int file = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    pthread_t thread;
    if (file >= 0 && pthread_create(&thread, &attributes, answer, (void *)(intptr_t)file) != 0) close(file);
  }
}

static pid_t start_worker(void) {
  uint32_t index = atomic_fetch_add(&processCount, 1);
  if (index >= PROCESS_LIMIT) exit(2);
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) work(index);
  return child;
}

static void end(int number) {
  (void)number;
  isEnding = 1;
}

int main(int count, char **arguments) {
  if (count != 3) return 64;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char path[512];
  snprintf(path, sizeof path, "%s/counts", arguments[1]);
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, PROCESS_LIMIT * sizeof *all) != 0) fail(path);
  all = mmap(NULL, PROCESS_LIMIT * sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (all == MAP_FAILED) fail("mmap");
  close(file);
  own = &all[atomic_fetch_add(&processCount, 1)];
  atomic_store(&own->process, (uint64_t)getpid());
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", arguments[1]);
  listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0)
    fail("socket");
  struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  int wanted = atoi(arguments[2]);
  pid_t *workers = calloc((size_t)wanted, sizeof *workers);
  for (int i = 0; i < wanted; i++) workers[i] = start_worker();
  while (!isEnding) {
    int status;
    pid_t ended = waitpid(-1, &status, WNOHANG);
    for (int i = 0; i < wanted && ended > 0; i++)
      if (workers[i] == ended) workers[i] = start_worker();
    if (ended < 0 && errno != EINTR && errno != ECHILD) fail("waitpid");
    if (ended > 0) continue;
    for (unsigned i = 0; i < 20; i++) free(allocate(i));
    usleep(5000);
  }
  for (int i = 0; i < wanted; i++) kill(workers[i], SIGTERM);
  for (int i = 0; i < wanted; i++)
    while (waitpid(workers[i], NULL, 0) < 0 && errno == EINTR) {}
  free(workers);
  return 0;
}
