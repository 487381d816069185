// Allocates from all kinds of C frames, and each time reports the stack that the C compiler's unwinder sees.
#define _GNU_SOURCE
#include "stacks-backtrace.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/// Keeps a call from being the last thing a function does.
#define AFTER() __asm__ volatile("" ::: "memory")

#ifdef FAR_SECTION
/// A linker option places this section far from the rest.
__attribute__((section(".far"), used)) static int farAway = 1;
#endif

// --- recursion -------------------------------------------------------------------------------------------------------

NOINLINE static int descend(int depth, int target) {
  volatile char room[24];
  room[depth % 24] = (char)depth;
  if (depth == 1 || depth == 100 || depth == 5000 || depth == target) MARK();
  if (depth < target) descend(depth + 1, target);
  if (depth == 9999 || depth == 2500 || depth == 2) MARK();
  AFTER();
  return room[depth % 24];
}

/// Goes up and down unevenly, so that little of a stack is as the one before.
NOINLINE static void wander(uint32_t *random, int depth) {
  volatile char room[40];
  room[0] = 0;
  for (int i = 0; i < 2; i++) {
    *random = *random * 1664525u + 1013904223u;
    if (*random >> 28 < 5) MARK();
    if (depth < 9 && *random >> 31) wander(random, depth + 1);
  }
  AFTER();
}

// --- frames of unusual form ------------------------------------------------------------------------------------------

NOINLINE static void with_alloca(size_t size) {
  volatile char *room = alloca(size);
  room[size - 1] = 1;
  MARK();
  if (size < 5000) with_alloca(size * 2 + 8);
  AFTER();
}

NOINLINE static void with_aligned_room(int depth) {
  volatile char room[128] __attribute__((aligned(64)));
  room[0] = (char)depth;
  MARK();
  if (depth) with_aligned_room(depth - 1);
  volatile char *more = alloca((size_t)depth * 16 + 16);
  more[0] = room[0];
  MARK();
}

NOINLINE static long many_arguments(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
  MARK();
  AFTER();
  return a + b + c + d + e + f + g + h + i + j;
}
NOINLINE static long calls_many_arguments(long n) {
  long sum = many_arguments(n, 2, 3, 4, 5, 6, 7, 8, 9, n);
  sum += many_arguments(1, n, sum, 4, 5, 6, 7, sum, n, 10);
  MARK();
  return sum;
}

NOINLINE static void with_big_frame(void) {
  volatile char room[200000];
  room[0] = 1;
  room[199999] = 1;
  MARK();
  AFTER();
}

static inline __attribute__((always_inline)) void inlined_inner(int n) {
  if (n) MARK();
  MARK();
}
NOINLINE static void inlined_outer(int n) {
  inlined_inner(n);
  inlined_inner(n - 1);
  AFTER();
}

static jmp_buf way_back;
/// The call is the last instruction: its return address may belong to the next function.
NOINLINE __attribute__((noreturn)) static void does_not_return(void) {
  MARK();
  longjmp(way_back, 1);
}
NOINLINE __attribute__((noreturn)) static void ends_in_call(void) { does_not_return(); }

NOINLINE static void jump_from(int depth) {
  volatile char room[64];
  room[0] = (char)depth;
  if (depth == 0) {
    MARK();
    longjmp(way_back, 1);
  }
  jump_from(depth - 1);
  AFTER();
}
NOINLINE static void jumps(void) {
  if (setjmp(way_back) == 0) ends_in_call();
  MARK();
  for (volatile int depth = 1; depth < 40; depth += 7) {
    if (setjmp(way_back) == 0) jump_from(depth);
    MARK();
  }
}

NOINLINE static void variadic(int count, ...) {
  va_list list;
  va_start(list, count);
  int sum = 0;
  for (int i = 0; i < count; i++) sum += va_arg(list, int);
  if (sum) MARK();
  va_end(list);
}

// --- called back by the C library ------------------------------------------------------------------------------------

static int calls_left;
static int compare(const void *a, const void *b) {
  if (calls_left > 0 && calls_left-- % 16 == 0) MARK();
  return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}
static void visit(const void *node, VISIT which, int depth) {
  (void)node;
  (void)depth;
  if (which == leaf) MARK();
}
NOINLINE static void callbacks(void) {
  int numbers[64];
  for (int i = 0; i < 64; i++) numbers[i] = (i * 37) % 64;
  calls_left = 128;
  qsort(numbers, 64, sizeof *numbers, compare);
  calls_left = 16;
  int key = 5;
  if (!bsearch(&key, numbers, 64, sizeof *numbers, compare)) abort();
  void *tree = NULL;
  calls_left = 0;
  for (int i = 0; i < 12; i++) tsearch(&numbers[i], &tree, compare);
  twalk(tree, visit);
  for (int i = 0; i < 12; i++) tdelete(&numbers[i], &tree, compare);
}

// --- signals ---------------------------------------------------------------------------------------------------------

