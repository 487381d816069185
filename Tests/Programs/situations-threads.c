// Situations of threads, signals and stacks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "situations.h"

static void start(pthread_t *thread, void *(*run)(void *), void *argument) {
  MUST(pthread_create(thread, NULL, run, argument) == 0);
}

// --- threads ---------------------------------------------------------------------------------------------------------

SITUATION(threads_2000, "2,000 threads come and go") {
  for (int round = 0; round < 100; round++) {
    pthread_t threads[20];
    for (int i = 0; i < 20; i++) start(&threads[i], allocate_some, NULL);
    for (int i = 0; i < 20; i++) pthread_join(threads[i], NULL);
  }
  return 0;
}
static atomic_int waiting, released;
static void *wait_for_release(void *unused) {
  allocate(50);
  waiting++;
  while (!released) usleep(1000);
  allocate(50);
  return unused;
}
SITUATION(threads_300_at_once, "300 threads are there at once") {
  pthread_t threads[300];
  for (int i = 0; i < 300; i++) start(&threads[i], wait_for_release, NULL);
  while (waiting < 300) usleep(1000);
  snapshot();
  released = 1;
  for (int i = 0; i < 300; i++) pthread_join(threads[i], NULL);
  return 0;
}
SITUATION(threads_detached, "detached threads allocate until the process ends") {
  for (int i = 0; i < 50; i++) {
    pthread_t thread;
    start(&thread, allocate_some, NULL);
    pthread_detach(thread);
  }
  return 0;
}
static void *allocate_on(void *unused) {
  for (;;) allocate(100);
  return unused;
}
SITUATION(threads_at_end, "threads allocate while the process ends") {
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    start(&thread, allocate_on, NULL);
  }
  usleep(20000);
  exit(3);
}
static void *be_cancelled(void *unused) {
  for (;;) {
    allocate(100);
    pthread_testcancel();
  }
  return unused;
}
SITUATION(threads_cancelled, "threads are cancelled") {
  for (int i = 0; i < 30; i++) {
    pthread_t thread;
    void *result;
    start(&thread, be_cancelled, NULL);
    MUST(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  }
  return 0;
}
static void *be_cancelled_anywhere(void *unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  volatile unsigned long n = 0;
  for (;;) n++;
  return unused;
}
SITUATION(threads_cancelled_anywhere, "threads are cancelled where they stand") {
  allocate(100);
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    start(&thread, be_cancelled_anywhere, NULL);
    usleep(500);
    MUST(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
  }
  return 0;
}
static void *allocate_on_little(void *unused) {
  for (int i = 0; i < 200; i++) allocate(20);
  return unused;
}
SITUATION(thread_stack_16k, "a thread has the smallest stack") {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  MUST(pthread_attr_setstacksize(&attributes, 16384) == 0);
  for (int i = 0; i < 10; i++) {
    pthread_t thread;
    MUST(pthread_create(&thread, &attributes, allocate_on_little, NULL) == 0);
    pthread_join(thread, NULL);
  }
  return 0;
}
static pthread_key_t key;
static void allocate_at_end(void *value) {
  free(value);
  allocate(10);
}
static void *keep_value(void *unused) {
  pthread_setspecific(key, malloc(30));
  return unused;
}
SITUATION(thread_values, "values of threads are freed when these end") {
  MUST(pthread_key_create(&key, allocate_at_end) == 0);
  for (int i = 0; i < 100; i++) {
    pthread_t thread;
    start(&thread, keep_value, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
static int run_task(void *unused) {
  (void)unused;
  return 0;
}
SITUATION(thread_raw, "a thread is made by clone, outside of the C library") {
  allocate(100);
  char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(stack != MAP_FAILED);
  volatile int number = 1;
  int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
              CLONE_CHILD_CLEARTID;
  MUST(clone(run_task, stack + 65536, flags, NULL, &number, NULL, &number) > 0);
  while (number) usleep(1000);
  munmap(stack, 65536);
  return 0;
}
static void *name_itself(void *name) {
  prctl(PR_SET_NAME, name);
  allocate(100);
  char text[16];
  prctl(PR_GET_NAME, text);
  MUST(strcmp(text, name) == 0);
  return NULL;
}
SITUATION(thread_names, "threads name themselves") {
  pthread_t thread;
  start(&thread, name_itself, "worker");
  pthread_join(thread, NULL);
  char text[16];
  prctl(PR_GET_NAME, text);
  puts(text);
  return 0;
}
SITUATION(thread_count, "the process sees the threads that it made, and no others") {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) start(&threads[i], wait_for_release, NULL);
  while (waiting < 3) usleep(1000);
  snapshot();
  int count = 0;
  DIR *directory = opendir("/proc/self/task");
  MUST(directory);
  for (struct dirent *entry; (entry = readdir(directory));) count += *entry->d_name != '.';
  closedir(directory);
  printf("%d\n", count);
  released = 1;
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}

// --- signals ---------------------------------------------------------------------------------------------------------

static atomic_int handled;
static void handle(int number) {
  (void)number;
  allocate(3);
  handled++;
}
SITUATION(signals_in_allocation, "a timer's handler allocates while the process does") {
  signal(SIGALRM, handle);
  struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (handled < 300) allocate(100);
  setitimer(ITIMER_REAL, &never, NULL);
  return 0;
}
SITUATION(signal_alternate_stack, "a handler allocates on an alternate stack of 16 KiB") {
  stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  MUST(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
  for (int i = 0; i < 100; i++) raise(SIGUSR1);
  printf("%d\n", handled);
  return 0;
}
static long painted_below(size_t size, size_t guard) {
  // An alternate stack, with painted memory below it that must not be written.
  char *memory = malloc(size + guard);
  memset(memory, 0x5a, size + guard);
  stack_t stack = {.ss_sp = memory + guard, .ss_size = size};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  MUST(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR2, &action, NULL) == 0);
  raise(SIGUSR2);
  long changed = 0;
  for (size_t i = 0; i < guard; i++) changed += memory[i] != 0x5a;
  return changed;
}
SITUATION(signal_alternate_stack_8k, "the first allocation of a process is made by a handler on an alternate stack of "
                                     "8 KiB, which it does not overrun") {
  printf("%ld\n", painted_below(8192, 8192));
  return 0;
}
static sigjmp_buf back;
static void jump_out(int number) {
  (void)number;
  siglongjmp(back, 1);
}
SITUATION(signal_jumps_out, "a handler jumps out of an allocation") {
  volatile int jumps = 0;
  signal(SIGALRM, jump_out);
  while (jumps < 100) {
    if (sigsetjmp(back, 1) == 0) {
      ualarm(300, 0);
      for (volatile unsigned long n = 0;; n++) {}
    }
    jumps++;
    allocate(10);
  }
  return 0;
}
SITUATION(sleep_whole, "sleep takes its time and is not interrupted") {
  struct timespec before, after;
  allocate(100);
  clock_gettime(CLOCK_MONOTONIC, &before);
  unsigned left = sleep(1);
  clock_gettime(CLOCK_MONOTONIC, &after);
  printf("%u %d\n", left, after.tv_sec - before.tv_sec >= 1);
  return 0;
}
SITUATION(signals_ignored, "SIGTERM, SIGINT and SIGHUP are ignored") {
  const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
  for (int i = 0; i < 3; i++) signal(numbers[i], SIG_IGN);
  for (int i = 0; i < 3; i++) raise(numbers[i]);
  puts("still here");
  return 0;
}
SITUATION(signals_handled, "SIGTERM is handled, then left to the kernel again") {
  MUST(signal(SIGTERM, handle) == SIG_DFL);
  raise(SIGTERM);
  MUST(signal(SIGTERM, SIG_DFL) == handle);
  printf("%d\n", handled);
  fflush(stdout);
  raise(SIGTERM);
  return 9;
}
SITUATION(signal_dispositions, "the process sees the dispositions that it was given") {
  for (int i = 1; i < 65; i++) {
    struct sigaction action;
    if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL) printf("%d ", i);
  }
  puts("");
  return 0;
}
static sigset_t block(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return set;
}
SITUATION(signals_blocked, "SIGTERM is blocked, and taken by sigwait") {
  sigset_t set = block(SIGTERM);
  raise(SIGTERM);
  allocate(1000);
  int number;
  MUST(sigwait(&set, &number) == 0);
  printf("%d\n", number);
  return 0;
}
SITUATION(signal_descriptor, "signals are read from a descriptor") {
  sigset_t set = block(SIGINT);
  int file = signalfd(-1, &set, SFD_CLOEXEC);
  struct signalfd_siginfo information;
  raise(SIGINT);
  MUST(read(file, &information, sizeof information) == sizeof information);
  printf("%u\n", information.ssi_signo);
  close(file);
  return 0;
}
SITUATION(signals_queued, "real-time signals keep their order and values") {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int i = 0; i < 5; i++) sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i});
  allocate(1000);
  snapshot();
  for (int i = 0; i < 5; i++) {
    siginfo_t information;
    MUST(sigwaitinfo(&set, &information) == SIGRTMIN + 1);
    printf("%d ", information.si_value.sival_int);
  }
  puts("");
  return 0;
}
SITUATION(waits_survive_images, "calls that wait are not interrupted by heap images") {
  pthread_t thread;
  start(&thread, wait_for_release, NULL);
  while (!waiting) usleep(1000);
  int ends[2];
  MUST(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    usleep(300000);
    _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  for (int i = 0; i < 5; i++) snapshot();
  char c;
  MUST(read(ends[0], &c, 1) == 1);
  struct timespec time = {0, 200000000}, left = {0, 0};
  for (int i = 0; i < 3; i++) {
    snapshot();
    MUST(nanosleep(&time, &left) == 0);
  }
  released = 1;
  pthread_join(thread, NULL);
  MUST(waitpid(child, NULL, 0) == child);
  close(ends[0]), close(ends[1]);
  return 0;
}
SITUATION(errno_kept, "errno is what it was after allocations") {
  errno = 77;
  for (int i = 0; i < 100000; i++) {
    void *block = malloc(50 + (size_t)i % 100);
    if (errno != 77) break;
    free(block);
    if (errno != 77) break;
  }
  snapshot();
  printf("%d\n", errno);
  return 0;
}

// --- stacks ----------------------------------------------------------------------------------------------------------

static ucontext_t mainContext, otherContext;
static void in_coroutine(void) {
  for (int i = 0; i < 20; i++) {
    allocate(20);
    swapcontext(&otherContext, &mainContext);
  }
}
static int switch_stacks(size_t size) {
  char *memory = mmap(NULL, size + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(memory != MAP_FAILED && mprotect(memory, 8192, PROT_NONE) == 0);
  getcontext(&otherContext);
  otherContext.uc_stack.ss_sp = memory + 8192;
  otherContext.uc_stack.ss_size = size;
  otherContext.uc_link = &mainContext;
  makecontext(&otherContext, in_coroutine, 0);
  for (int i = 0; i < 20; i++) {
    swapcontext(&mainContext, &otherContext);
    if (i % 5 == 0) allocate(20);
  }
  munmap(memory, size + 8192);
  puts("switched");
  return 0;
}
SITUATION(coroutine_256k, "a coroutine allocates on a stack of 256 KiB") { return switch_stacks(256 << 10); }
SITUATION(coroutine_16k, "a coroutine allocates on a stack of 16 KiB") { return switch_stacks(16 << 10); }
SITUATION(coroutine_8k, "a coroutine allocates on a stack of 8 KiB, before anybody else does") {
  return switch_stacks(8 << 10);
}

static int recurse(int depth) {
  char room[64];
  memset(room, depth, sizeof room);
  if (depth % 1000 == 0) allocate(1);
  return depth == 0 ? room[0] : recurse(depth - 1) + room[1] * 0;
}
SITUATION(deep_recursion, "a function calls itself 50,000 times and allocates") { return recurse(50000); }
static jmp_buf target;
static void leave(int depth) {
  allocate(1);
  if (depth == 0) longjmp(target, 1);
  leave(depth - 1);
}
SITUATION(long_jumps, "5,000 jumps leave a hundred frames each") {
  volatile int count = 0;
  if (setjmp(target) && ++count == 5000) {
    printf("%d\n", count);
    return 0;
  }
  leave(100);
  return 9;
}
SITUATION(stack_overflow, "the stack overflows") {
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  allocate(10);
  return recurse(100000000);
}
static void on_fault(int number) {
  (void)number;
  _exit(6);
}
SITUATION(stack_overflow_handled, "the stack overflows, and a handler on an alternate stack ends the process") {
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
  MUST(sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
  return recurse(100000000);
}
#ifdef __aarch64__
// The processor demands an aligned stack.
static void *misaligned_call(void *(*function)(size_t), size_t size) {
  (void)function, (void)size;
  exit(77);
}
// stp x29, x30, [sp, #-16]!; mov x2, x0; mov x0, x1; blr x2; ldp x29, x30, [sp], #16; ret
static const unsigned madeCode[] = {0xa9bf7bfd, 0xaa0003e2, 0xaa0103e0, 0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
#else
// A call of the function in rdi with the argument in rsi.
static const unsigned char madeCode[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0xf8, 0x48, 0x89,
                                         0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
__attribute__((naked, noinline)) static void *misaligned_call(__attribute__((unused)) void *(*function)(size_t),
                                                              __attribute__((unused)) size_t size) {
  __asm__("pushq %rbx\n movq %rdi, %rax\n movq %rsi, %rdi\n subq $8, %rsp\n callq *%rax\n addq $8, %rsp\n popq %rbx\n "
          "retq");
}
#endif
SITUATION(stack_misaligned, "malloc is called with a stack that is not aligned, as by assembly") {
  for (int i = 0; i < 100; i++) free(misaligned_call(malloc, 100));
  puts("allocated");
  return 0;
}
SITUATION(no_frame_found, "code that was made at run time, without unwind information, allocates") {
  unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(page != MAP_FAILED);
  memcpy(page, madeCode, sizeof madeCode);
  __builtin___clear_cache((char *)page, (char *)page + sizeof madeCode);
  MUST(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  void *(*call)(void *(*)(size_t), size_t) = (void *(*)(void *(*)(size_t), size_t))page;
  for (int i = 0; i < 1000; i++) free(call(malloc, 64));
  munmap(page, 4096);
  puts("allocated");
  return 0;
}
