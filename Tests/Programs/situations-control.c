// Situations of control: who schedules, stops and traces the process, and who adopts its children.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "situations.h"

// --- schedules -------------------------------------------------------------------------------------------------------

static void *allocate_in_bursts(void *flag) {
  while (!*(volatile int *)flag) {
    allocate(50);
    nap(1);
  }
  return NULL;
}
static void on_one_processor(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  MUST(sched_setaffinity(0, sizeof one, &one) == 0);
}
static pthread_t thread_of_policy(int policy, int priority, void *(*start)(void *), void *argument) {
  pthread_attr_t attributes;
  pthread_t thread;
  struct sched_param parameters = {.sched_priority = priority};
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, policy);
  pthread_attr_setschedparam(&attributes, &parameters);
  MUST(pthread_create(&thread, &attributes, start, argument) == 0);
  return thread;
}
SITUATION(realtime_threads, "real-time threads and an ordinary one allocate on one processor") {
  static volatile int isOver;
  on_one_processor();
  pthread_t threads[] = {thread_of_policy(SCHED_FIFO, 10, allocate_in_bursts, (void *)&isOver),
                         thread_of_policy(SCHED_RR, 20, allocate_in_bursts, (void *)&isOver),
                         thread_of_policy(SCHED_OTHER, 0, churn, (void *)&isOver)};
  do {
    nap(20);
    snapshot();
  } while (goes_on());
  isOver = 1;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  puts("joined");
  return 0;
}
SITUATION(realtime_image, "a real-time thread asks for images while ordinary threads of its processor allocate") {
  static volatile int isOver;
  on_one_processor();
  pthread_t threads[] = {thread_of_policy(SCHED_OTHER, 0, churn, (void *)&isOver),
                         thread_of_policy(SCHED_OTHER, 0, churn, (void *)&isOver)};
  MUST(sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 5}) == 0);
  do {
    nap(5);
    snapshot();
    allocate(1000);
  } while (goes_on());
  isOver = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("joined");
  return 0;
}
struct scheduling { // struct sched_attr of Linux
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
static void *keep_deadlines(void *flag) {
  struct scheduling wanted = {
      .size = sizeof wanted, .policy = 6, .runtime = 5000000, .deadline = 50000000, .period = 50000000};
  if (syscall(SYS_sched_setattr, 0, &wanted, 0) != 0) return (void *)1;
  while (!*(volatile int *)flag) {
    allocate(50);
    snapshot();
    sched_yield();
  }
  return NULL;
}
SITUATION(deadline_thread, "a thread of SCHED_DEADLINE, which cannot fork, allocates and asks for images") {
  static volatile int isOver;
  pthread_t thread;
  void *result;
  MUST(pthread_create(&thread, NULL, keep_deadlines, (void *)&isOver) == 0);
  do {
    nap(200);
    allocate(1000);
  } while (goes_on());
  isOver = 1;
  pthread_join(thread, &result);
  puts(result ? "refused" : "kept");
  return 0;
}
SITUATION(idle_threads, "threads that run only where no other does allocate") {
  static volatile int isOver;
  pthread_t threads[] = {thread_of_policy(SCHED_IDLE, 0, churn, (void *)&isOver),
                         thread_of_policy(SCHED_BATCH, 0, churn, (void *)&isOver)};
  do {
    nap(20);
    snapshot();
  } while (goes_on());
  isOver = 1;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("joined");
  return 0;
}

static void *take_image(void *unused) {
  snapshot();
  return unused;
}
static void *hinder(void *flag) {
  while (!*(volatile int *)flag) {}
  return NULL;
}
SITUATION(starved_thread, "a thread hardly ever gets a processor, and no other waits for it longer than 300 ms") {
  enum { OTHERS = 12 };
  static volatile int isOver, never;
  on_one_processor();
  pid_t busy[OTHERS];
  for (int i = 0; i < OTHERS; i++) {
    if ((busy[i] = fork()) != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    hinder((void *)&never);
  }
  pthread_t thread = thread_of_policy(SCHED_IDLE, 0, hinder, (void *)&isOver);
  cpu_set_t all;
  memset(&all, 0xFF, sizeof all);
  MUST(sched_setaffinity(0, sizeof all, &all) == 0);
  pthread_t runner = thread_of_policy(SCHED_OTHER, 0, churn, (void *)&isOver);
  sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
  double begin = seconds_now(), last = begin, longest = 0;
  int images = 0;
  pthread_t taker;
  do {
    nap(1);
    if (seconds_now() - begin > 0.5 && images < 3 && seconds_now() - begin > 0.5 + images * 0.3) {
      images++;
      pthread_create(&taker, NULL, take_image, NULL);
      pthread_detach(taker);
    }
    double now = seconds_now();
    if (now - last > longest) longest = now - last;
    last = now;
  } while (goes_on() || seconds_now() - begin < 2);
  isOver = 1;
  for (int i = 0; i < OTHERS; i++) {
    kill(busy[i], SIGKILL);
    waitpid(busy[i], NULL, 0);
  }
  pthread_join(thread, NULL);
  pthread_join(runner, NULL);
  puts(longest < 0.3 ? "they ran" : "they were held up");
  return 0;
}

// --- stops -----------------------------------------------------------------------------------------------------------

SITUATION(stopped_and_continued, "another process stops and continues this one all the time") {
  static volatile int isOver;
  pthread_t thread;
  pid_t self = getpid(), stopper = fork();
  if (stopper == 0) {
    for (;;) {
      if (getppid() != self) _exit(0);
      kill(self, SIGSTOP);
      nap(3);
      kill(self, SIGCONT);
      nap(7);
    }
  }
  MUST(pthread_create(&thread, NULL, churn, (void *)&isOver) == 0);
  do {
    nap(20);
    allocate(100);
    snapshot();
  } while (goes_on());
  isOver = 1;
  pthread_join(thread, NULL);
  kill(stopper, SIGKILL);
  waitpid(stopper, NULL, 0);
  kill(self, SIGCONT);
  puts("continued");
  return 0;
}
SITUATION(stops_counted, "a parent counts the stops and continuations of its child") {
  enum { TIMES = 20 };
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < TIMES; i++) {
      allocate(100);
      raise(SIGSTOP);
    }
    while (goes_on()) nap(10);
    snapshot();
    exit(4);
  }
  visit(child);
  int stops = 0, continuations = 0, ends = 0, others = 0;
  while (!ends) {
    siginfo_t information = {0};
    if (waitid(P_ALL, 0, &information, WEXITED | WSTOPPED | WCONTINUED) != 0) {
      MUST(errno == EINTR);
      continue;
    }
    if (information.si_pid != child) others++;
    if (information.si_code == CLD_STOPPED) {
      stops++;
      nap(5);
      kill(child, SIGCONT);
    } else if (information.si_code == CLD_CONTINUED) continuations++;
    else if (information.si_code == CLD_EXITED) ends++;
    else others++;
  }
  printf("%d stops, %d continuations, %d others\n", stops, continuations, others);
  return 0;
}
SITUATION(stays_stopped, "a stopped child stays stopped until its parent continues it") {
  pid_t child = fork();
  if (child == 0) {
    allocate(100);
    raise(SIGSTOP);
    exit(3);
  }
  visit(child);
  int status;
  MUST(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
  do {
    nap(50);
    MUST(waitpid(child, &status, WUNTRACED | WNOHANG) == 0);
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    FILE *file = fopen(path, "re");
    MUST(file && fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    // Its threads are stopped by the signal (T), or traced at the moment (t).
    char state = strrchr(text, ')')[2];
    if (state != 'T' && state != 't') printf("it is in state %c\n", state);
  } while (goes_on());
  kill(child, SIGCONT);
  await("the child", child);
  return 0;
}
static volatile sig_atomic_t tracerEvents;
static void end_tracing(int signal) {
  (void)signal;
  _exit(tracerEvents);
}
SITUATION(traced_by_child,
          "a child traces its parent, as a debugger does, and meets the events of the parent's thread alone") {
  static volatile int isOver;
  int ready[2];
  MUST(pipe2(ready, O_CLOEXEC) == 0);
  pid_t self = getpid(), tracer = fork();
  if (tracer == 0) {
    signal(SIGTERM, end_tracing);
    long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, self, 0, options) != 0) _exit(50);
    MUST(write(ready[1], "r", 1) == 1);
    for (int status;;) {
      pid_t thread = waitpid(-1, &status, __WALL);
      if (thread < 0) _exit(51);
      if (!WIFSTOPPED(status)) continue;
      int event = status >> 16;
      // A new thread stops for its tracer once.
      if (event && event != PTRACE_EVENT_STOP) tracerEvents++;
      ptrace(PTRACE_CONT, thread, 0, event ? 0 : WSTOPSIG(status));
    }
  }
  char byte;
  MUST(read(ready[0], &byte, 1) == 1);
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, churn, (void *)&isOver) == 0);
  do {
    nap(20);
    snapshot();
  } while (goes_on());
  isOver = 1;
  pthread_join(thread, NULL);
  kill(tracer, SIGTERM);
  await("the tracer", tracer);
  return 0;
}
SITUATION(vfork_parent_waits, "a parent waits in vfork for a child that sleeps, while a thread allocates") {
  static volatile int isOver;
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, churn, (void *)&isOver) == 0);
  do {
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/sleep", "sleep", "0.3", (char *)NULL);
      _exit(9);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    child = vfork();
    if (child == 0) {
      syscall(SYS_nanosleep, &(struct timespec){0, 200000000}, NULL);
      _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child && status == 0);
  } while (goes_on());
  isOver = 1;
  pthread_join(thread, NULL);
  puts("waited");
  return 0;
}

