// Situations of interruptions: signals, timers, stacks, threads and waits.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <ucontext.h>

#include "situations.h"

/// The kind P_PIDFD of waitid.
enum { BY_DESCRIPTOR = 3 };

// --- signals and timers ----------------------------------------------------------------------------------------------

static volatile sig_atomic_t counts[65];
static void count(int signal) { counts[signal]++; }
SITUATION(all_signals, "the process handles all 64 signals, those of the C library's too") {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } own;
  for (int i = 1; i <= 64; i++) {
    if (i == SIGKILL || i == SIGSTOP) continue;
    // The kernel's structure: the C library keeps two of the signals.
    MUST(syscall(SYS_rt_sigaction, SIGUSR1, NULL, &own, 8) == 0);
    if (i == 32 || i == 33) {
      struct sigaction any = {.sa_handler = count};
      sigaction(SIGUSR2, &any, NULL);
      MUST(syscall(SYS_rt_sigaction, SIGUSR2, NULL, &own, 8) == 0);
      MUST(syscall(SYS_rt_sigaction, i, &own, NULL, 8) == 0);
    } else {
      struct sigaction action = {.sa_handler = count};
      MUST(sigaction(i, &action, NULL) == 0);
    }
  }
  int rounds = 0, wrong = 0;
  do {
    snapshot();
    for (int i = 1; i <= 64; i++)
      if (i != SIGKILL && i != SIGSTOP) syscall(SYS_tgkill, getpid(), gettid(), i);
    rounds++;
    nap(10);
  } while (goes_on());
  for (int i = 1; i <= 64; i++) wrong += i != SIGKILL && i != SIGSTOP && counts[i] != rounds;
  printf("%d with a wrong count\n", wrong);
  // Handlers that end nothing: the process ends by itself.
  return 0;
}
SITUATION(alarms, "an alarm comes every millisecond, and waits are resumed after it") {
  struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval each = {{0, 1000}, {0, 1000}};
  int pipes[2], errors = 0;
  MUST(pipe2(pipes, O_CLOEXEC) == 0);
  setitimer(ITIMER_REAL, &each, NULL);
  do {
    char byte = 'x';
    nap(5);
    free(malloc(100));
    errors += write(pipes[1], &byte, 1) != 1 || read(pipes[0], &byte, 1) != 1;
    snapshot();
  } while (goes_on());
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  printf("%d errors, %s\n", errors, counts[SIGALRM] > 0 ? "alarms" : "no alarm");
  return 0;
}
static void count_and_allocate(int signal) {
  counts[signal]++;
  free(malloc(64));
}
SITUATION(profiling_timer, "a profiler's timer interrupts the process every millisecond, and allocates") {
  struct sigaction action = {.sa_handler = count_and_allocate, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  struct itimerval each = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_PROF, &each, NULL);
  double begin = seconds_now();
  do {
    for (volatile int i = 0; i < 100000; i++) {}
    char *block = malloc(100);
    (void)*(volatile char **)&block;
    free(block);
  } while (goes_on() || seconds_now() - begin < 0.2);
  snapshot();
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
  puts(counts[SIGPROF] > 0 ? "profiled" : "not profiled");
  return 0;
}

// --- stacks ----------------------------------------------------------------------------------------------------------