static void on_signal(int signal) {
  MARK();
  if (signal == SIGUSR1) raise(SIGUSR2);
  MARK();
}
/// Steps over the two bytes of UD2.
static void on_trap(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  MARK();
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

/// A function whose very first instruction traps: its address less one is another function's.
void traps_at_once(void);
__asm__(
    ".text\n.p2align 4\n.type before_trap,@function\nbefore_trap:\n.cfi_startproc\npushq %rbx\n.cfi_adjust_cfa_offset "
    "8\npopq %rbx\n"
    ".cfi_adjust_cfa_offset -8\npushq %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_endproc\n.size before_trap,.-before_trap\n"
    ".globl traps_at_once\n.type traps_at_once,@function\ntraps_at_once:\n.cfi_startproc\nud2\npushq "
    "%rbp\n.cfi_adjust_cfa_offset 8\n"
    "ud2\nmovq %rsp, %rbp\npopq %rbp\n.cfi_adjust_cfa_offset -8\nud2\nret\n.cfi_endproc\n.size "
    "traps_at_once,.-traps_at_once\n");

NOINLINE static void traps(int depth) {
  if (depth) traps(depth - 1);
  else traps_at_once();
  AFTER();
}

NOINLINE static void signals(int flags) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  raise(SIGUSR1);
  pthread_kill(pthread_self(), SIGUSR2);
  struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = flags | SA_SIGINFO};
  sigaction(SIGILL, &trap, NULL);
  traps(0);
  traps(5);
  MARK();
}

NOINLINE static void signals_on_own_stack(void) {
  size_t size = 1 << 16;
  char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t alternative = {.ss_sp = stack, .ss_size = size};
  sigaltstack(&alternative, NULL);
  for (int i = 0; i < 3; i++) signals(SA_ONSTACK);
  alternative.ss_flags = SS_DISABLE;
  sigaltstack(&alternative, NULL);
}

// --- stacks of one's own ---------------------------------------------------------------------------------------------

static ucontext_t main_context, coroutines[3];
NOINLINE static void yield_from(int self, int depth) {
  volatile char room[32];
  room[0] = (char)depth;
  if (depth) {
    yield_from(self, depth - 1);
  } else {
    MARK();
    swapcontext(&coroutines[self], &main_context);
    MARK();
  }
  AFTER();
}
static void coroutine(int self) {
  for (int i = 0; i < 4; i++) {
    MARK();
    yield_from(self, i * 3 + self);
  }
}
NOINLINE static void run_coroutines(void) {
  enum { SIZE = 1 << 16 };
  for (int i = 0; i < 3; i++) {
    getcontext(&coroutines[i]);
    coroutines[i].uc_stack.ss_sp = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    coroutines[i].uc_stack.ss_size = SIZE;
    coroutines[i].uc_link = NULL; // never runs to its end
    makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
  }
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < 3; i++) {
      swapcontext(&main_context, &coroutines[i]);
      MARK();
    }
}

// --- threads ---------------------------------------------------------------------------------------------------------

static pthread_key_t key;
static void at_thread_end(void *value) {
  (void)value;
  MARK();
}
static void *thread(void *argument) {
  MARK();
  pthread_setspecific(key, argument);
  uint32_t random = (uint32_t)(uintptr_t)argument;
  wander(&random, 0);
  descend(1, 200);
  return NULL;
}
NOINLINE static void threads(void) {
  pthread_key_create(&key, at_thread_end);
  pthread_t all[4];
  for (uintptr_t i = 0; i < 4; i++) pthread_create(&all[i], NULL, thread, (void *)(i + 1));
  for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
}

// --- code that comes and goes ----------------------------------------------------------------------------------------

static void called_by_plugin(void) { MARK(); }
NOINLINE static void plugins(char **paths, int count) {
  // One is likely to be loaded where the other was, with frames of another size at the same addresses.
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < count; i++) {
      void *plugin = dlopen(paths[i], RTLD_LAZY);
      if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
      }
      void (*run)(void (*)(void)) = (void (*)(void (*)(void)))dlsym(plugin, "stacks_plugin_run");
      run(called_by_plugin);
      dlclose(plugin);
      MARK();
    }
}

static void at_exit(void) { MARK(); }
__attribute__((constructor)) static void at_start(void) { MARK(); }

int main(int argc, char **argv) {
  atexit(at_exit);
  MARK();
  for (int i = 0; i < 3; i++) descend(1, 10000);
  uint32_t random = 1;
  for (int i = 0; i < 40; i++) wander(&random, 0);
  with_alloca(8);
  with_aligned_room(3);
  calls_many_arguments(argc);
  with_big_frame();
  inlined_outer(argc + 1);
  variadic(3, 1, 2, 3);
  jumps();
  callbacks();
  signals(0);
  signals_on_own_stack();
  run_coroutines();
  threads();
  plugins(argv + 1, argc - 1);
  return 0;
}
