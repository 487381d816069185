// Finds the recorder's functions, if a recorder was preloaded, and calls them.

#define _GNU_SOURCE
#include "CLeakTrace.h"

#include <errno.h>
#include <stddef.h>

unsigned char cleaktrace_state;

__attribute__((noinline)) void cleaktrace_clear_stack(void) {
  volatile uint64_t area[(64 << 10) / sizeof(uint64_t)];
  for (size_t i = 0; i < sizeof area / sizeof *area; i++) area[i] = 0;
}

#if defined(__linux__) && !defined(CLEAKTRACE_NEVER)

#include <dlfcn.h>

static struct {
  const char *(*tracePath)(void);
  uint64_t (*scopeBegin)(const char *, const char *, uint32_t);
  void (*scopeEnd)(uint64_t, uint64_t);
  void (*mark)(const char *, const char *, uint32_t);
  void (*expectDeallocated)(const void *, uint64_t, const char *, const char *, uint32_t);
  int (*snapshot)(const char *), (*snapshotWritten)(const char *);
  uint64_t (*repetitionBegin)(void);
  int (*roundEnd)(uint64_t, uint64_t, uint64_t, const char *, const char *, uint32_t);
  int (*heapProfile)(void (*)(void *, const uint8_t *, size_t), void *);
} recorder;

// If two threads search at the same time, both find and store the same addresses.
#define FIND(member, name) __atomic_store_n((void **)&recorder.member, dlsym(RTLD_DEFAULT, name), __ATOMIC_RELAXED)

bool cleaktrace_find(void) {
  FIND(tracePath, "leaktrace_trace_path");
  FIND(scopeBegin, "leaktrace_scope_begin");
  FIND(scopeEnd, "leaktrace_scope_end");
  FIND(mark, "leaktrace_mark");
  FIND(expectDeallocated, "leaktrace_expect_deallocated");
  FIND(snapshot, "leaktrace_snapshot");
  FIND(snapshotWritten, "leaktrace_snapshot_written");
  FIND(repetitionBegin, "leaktrace_repetition_begin");
  FIND(roundEnd, "leaktrace_round_end");
  FIND(heapProfile, "leaktrace_heap_profile");
  unsigned char state = recorder.snapshot ? 2 : 1;
  __atomic_store_n(&cleaktrace_state, state, __ATOMIC_RELEASE);
  return state == 2;
}

#define HAS(member) (cleaktrace_is_present() && recorder.member)

const char *cleaktrace_trace_path(void) { return HAS(tracePath) ? recorder.tracePath() : NULL; }
uint64_t cleaktrace_scope_begin(const char *name, const char *file, uint32_t line) {
  return HAS(scopeBegin) ? recorder.scopeBegin(name, file, line) : 0;
}
void cleaktrace_scope_end(uint64_t number, uint64_t graceNanoseconds) {
  if (HAS(scopeEnd)) recorder.scopeEnd(number, graceNanoseconds);
}
void cleaktrace_mark(const char *name, const char *file, uint32_t line) {
  if (HAS(mark)) recorder.mark(name, file, line);
}
void cleaktrace_expect_deallocated(const void *object, uint64_t nanoseconds, const char *name, const char *file,
                                   uint32_t line) {
  if (HAS(expectDeallocated)) recorder.expectDeallocated(object, nanoseconds, name, file, line);
}
int cleaktrace_snapshot(const char *label) { return HAS(snapshot) ? recorder.snapshot(label) : -ENODEV; }
int cleaktrace_snapshot_written(const char *label) {
  return HAS(snapshotWritten) ? recorder.snapshotWritten(label) : -ENODEV;
}
uint64_t cleaktrace_repetition_begin(void) { return HAS(repetitionBegin) ? recorder.repetitionBegin() : 0; }
int cleaktrace_round_end(uint64_t repetition, uint64_t round, uint64_t scope, const char *name, const char *file,
                         uint32_t line) {
  return HAS(roundEnd) ? recorder.roundEnd(repetition, round, scope, name, file, line) : -ENODEV;
}

int cleaktrace_heap_profile(void (*take)(void *, const uint8_t *, size_t), void *context) {
  return HAS(heapProfile) ? recorder.heapProfile(take, context) : -ENODEV;
}

const char *cleaktrace_library_path(void) {
  Dl_info info;
  return HAS(snapshot) && dladdr((void *)recorder.snapshot, &info) ? info.dli_fname : NULL;
}

#else

bool cleaktrace_find(void) {
  __atomic_store_n(&cleaktrace_state, 1, __ATOMIC_RELEASE);
  return false;
}
const char *cleaktrace_trace_path(void) { return NULL; }
uint64_t cleaktrace_scope_begin(const char *name, const char *file, uint32_t line) {
  return (void)name, (void)file, (void)line, 0;
}
void cleaktrace_scope_end(uint64_t number, uint64_t graceNanoseconds) { (void)number, (void)graceNanoseconds; }
void cleaktrace_mark(const char *name, const char *file, uint32_t line) { (void)name, (void)file, (void)line; }
void cleaktrace_expect_deallocated(const void *object, uint64_t nanoseconds, const char *name, const char *file,
                                   uint32_t line) {
  (void)object, (void)nanoseconds, (void)name, (void)file, (void)line;
}
int cleaktrace_snapshot(const char *label) { return (void)label, -ENODEV; }
int cleaktrace_snapshot_written(const char *label) { return (void)label, -ENODEV; }
uint64_t cleaktrace_repetition_begin(void) { return 0; }
int cleaktrace_round_end(uint64_t repetition, uint64_t round, uint64_t scope, const char *name, const char *file,
                         uint32_t line) {
  return (void)repetition, (void)round, (void)scope, (void)name, (void)file, (void)line, -ENODEV;
}
int cleaktrace_heap_profile(void (*take)(void *, const uint8_t *, size_t), void *context) {
  return (void)take, (void)context, -ENODEV;
}
const char *cleaktrace_library_path(void) { return NULL; }

#endif
