// Has a child recorded from outside while its threads work, again and again, and checks whether that disturbed it.
// Usage: is-joined LEAKTRACE OUTPUT KIND THREADS ROUNDS KILLS
// OUTPUT: path of traces, with %d for the number of the recording. KIND: the work of the child's threads:
//   busy       they allocate; the main thread waits
//   contended  they allocate from one arena, in sizes beyond the thread caches, and sleep now and then
//   computing  none ever waits, so that a computing thread must be interrupted; one keeps numbers in all registers
// First, KILLS times, the attaching program is killed at some moment. Then, ROUNDS times, the child is recorded and
// counts its calls of aligned_alloc. Prints the count of each round. Prints any failure, and then exits with 1.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  THREAD_LIMIT = 128,
  HELD = 64,
  NAP_MILLISECONDS = 100,
  NAPS = 4,
  PATIENCE_SECONDS = 300,
  LONGEST_LIFE_MICROSECONDS = 120000, // of a guardian that is killed
  ERROR_NUMBER = 77,
};
enum kind { BUSY, CONTENDED, COMPUTING };

// --- the child -------------------------------------------------------------------------------------------------------

static enum kind kind;
static int threads, commands, answers;
static _Atomic int isCounting, isOver;
static _Atomic unsigned early, changed;
static struct worker {
  pthread_t thread;
  _Atomic int seen;
  _Atomic unsigned long counted, turns;
  char *held[HELD];
} workers[THREAD_LIMIT];

static void *work(void *argument) {
  struct worker *w = argument;
  for (unsigned long i = 0; !isOver; i++) {
    int counts = isCounting;
    atomic_store(&w->seen, counts);
    char **place = &w->held[i % HELD];
    if (*place && **place != 'b') changed++;
    free(*place);
    // Contended blocks are too large for the thread caches.
    size_t size = (kind == CONTENDED ? 2000 : 16) + i * 40503 % 600;
    *place = counts ? aligned_alloc(32, size) : malloc(size);
    if (!*place) abort();
    **place = 'b';
    if (counts) w->counted++;
    w->turns++;
    if (kind == CONTENDED && i % 512 == 0) usleep(100);
    if (kind == BUSY && i % 64 == 0) sched_yield();
  }
  return NULL;
}