// --- children and their ends -----------------------------------------------------------------------------------------

static volatile sig_atomic_t childSignals;
static void count_child(int signal) {
  (void)signal;
  childSignals++;
}
SITUATION(subreaper, "a process adopts orphans and waits for all children there are") {
  MUST(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  struct sigaction action = {.sa_handler = count_child};
  sigaction(SIGCHLD, &action, NULL);
  int strangers = 0, signalsTooMany = 0;
  do {
    int ended = 0;
    childSignals = 0;
    for (int i = 0; i < 10; i++) {
      pid_t child = fork();
      if (child == 0) {
        if (fork() == 0) {
          nap(5);
          _exit(42);
        }
        _exit(41);
      }
    }
    snapshot();
    for (;;) {
      int status;
      pid_t child = waitpid(-1, &status, 0);
      if (child < 0 && errno == EINTR) continue;
      if (child < 0) break;
      ended++;
      strangers += !WIFEXITED(status) || (WEXITSTATUS(status) != 41 && WEXITSTATUS(status) != 42);
    }
    MUST(errno == ECHILD);
    strangers += ended != 20;
    signalsTooMany += childSignals > 20;
  } while (goes_on());
  printf("%d strangers, %d times too many signals\n", strangers, signalsTooMany);
  return 0;
}
static void *make_child(void *pipe) {
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    MUST(write(((int *)pipe)[1], "r", 1) == 1);
    for (;;) pause();
  }
  char byte;
  MUST(read(((int *)pipe)[0], &byte, 1) == 1);
  for (int i = 0; i < 3; i++) {
    snapshot();
    nap(5);
  }
  // The kernel sends the signal at the end of the thread that made the child.
  return (void *)(intptr_t)child;
}
SITUATION(parent_death_signal, "a child gets its signal when the thread that made it ends, and not before") {
  int ends[2], others = 0;
  MUST(pipe2(ends, O_CLOEXEC) == 0);
  do {
    pthread_t thread;
    void *child;
    int status;
    MUST(pthread_create(&thread, NULL, make_child, ends) == 0);
    MUST(pthread_join(thread, &child) == 0);
    MUST(waitpid((pid_t)(intptr_t)child, &status, 0) > 0);
    others += !WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM;
  } while (goes_on());
  printf("%d other ends\n", others);
  return 0;
}
SITUATION(exec_storm, "the program replaces itself a thousand times") {
  char number[16];
  const char *count = getenv("SITUATION_COUNT");
  int done = count ? atoi(count) : 0;
  allocate(100);
  // The clock goes on across the replacements.
  const char *seconds = getenv("SITUATION_SECONDS"), *begin = getenv("SITUATION_BEGIN");
  if (seconds && !begin) {
    char text[32];
    snprintf(text, sizeof text, "%f", seconds_now());
    setenv("SITUATION_BEGIN", text, 1);
  }
  bool isOver = seconds ? begin && seconds_now() - atof(begin) > atof(seconds) : done >= 1000;
  if (isOver) {
    puts("over");
    return 6;
  }
  snprintf(number, sizeof number, "%d", done + 1);
  setenv("SITUATION_COUNT", number, 1);
  execl("/proc/self/exe", "situations-control", "exec_storm", (char *)NULL);
  return 99;
}
SITUATION(exec_storm_threads, "a thread replaces the program again and again while others allocate") {
  const char *count = getenv("SITUATION_COUNT"), *seconds = getenv("SITUATION_SECONDS"),
             *begin = getenv("SITUATION_BEGIN");
  static volatile int never;
  int done = count ? atoi(count) : 0;
  char number[16], text[32];
  if (seconds && !begin) {
    snprintf(text, sizeof text, "%f", seconds_now());
    setenv("SITUATION_BEGIN", text, 1);
  }
  bool isOver = seconds ? begin && seconds_now() - atof(begin) > atof(seconds) : done >= 200;
  if (isOver) {
    puts("over");
    return 6;
  }
  pthread_t thread;
  for (int i = 0; i < 3; i++) MUST(pthread_create(&thread, NULL, churn, (void *)&never) == 0);
  nap(done % 10);
  snprintf(number, sizeof number, "%d", done + 1);
  setenv("SITUATION_COUNT", number, 1);
  execl("/proc/self/exe", "situations-control", "exec_storm_threads", (char *)NULL);
  return 99;
}
SITUATION(fork_storm, "2,000 children come and go, 20 at a time") {
  int left = 2000, running = 0, failures = 0, status;
  do {
    while (left > 0 || running > 0) {
      if (left > 0 && running < 20) {
        pid_t child = fork();
        MUST(child >= 0);
        if (child == 0) {
          free(malloc(100));
          _exit(7);
        }
        left--;
        running++;
        continue;
      }
      MUST(wait(&status) > 0);
      failures += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
      running--;
    }
    left = 200;
  } while (goes_on());
  printf("%d failures\n", failures);
  return 0;
}
