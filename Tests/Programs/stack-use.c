// Prints how many bytes of stack calls take below their caller, deepest first use included: one line a call, "BYTES
// NAME".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAINTED = 48 << 10, PAINT = 0xA5, OWN_FRAME = 96 };

/// Bytes below this function's frame that `call` changed.
__attribute__((noinline)) static size_t used_by(void (*call)(void)) {
  // Far enough below not to be this function's own.
  volatile uint8_t *top = (volatile uint8_t *)__builtin_frame_address(0) - OWN_FRAME;
  for (volatile uint8_t *p = top - PAINTED; p < top; p++) *p = PAINT;
  call();
  volatile uint8_t *p = top - PAINTED;
  while (p < top && *p == PAINT) p++;
  return (size_t)(top - p) + OWN_FRAME;
}

static void report(size_t bytes, const char *name) { printf("%zu %s\n", bytes, name); }

static void *kept[64];

static void allocate(void) { kept[0] = malloc(100); }
static void release(int i) {
  free(kept[i]);
  kept[i] = NULL;
}
static void free_one(void) { release(0); }
static void clear(void) { kept[1] = calloc(4, 25); }
static void grow(void) { kept[1] = realloc(kept[1], 3000); }
static void align(void) {
  if (posix_memalign(&kept[2], 64, 200)) abort();
}
static void free_others(void) {
  release(1);
  release(2);
}

/// Calls from many places, so that each has to be worked out.
#define ONE(n)                                                 \
  static __attribute__((noinline)) void place_##n(int depth) { \
    if (depth) place_##n(depth - 1);                           \
    else kept[n] = malloc(10 + n);                             \
    __asm__ volatile("");                                      \
  }
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) static void allocate_in_many_places(void) {
  place_10(1), place_11(1), place_12(1), place_13(1), place_14(1), place_15(1), place_16(1), place_17(1);
  place_20(1), place_21(1), place_22(1), place_23(1), place_24(1), place_25(1), place_26(1), place_27(1);
}
static void allocate_in_more_places(void) {
  place_30(1), place_31(1), place_32(1), place_33(1), place_34(1), place_35(1), place_36(1), place_37(1);
  place_40(1), place_41(1), place_42(1), place_43(1), place_44(1), place_45(1), place_46(1), place_47(1);
}

/// So many that buffers fill and are written.
static void fill_buffers(void) {
  for (uint64_t i = 0, x = 1; i < 200000; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    void **place = &kept[(x >> 40) % 64];
    free(*place);
    *place = malloc((x >> 50) % 300);
  }
}

static void handle(int signal) {
  (void)signal;
  kept[3] = malloc(40);
  release(3);
}
static void raise_signal(void) { raise(SIGUSR1); }

static uint64_t (*scope_begin)(const char *, const char *, uint32_t);
static void (*scope_end)(uint64_t, uint64_t);
static int (*snapshot)(const char *);
static uint64_t scope;
static void begin_scope(void) {
  if (scope_begin) scope = scope_begin("stack", "stack-use.c", 1);
}
static void end_scope(void) {
  if (scope_end) scope_end(scope, 0);
}
static void take_snapshot(void) {
  if (snapshot) snapshot("stack");
}

static void *work(void *unused) {
  (void)unused;
  size_t first = used_by(allocate), first_free = used_by(free_one);
  report(first, "first malloc of a thread");
  report(first_free, "first free of a thread");
  report(used_by(clear), "calloc");
  report(used_by(grow), "realloc");
  report(used_by(align), "posix_memalign");
  report(used_by(free_others), "free");
  report(used_by(allocate_in_many_places), "malloc in many places");
  report(used_by(raise_signal), "malloc in a signal handler");
  void *library = dlopen("libresolv.so.2", RTLD_NOW);
  report(used_by(allocate_in_more_places), "malloc after a library was loaded");
  report(used_by(fill_buffers), "malloc as buffers fill");
  if (library) dlclose(library);
  report(used_by(fill_buffers), "malloc after a library was unloaded");
  report(used_by(begin_scope), "beginning of a scope");
  report(used_by(end_scope), "end of a scope");
  report(used_by(take_snapshot), "heap image");
  return NULL;
}

int main(void) {
  scope_begin = (uint64_t(*)(const char *, const char *, uint32_t))dlsym(RTLD_DEFAULT, "leaktrace_scope_begin");
  scope_end = (void (*)(uint64_t, uint64_t))dlsym(RTLD_DEFAULT, "leaktrace_scope_end");
  snapshot = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGUSR1, &action, NULL);
  puts("1 start"); // standard output has its buffer before anything is measured
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL)) return 1;
  pthread_join(thread, NULL);
  return 0;
}
