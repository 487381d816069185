// Copies a child with many threads, as an inspector does, and checks whether the child was disturbed.
// Usage: process-copies COPIES KILLS BURNERS: the number of copies, of inspectors that are killed, and of other
// processes that compute at the same time. Prints any failure; exits with 1 then.

#define _GNU_SOURCE
#include "CProcessCalls.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHURNING = 64, NAPPING = 4, WORDS = 512, PAGE = 4096, BLOCKS = 16, NAP_MILLISECONDS = 400 };
enum {
  PATIENCE_TRIES = 6000,           // of ten milliseconds
  LONGEST_LIFE_MILLISECONDS = 100, // of an inspector that is killed, with a processor for itself
};

struct shared {
  volatile unsigned long counters[CHURNING];
  volatile int early, naps, children, changePattern, patternChanged, readEnded;
};

static struct shared *shared;
static volatile unsigned long pattern[WORDS] __attribute__((aligned(PAGE)));
static int failures;

static void fail(const char *what, long number) {
  printf("%s: %ld\n", what, number);
  failures++;
}

static void pause_for(long milliseconds) {
  struct timespec moment = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&moment, NULL);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void *churn(void *argument) {
  long number = (long)argument;
  char *blocks[BLOCKS] = {0};
  for (unsigned state = (unsigned)number;; shared->counters[number]++) {
    state = state * 1664525 + 1013904223;
    unsigned index = (state >> 8) % BLOCKS;
    if (blocks[index] && blocks[index][0] != (char)index) abort();
    free(blocks[index]);
    blocks[index] = malloc(16 + (state >> 20));
    blocks[index][0] = (char)index;
    if (state >> 26 == 0) usleep(200);
  }
}

static void *nap(void *argument) {
  struct timespec time = {0, NAP_MILLISECONDS * 1000000};
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  for (;; __atomic_add_fetch(&shared->naps, 1, __ATOMIC_SEQ_CST)) {
    struct timeval interval = {0, NAP_MILLISECONDS * 1000};
    double begin = now();
    int result = 0;
    errno = 0;
    switch ((long)argument) {
      case 0: result = nanosleep(&time, NULL); break;
      case 1: result = poll(NULL, 0, NAP_MILLISECONDS); break;
      case 2: result = select(0, NULL, NULL, NULL, &interval); break;
      default: result = sigtimedwait(&signals, NULL, &time); break;
    }
    bool failed = result < 0 && errno != EAGAIN;
    if (failed || now() - begin < NAP_MILLISECONDS / 1000.0 - 0.001) shared->early++;
  }
}

static void *read_nothing(void *argument) {
  (void)argument;
  int ends[2];
  char byte;
  if (pipe(ends) == 0 && read(ends[0], &byte, 1) != 1) shared->readEnded = 1;
  return NULL;
}

static void *wait_for_ever(void *unused) {
  for (;;) pause();
  return unused;
}

static void *compute(void *unused) {
  for (volatile unsigned long turns = 0;; turns++) {}
  return unused;
}

static void count_child(int signal) {
  (void)signal;
  shared->children++;
}

static void be_target(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); // where only a parent may trace
  signal(SIGCHLD, count_child);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  pthread_t thread;
  for (int word = 0; word < WORDS; word++) pattern[word] = (unsigned long)word + 1;
  for (long number = 0; number < CHURNING; number++) pthread_create(&thread, NULL, churn, (void *)number);
  for (long number = 0; number < NAPPING; number++) pthread_create(&thread, NULL, nap, (void *)number);
  pthread_create(&thread, NULL, read_nothing, NULL);
  for (;;) {
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) shared->children++;
    if (shared->changePattern && !shared->patternChanged) {
      pattern[0] = 0;
      shared->patternChanged = 1;
    }
    usleep(1000);
  }
}

static bool pattern_of(pid_t process, unsigned long *words) {
  struct iovec local = {words, PAGE}, remote = {(void *)pattern, PAGE};
  return process_vm_readv(process, &local, 1, &remote, 1, 0) == PAGE;
}