/// Keeps numbers in registers, and errno, in code that calls nothing.
static void *keep(void *argument) {
  struct worker *w = argument;
  unsigned char numbers[8][32], after[8][32];
  for (int i = 0; i < 8; i++) memset(numbers[i], 17 * i + 3, sizeof numbers[i]);
  for (; !isOver; w->turns++) {
    int counts = isCounting;
    atomic_store(&w->seen, counts);
    errno = ERROR_NUMBER;
    unsigned long left = 200000, r12 = 0x1212, r15 = 0x1515, flags = 0;
#if defined(__x86_64__)
    __asm__ volatile("vmovdqu 0(%[from]), %%ymm0\n\tvmovdqu 32(%[from]), %%ymm1\n\tvmovdqu 64(%[from]), %%ymm2\n\t"
                     "vmovdqu 96(%[from]), %%ymm3\n\tvmovdqu 128(%[from]), %%ymm4\n\tvmovdqu 160(%[from]), %%ymm5\n\t"
                     "vmovdqu 192(%[from]), %%ymm14\n\tvmovdqu 224(%[from]), %%ymm15\n\t"
                     "mov %[a], %%r12\n\tmov %[b], %%r15\n\tstc\n"
                     "1:\n\tlea -1(%[left]), %[left]\n\tjrcxz 2f\n\tjmp 1b\n2:\n\t"
                     "setc %b[flags]\n\tmov %%r12, %[a]\n\tmov %%r15, %[b]\n\t"
                     "vmovdqu %%ymm0, 0(%[to])\n\tvmovdqu %%ymm1, 32(%[to])\n\tvmovdqu %%ymm2, 64(%[to])\n\t"
                     "vmovdqu %%ymm3, 96(%[to])\n\tvmovdqu %%ymm4, 128(%[to])\n\tvmovdqu %%ymm5, 160(%[to])\n\t"
                     "vmovdqu %%ymm14, 192(%[to])\n\tvmovdqu %%ymm15, 224(%[to])\n\tvzeroupper"
                     : [left] "+c"(left), [a] "+r"(r12), [b] "+r"(r15), [flags] "+q"(flags)
                     : [from] "r"(numbers), [to] "r"(after)
                     : "memory", "cc", "r12", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm14", "xmm15");
#else
    memcpy(after, numbers, sizeof after);
    flags = 1;
#endif
    if (memcmp(after, numbers, sizeof after) != 0 || r12 != 0x1212 || r15 != 0x1515 || (flags & 1) == 0) changed++;
    if (errno != ERROR_NUMBER) changed++;
  }
  return NULL;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/// Waits that must neither fail nor end before their time.
static void *nap(void *argument) {
  struct timespec time = {0, NAP_MILLISECONDS * 1000000};
  int set = epoll_create1(EPOLL_CLOEXEC);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  while (!isOver) {
    struct epoll_event event;
    struct timespec until;
    double begin = now();
    int result = 0, expected = 0;
    switch ((long)argument) {
      case 0: result = nanosleep(&time, NULL); break;
      case 1: result = poll(NULL, 0, NAP_MILLISECONDS); break;
      case 2: result = epoll_wait(set, &event, 1, NAP_MILLISECONDS); break;
      default:
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += NAP_MILLISECONDS * 1000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_mutex_lock(&mutex);
        result = pthread_cond_timedwait(&never, &mutex, &until);
        pthread_mutex_unlock(&mutex);
        expected = ETIMEDOUT;
    }
    // The clock of the wait may be a tick behind.
    if (result != expected || now() - begin < (NAP_MILLISECONDS - 2) / 1000.0) early++;
  }
  close(set);
  return NULL;
}

static void await_all(int counts) {
  isCounting = counts;
  // A thread has seen it before it calls anything: the call that it was at is over.
  for (int i = 0; i < threads; i++)
    while (workers[i].seen != counts) kind == COMPUTING ? (void)sched_yield() : (void)usleep(100);
}

/// Commands of the parent: c and e begin and end counting, t asks for the smallest number of turns that any thread made
/// since the last t, n forgets the disturbances that the waits have seen so far, q ends the child.
static unsigned long obey(char command) {
  static unsigned long counted, turns[THREAD_LIMIT];
  unsigned long result = 0, least = ~0ul;
  if (command == 'c') await_all(1);
  if (command == 'e') {
    await_all(0);
    for (int i = 0; i < threads; i++) result += workers[i].counted;
    result -= counted;
    counted += result;
  }
  for (int i = 0; command == 't' && i < threads; i++) {
    unsigned long all = workers[i].turns;
    if (all - turns[i] < least) result = least = all - turns[i];
    turns[i] = all;
  }
  if (command == 'n') early = 0;
  if (command == 'q') {
    isOver = 1;
    result = early | (unsigned long)changed << 32;
  }
  return result;
}

static int live_as_child(void) {
  pthread_t naps[NAPS];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (kind == CONTENDED) mallopt(M_ARENA_MAX, 1);
  for (int i = 0; i < threads; i++)
    pthread_create(&workers[i].thread, NULL, kind == COMPUTING && i == 0 ? keep : work, &workers[i]);
  for (long i = 0; kind == BUSY && i < NAPS; i++) pthread_create(&naps[i], NULL, nap, (void *)i);
  if (kind == COMPUTING) fcntl(commands, F_SETFL, O_NONBLOCK);
  for (char command = 0; command != 'q';) {
    ssize_t size = read(commands, &command, 1);
    if (size == 0) return 1;
    if (size < 0) {
      // Never waits, and is mostly in the C library, where a thread must not be interrupted.
      static char bytes[1 << 20];
      memset(bytes, command, sizeof bytes);
      continue;
    }
    unsigned long result = obey(command);
    if (write(answers, &result, sizeof result) != sizeof result) return 1;
  }
  for (int i = 0; i < threads; i++) pthread_join(workers[i].thread, NULL);
  for (long i = 0; kind == BUSY && i < NAPS; i++) pthread_join(naps[i], NULL);
  return 0;
}

// --- the parent ------------------------------------------------------------------------------------------------------

static pid_t child;
static int failures;

static void fail(const char *what, long number) {
  printf("%s: %ld\n", what, number);
  fflush(stdout);
  if (++failures > 20) {
    kill(child, SIGKILL);
    exit(1);
  }
}

static unsigned long ask(char command) {
  unsigned long result = 0;
  struct pollfd answer = {.fd = answers, .events = POLLIN};
  if (write(commands, &command, 1) != 1 || poll(&answer, 1, PATIENCE_SECONDS * 1000) != 1 ||
      read(answers, &result, sizeof result) != sizeof result) {
    printf("the child does not answer: %c\n", command);
    kill(child, SIGKILL);
    exit(1);
  }
  return result;
}

static pid_t start(const char *const *arguments) {
  extern char **environ;
  pid_t process = 0;
  if (posix_spawn(&process, arguments[0], NULL, NULL, (char *const *)arguments, environ) != 0) {
    printf("cannot be started: %s\n", arguments[0]);
    kill(child, SIGKILL);
    exit(1);
  }
  return process;
}

static int end_of(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// A field of a status of the kernel's; "" without one.
static const char *field(const char *path, const char *name) {
  static char line[256];
  FILE *file = fopen(path, "re");
  size_t length = strlen(name);
  bool isFound = false;
  while (file && !isFound && fgets(line, sizeof line, file)) isFound = strncmp(line, name, length) == 0;
  if (file) fclose(file);
  return isFound ? line + length + 1 + strspn(line + length + 1, "\t ") : "";
}

/// The guardian that a process has started; 0 without one.
static pid_t guardian_of(pid_t process) {
  char path[64], line[64] = "";
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
  FILE *children = fopen(path, "re");
  if (children && !fgets(line, sizeof line, children)) *line = 0;
  if (children) fclose(children);
  return atoi(line);
}

/// True if no thread is traced or stopped, or holds signals back.
static bool is_free(void) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%d/task", child);
  DIR *list = opendir(path);
  bool isFree = list != NULL;
  for (struct dirent *entry; isFree && (entry = readdir(list));) {
    if (atoi(entry->d_name) <= 0) continue;
    snprintf(path, sizeof path, "/proc/%d/task/%s/status", child, entry->d_name);
    // The recorder's own threads hold signals back.
    if (strncmp(field(path, "Name"), "leaktrace", 9) == 0) continue;
    isFree = atoi(field(path, "TracerPid")) == 0 && strchr("tT", *field(path, "State")) == NULL &&
             strtoull(field(path, "SigBlk"), NULL, 16) == 0;
  }
  if (list) closedir(list);
  return isFree;
}

static void await_freedom(void) {
  double end = now() + PATIENCE_SECONDS;
  while (!is_free()) {
    if (now() > end) {
      fail("the child is not let go", child);
      return;
    }
    usleep(1000);
  }
}

static void run(const char *const *arguments, int expected) {
  int result = end_of(start(arguments));
  if (result != expected) fail(arguments[1], result);
}

static void kill_some(const char *const *attach, const char *const *detach, int times) {
  for (int i = 0; i < times; i++) {
    pid_t process = start(attach);
    pid_t guardian = 0;
    double late = now() + PATIENCE_SECONDS;
    siginfo_t ended = {0};
    // Until there is one, nothing is done to the child. There is none if the last one's recording goes on.
    while ((guardian = guardian_of(process)) == 0 && ended.si_pid == 0 && now() < late) {
      waitid(P_PID, (id_t)process, &ended, WEXITED | WNOHANG | WNOWAIT);
      usleep(200);
    }
    if (guardian == 0 && ended.si_pid == 0) fail("no guardian", process);
    usleep((useconds_t)(rand() % LONGEST_LIFE_MICROSECONDS));
    // Now the one, now the other first.
    if (guardian && i % 2) kill(guardian, SIGKILL);
    kill(process, SIGKILL);
    if (guardian) kill(guardian, SIGKILL);
    end_of(process);
    await_freedom();
    ask('t');
    double end = now() + PATIENCE_SECONDS;
    while (ask('t') == 0 && now() < end) usleep(10000);
    if (now() >= end) fail("a thread stands still after a kill", i);
    // It may record or not.
    end_of(start(detach));
    await_freedom();
  }
  ask('n');
}

int main(int argc, char **argv) {
  if (argc < 7) return 64;
  kind = strcmp(argv[3], "busy") == 0 ? BUSY : strcmp(argv[3], "contended") == 0 ? CONTENDED : COMPUTING;
  threads = atoi(argv[4]);
  int toChild[2], fromChild[2];
  if (pipe2(toChild, O_CLOEXEC) != 0 || pipe2(fromChild, O_CLOEXEC) != 0) return 1;
  signal(SIGPIPE, SIG_IGN);
  child = fork();
  if (child == 0) {
    commands = toChild[0], answers = fromChild[1];
    close(toChild[1]);
    close(fromChild[0]);
    return live_as_child();
  }
  commands = toChild[1], answers = fromChild[0];
  close(toChild[0]);
  close(fromChild[1]);
  char number[16], path[4096];
  snprintf(number, sizeof number, "%d", child);
  snprintf(path, sizeof path, argv[2], 0);
  const char *const attach[] = {argv[1], "attach", number, "--quiet", "--wait", "120", "-o", path, NULL};
  const char *const detach[] = {argv[1], "detach", number, "--wait", "120", NULL};
  ask('t');
  // Discard the errors of killed programs, and of detaching a process that does not record.
  int errors = dup(2), nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 2);
  kill_some(attach, detach, atoi(argv[6]));
  dup2(errors, 2);
  for (int i = 1; i <= atoi(argv[5]); i++) {
    snprintf(path, sizeof path, argv[2], i);
    run(attach, 0);
    ask('c');
    usleep(5000);
    unsigned long counted = ask('e');
    run(detach, 0);
    await_freedom();
    printf("counted %lu\n", counted);
    fflush(stdout);
  }
  unsigned long seen = ask('q');
  if (seen & 0xFFFFFFFF) fail("waits that ended early", (long)(seen & 0xFFFFFFFF));
  if (seen >> 32) fail("contents of memory or registers that changed", (long)(seen >> 32));
  int end = end_of(child);
  if (end != 0) fail("the child's end", end);
  printf("done\n");
  return failures ? 1 : 0;
}