static ucontext_t scheduler[2], tasks[8];
static int wanderings;
static _Thread_local int lane;
static void wander(void) {
  for (;;) {
    free(malloc(100));
    wanderings++;
    swapcontext(&tasks[lane], &scheduler[0]);
  }
}
SITUATION(switched_stacks, "all work is done on stacks that the program switches, and its own is not in use") {
  enum { SIZE = 256 << 10 };
  for (int i = 0; i < 8; i++) {
    getcontext(&tasks[i]);
    tasks[i].uc_stack.ss_sp =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    tasks[i].uc_stack.ss_size = SIZE;
    makecontext(&tasks[i], wander, 0);
  }
  do {
    for (int i = 0; i < 80; i++) {
      lane = i % 8;
      swapcontext(&scheduler[0], &tasks[lane]);
    }
    snapshot();
    nap(1);
  } while (goes_on());
  printf("%d left over\n", wanderings % 80);
  return 0;
}
static double longestGap;
static __attribute__((noinline)) int descend(int depth) {
  volatile int here = depth;
  if (depth > 0) return descend(depth - 1) + here;
  double last = seconds_now();
  do {
    free(malloc(100));
    usleep(1000);
    double now = seconds_now();
    if (now - last > longestGap) longestGap = now - last;
    last = now;
  } while (goes_on());
  snapshot();
  return here;
}
SITUATION(deep_stack_waits, "a thread with 100,000 callers is held up for half a second at most") {
  descend(100000);
  printf("%s\n", longestGap < 0.5 ? "in time" : "late");
  return 0;
}
/// Replaces this program by another, and tells that one so by a variable. Returns only if that fails.
static int run_again(const char *path, const char *situation) {
  setenv("SITUATION_COUNT", "1", 1);
  execl(path, path, situation, (char *)NULL);
  return 99;
}
static bool runs_again(void) { return getenv("SITUATION_COUNT"); }
static int go_on(void) {
  take_images();
  puts("went on");
  return 0;
}
SITUATION(large_stack_limit, "the program runs again with an unlimited stack, and its memory is laid out anew") {
  if (runs_again()) return go_on();
  struct rlimit limit;
  MUST(getrlimit(RLIMIT_STACK, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  MUST(setrlimit(RLIMIT_STACK, &limit) == 0);
  return run_again("/proc/self/exe", "large_stack_limit");
}
SITUATION(small_stack_limit, "the program runs again with a stack of 128 KiB") {
  if (runs_again()) return go_on();
  struct rlimit limit = {128 << 10, 128 << 10};
  MUST(setrlimit(RLIMIT_STACK, &limit) == 0);
  return run_again("/proc/self/exe", "small_stack_limit");
}
SITUATION(readable_is_executable, "the program runs again with all its memory executable (READ_IMPLIES_EXEC)") {
  if (runs_again()) return go_on();
  MUST(personality(READ_IMPLIES_EXEC) >= 0);
  return run_again("/proc/self/exe", "readable_is_executable");
}
SITUATION(executable_removed, "the program's file is replaced by another while it runs") {
  if (runs_again()) {
    MUST(unlink("copied") == 0 && system("cp /bin/true copied") == 0);
    return go_on();
  }
  MUST(system("cp /proc/$PPID/exe ./copied && chmod 755 copied") == 0);
  return run_again("./copied", "executable_removed");
}

static void *image_later(void *unused) {
  for (int i = 0; i < 3; i++) {
    nap(150);
    snapshot();
  }
  return unused;
}

// --- threads ---------------------------------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_lock(void *unused) {
  free(malloc(100));
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}
SITUATION(threads_5000_at_once, "5,000 threads are there at once") {
  enum { COUNT = 5000 };
  static pthread_t threads[COUNT];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < COUNT; i++)
    if (pthread_create(&threads[i], &attributes, wait_for_lock, NULL) != 0) return 77;
  snapshot();
  take_images();
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < COUNT; i++) pthread_join(threads[i], NULL);
  puts("joined");
  return 0;
}
static void *make_threads(void *flag) {
  while (!*(volatile int *)flag) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, allocate_some, NULL) == 0) pthread_join(thread, NULL);
  }
  return NULL;
}
SITUATION(threads_end_always, "threads begin and end all the time while images are taken") {
  static volatile int isOver;
  pthread_t makers[4];
  for (int i = 0; i < 4; i++) MUST(pthread_create(&makers[i], NULL, make_threads, (void *)&isOver) == 0);
  take_images();
  isOver = 1;
  for (int i = 0; i < 4; i++) pthread_join(makers[i], NULL);
  puts("joined");
  return 0;
}
static void *run_programs(void *flag) {
  long failures = 0;
  while (!*(volatile int *)flag) {
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", (char *)NULL);
      _exit(9);
    }
    int status = 1;
    failures += child < 0 || waitpid(child, &status, 0) != child || status != 0;
  }
  return (void *)failures;
}
SITUATION(vfork_loops, "two threads run programs by vfork all the time while images are taken") {
  static volatile int isOver;
  pthread_t runners[2];
  for (int i = 0; i < 2; i++) MUST(pthread_create(&runners[i], NULL, run_programs, (void *)&isOver) == 0);
  take_images();
  isOver = 1;
  for (int i = 0; i < 2; i++) {
    void *failures;
    pthread_join(runners[i], &failures);
    printf("%ld failures\n", (long)failures);
  }
  return 0;
}
struct clone_request { // struct clone_args of Linux, its first version
  uint64_t flags, pidfd, child, parent, exitSignal, stack, stackSize, tls;
};
SITUATION(clone3_cleared, "children of clone3 begin with default handlers and a descriptor of themselves") {
  signal(SIGTERM, SIG_IGN);
  struct sigaction action = {.sa_handler = count};
  sigaction(SIGUSR1, &action, NULL);
  int others = 0;
  do {
    int descriptor = -1;
    struct clone_request request = {
        .flags = 0x100000000ull | CLONE_PIDFD, .pidfd = (uintptr_t)&descriptor, .exitSignal = SIGCHLD};
    pid_t child = (pid_t)syscall(SYS_clone3, &request, sizeof request);
    MUST(child >= 0);
    if (child == 0) {
      free(malloc(100));
      raise(SIGUSR1);
      _exit(1);
    }
    snapshot();
    siginfo_t information = {0};
    struct pollfd ready = {descriptor, POLLIN, 0};
    while (poll(&ready, 1, -1) != 1) {}
    MUST(waitid((idtype_t)BY_DESCRIPTOR, (id_t)descriptor, &information, WEXITED) == 0);
    others += information.si_code != CLD_KILLED || information.si_status != SIGUSR1;
    close(descriptor);
  } while (goes_on());
  printf("%d other ends\n", others);
  return 0;
}