static void copy_once(pid_t target, bool changes) {
  struct lt_copy_options options = {.mode = LT_COPY_MODE_COPY, .allowFiltered = true};
  struct lt_process_copy copy;
  int result = lt_process_copy_begin(target, &options, &copy);
  if (result != 0) {
    fail("begin", result);
    return;
  }
  unsigned long words[WORDS];
  if (changes) {
    shared->changePattern = 1;
    for (int tries = 0; !shared->patternChanged && tries < 2000; tries++) pause_for(1);
    if (!pattern_of(target, words) || words[0] != 0) fail("the target did not go on", (long)words[0]);
  }
  if (!pattern_of(copy.memory, words)) fail("read", errno);
  unsigned long first = shared->patternChanged && !changes ? 0 : 1;
  for (unsigned long word = 0; word < WORDS; word++)
    if (words[word] != (word ? word + 1 : first)) fail("word of the copy", (long)word);
  if (copy.memory == target) fail("not a copy", copy.memory);
  if (copy.threadCount != CHURNING + NAPPING + 2) fail("threads", (long)copy.threadCount);
  for (size_t i = 0; i < copy.threadCount; i++)
    if (copy.threads[i].state == LT_THREAD_NOT_MET || !copy.threads[i].programCounter || !copy.threads[i].threadPointer)
      fail("a thread without registers", copy.threads[i].thread);
  pid_t process = copy.memory;
  if ((result = lt_process_copy_end(&copy)) != 0) fail("end", result);
  if (kill(process, 0) == 0) fail("the copy is left", process);
}

static void hold_once(pid_t target) {
  struct lt_copy_options options = {.mode = LT_COPY_MODE_HOLD, .stopMilliseconds = 1000};
  struct lt_process_copy held;
  int result = lt_process_copy_begin(target, &options, &held);
  if (result != 0) {
    fail("hold", result);
    return;
  }
  struct lt_process_copy other;
  if ((result = lt_process_copy_begin(target, &options, &other)) != LT_COPY_TRACED) fail("held twice", result);
  if (other.tracer != held.guardian) fail("tracer", other.tracer);
  unsigned long before[CHURNING];
  for (int i = 0; i < CHURNING; i++) before[i] = shared->counters[i];
  pause_for(20);
  for (int i = 0; i < CHURNING; i++)
    if (shared->counters[i] != before[i]) fail("goes on while it is held", i);
  if ((result = lt_process_copy_end(&held)) != 0) fail("end of hold", result);
}

static void refuse(void) {
  struct lt_copy_options options = {.mode = LT_COPY_MODE_COPY, .allowFiltered = true};
  struct lt_process_copy copy;
  int result;
  pid_t ended = fork();
  if (ended == 0) _exit(0);
  siginfo_t info;
  waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT);
  if ((result = lt_process_copy_begin(ended, &options, &copy)) != LT_COPY_ZOMBIE) fail("zombie", result);
  waitpid(ended, NULL, 0);
  if ((result = lt_process_copy_begin(ended, &options, &copy)) != LT_COPY_GONE) fail("gone", result);
}

/// Children of the target, and threads of it that are stopped.
static long left_behind(pid_t target) {
  long left = 0;
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%d/task", target);
  DIR *threads = opendir(path);
  for (struct dirent *entry; threads && (entry = readdir(threads));) {
    char file[400];
    char state = 0;
    int tracer = 0;
    snprintf(file, sizeof file, "%s/%s/children", path, entry->d_name);
    FILE *children = fopen(file, "r");
    if (children && fgets(line, sizeof line, children)) left++;
    if (children) fclose(children);
    snprintf(file, sizeof file, "%s/%s/status", path, entry->d_name);
    FILE *status = fopen(file, "r");
    while (status && fgets(line, sizeof line, status)) {
      sscanf(line, "State: %c", &state);
      sscanf(line, "TracerPid: %d", &tracer);
    }
    if (status) fclose(status);
    if (state == 't' || state == 'T' || tracer != 0) left++;
  }
  if (threads) closedir(threads);
  return left;
}

/// Becomes itself again and again, by a thread that is not the first.
static void *become_again(void *program) {
  char *const arguments[] = {program, NULL};
  pause_for(2 + rand() % 5);
  execv(program, arguments);
  return NULL;
}