// --- waits -----------------------------------------------------------------------------------------------------------

enum { LONG_SECONDS = 60, DELAY_MILLISECONDS = 700 };
static int listener;
static void *accept_later(void *unused) {
  nap(DELAY_MILLISECONDS);
  for (int i = 0; i < 2; i++) {
    int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    MUST(accepted >= 0 && close(accepted) == 0);
  }
  return unused;
}
static void *take_later(void *socket) {
  char message[1000];
  nap(DELAY_MILLISECONDS);
  while (recv(*(int *)socket, message, sizeof message, MSG_DONTWAIT) > 0) {}
  return NULL;
}
static void limit_sends(int socket) {
  struct timeval limit = {LONG_SECONDS, 0};
  MUST(setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
}
static int socket_of(int type) {
  int made = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
  MUST(made >= 0);
  return made;
}
SITUATION(limited_sends, "connect and sendmmsg wait under a limit of time, and nothing interrupts them") {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "leaktrace-situation-%d", (int)getpid());
  do {
    pthread_t thread, other;
    pthread_create(&other, NULL, image_later, NULL);
    listener = socket_of(SOCK_STREAM);
    MUST(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 0) == 0);
    int first = socket_of(SOCK_STREAM), second = socket_of(SOCK_STREAM), ends[2];
    MUST(connect(first, (struct sockaddr *)&address, sizeof address) == 0);
    limit_sends(second);
    MUST(pthread_create(&thread, NULL, accept_later, NULL) == 0);
    MUST(connect(second, (struct sockaddr *)&address, sizeof address) == 0);
    pthread_join(thread, NULL);
    close(listener), close(first), close(second);

    MUST(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
    limit_sends(ends[0]);
    char bytes[1000] = "";
    struct iovec piece = {bytes, sizeof bytes};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}};
    while (send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    MUST(pthread_create(&thread, NULL, take_later, &ends[1]) == 0);
    MUST(sendmmsg(ends[0], &message, 1, 0) == 1);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    close(ends[0]), close(ends[1]);
  } while (goes_on());
  puts("sent");
  return 0;
}
enum { TRANSFER = 1 << 20 };
static int transfers[2];
static void *take_slowly(void *unused) {
  static char bytes[16 << 10];
  while (read(transfers[0], bytes, sizeof bytes) > 0) usleep(500);
  return unused;
}
SITUATION(large_writes, "blocking writes of a megabyte to a pipe are written as a whole") {
  static char bytes[TRANSFER];
  pthread_t thread, other;
  int parts = 0;
  MUST(pipe2(transfers, O_CLOEXEC) == 0);
  MUST(pthread_create(&thread, NULL, take_slowly, NULL) == 0);
  pthread_create(&other, NULL, image_later, NULL);
  do {
    for (int i = 0; i < 20; i++) parts += write(transfers[1], bytes, sizeof bytes) != sizeof bytes;
  } while (goes_on());
  close(transfers[1]);
  pthread_join(thread, NULL);
  pthread_join(other, NULL);
  puts(parts ? "in parts" : "as a whole");
  return 0;
}