static void live_short_lives(char *program) {
  pthread_t thread;
  srand((unsigned)(now() * 1e6));
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  pthread_create(&thread, NULL, compute, NULL);
  pthread_create(&thread, NULL, become_again, program);
  for (;;) pause();
}

/// Copies a process that becomes another one all the time: it may be missed, and must not be held or ended.
static void copy_changing(const char *program, int copies) {
  struct lt_copy_options options = {.mode = LT_COPY_MODE_COPY, .allowFiltered = true};
  pid_t target = fork();
  if (target == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    execl(program, program, NULL);
    _exit(1);
  }
  pause_for(100);
  int made = 0;
  // On a busy machine it is between two programs for long.
  for (int number = 0; number < copies || (made == 0 && number < PATIENCE_TRIES); number++) {
    struct lt_process_copy copy;
    int result = lt_process_copy_begin(target, &options, &copy);
    // It looks ended, or as if it could not be traced, while its first thread makes way for another.
    bool isMissed = result == LT_COPY_NO_CALL || result == LT_COPY_ZOMBIE || result == LT_COPY_GONE ||
                    result == LT_COPY_NOT_ALLOWED || result == LT_COPY_KERNEL_THREAD;
    if (result != 0 && !isMissed) fail("copy of a changing process", result);
    made += result == 0;
    if (result == 0 && (result = lt_process_copy_end(&copy)) != 0) fail("end of a changing process", result);
    pause_for(rand() % 5);
  }
  if (made == 0) fail("copies of a changing process", made);
  long left = 1;
  for (int tries = 0; tries < PATIENCE_TRIES && (left = left_behind(target)) != 0; tries++) pause_for(10);
  if (left != 0) fail("left behind in a changing process", left);
  if (waitpid(target, NULL, WNOHANG) != 0) fail("the changing process has ended", target);
  kill(target, SIGKILL);
  waitpid(target, NULL, 0);
}

static void kill_inspectors(pid_t target, int kills, int longest) {
  for (int number = 0; number < kills; number++) {
    pid_t inspector = fork();
    if (inspector == 0)
      for (;;) copy_once(target, false);
    pause_for(rand() % longest);
    kill(inspector, SIGKILL);
    waitpid(inspector, NULL, 0);
    // The guardian ends a moment later.
    long left = 1;
    for (int tries = 0; tries < PATIENCE_TRIES && left != 0; tries++) {
      left = left_behind(target);
      if (left != 0) pause_for(10);
    }
    if (left != 0) fail("left behind after a kill", left);
  }
}

static void burn(int burners) {
  for (int i = 0; i < burners; i++) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    compute(NULL);
  }
}

int main(int count, char **arguments) {
  if (count == 1) live_short_lives(arguments[0]);
  if (count < 4) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t target = fork();
  if (target == 0) be_target();
  for (int tries = 0; tries < 5000 && !shared->counters[CHURNING - 1]; tries++) pause_for(1);
  for (int tries = 0; tries < 5000 && shared->naps < NAPPING - 1; tries++) pause_for(1);
  refuse();
  burn(atoi(arguments[3]));
  for (int number = 0; number < atoi(arguments[1]); number++) copy_once(target, number == 0);
  hold_once(target);
  copy_changing(arguments[0], atoi(arguments[1]));
  kill_inspectors(target, atoi(arguments[2]), LONGEST_LIFE_MILLISECONDS * (atoi(arguments[3]) / 2 + 1));
  if (left_behind(target)) fail("left behind", left_behind(target));
  unsigned long before[CHURNING];
  for (int i = 0; i < CHURNING; i++) before[i] = shared->counters[i];
  for (int i = 0; i < CHURNING; i++) {
    for (int tries = 0; tries < PATIENCE_TRIES && shared->counters[i] == before[i]; tries++) pause_for(10);
    if (shared->counters[i] == before[i]) fail("a thread does not go on", i);
  }
  if (shared->early) fail("waits that ended early", shared->early);
  if (shared->readEnded) fail("a read that ended", 1);
  if (shared->children) fail("children that the target saw", shared->children);
  if (waitpid(target, NULL, WNOHANG) != 0) fail("the target has ended", target);
  kill(target, SIGKILL);
  waitpid(target, NULL, 0);
  return failures != 0;
}
