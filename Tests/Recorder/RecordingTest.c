// The recorder as a whole, as threads come and go, record, fill their buffers and end, while images come and go and recording pauses.

#include "event_buffer.h"
#include "hook.h"
#include "image_list.h"
#include "own_stack.h"
#include "process_state.h"
#include "trace_file.h"

#include "RecorderTest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

void *lt_hook_malloc(size_t size);
void *lt_hook_calloc(size_t count, size_t size);
void *lt_hook_realloc(void *block, size_t size);
void lt_hook_free(void *block);
int lt_hook_dlclose(void *handle);

enum { ROUNDS = 4, THREADS = 8, CALLS = 3000 };

/// Blocks that go from thread to thread.
static _Atomic(void *) shared[64];

static __attribute__((noinline)) void *allocate_deep(int depth, size_t size) {
  void *volatile block = depth ? allocate_deep(depth - 1, size) : lt_hook_malloc(size);
  return block;
}

static void *work(void *seed) {
  uint64_t x = (uintptr_t)seed * 2654435761u + 1;
  for (int i = 0; i < CALLS; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    void *block = x & 1 << 20 ? allocate_deep((int)(x >> 50) % 40, 1 + (x >> 40) % 200) : lt_hook_calloc(3, 11);
    block = lt_hook_realloc(block, 300);
    lt_hook_free(atomic_exchange(&shared[(x >> 33) % 64], block));
  }
  return NULL;
}

static void *load_libraries(void *unused) {
  for (int i = 0; i < 20; i++) lt_hook_dlclose(dlopen(RECORDER_TEST_LIBRARIES "/libfirst.so", RTLD_NOW));
  return unused;
}

static void *pause_and_resume(void *unused) {
  for (int i = 0; i < 20; i++) {
    atomic_store(lt_pause_switch, LT_SWITCH_PAUSED);
    lt_hook_free(lt_hook_malloc(5));
    atomic_store(lt_pause_switch, LT_SWITCH_RECORD);
    lt_hook_free(lt_hook_malloc(5));
  }
  return unused;
}

TEST(whole_recording, "A recording of threads that come and go is whole") {
  char path[] = "/tmp/recorder-tests.XXXXXX", output[128];
  EXPECT(mkdtemp(path));
  snprintf(output, sizeof output, "LEAKTRACE_OUTPUT=%s/t", path);
  char *environment[] = {output, "LEAKTRACE_SNAPSHOTS=off", NULL};
  lt_process_load(0, NULL, environment);
  EXPECT(lt_trace_is_writable());
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[THREADS + 2];
    for (int i = 0; i < THREADS + 2; i++)
      EXPECT(pthread_create(&threads[i], NULL, i < THREADS ? work : i == THREADS ? load_libraries : pause_and_resume, (void *)(uintptr_t)(round * THREADS + i)) == 0);
    for (int i = 0; i < THREADS + 2; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
  }
  for (int i = 0; i < 64; i++) lt_hook_free(atomic_exchange(&shared[i], NULL));
  EXPECT(lt_trace_is_writable() && lt_thread_count() >= ROUNDS * THREADS);
  lt_process_finish(LT_CLOSE_EXIT);
  EXPECT(lt_trace.status->state == LT_STATE_CLOSED && lt_trace.status->eventCount > 0);
  unlink(output + sizeof "LEAKTRACE_OUTPUT=" - 1);
  rmdir(path);
}

static uintptr_t inner, left;
static bool wasNested;

static void nested(void *unused) {
  (void)unused;
  wasNested = true;
}

static void stand(void *unused) {
  (void)unused;
  inner = (uintptr_t)__builtin_frame_address(0);
  left = lt_own_stack_left_at(inner);
  EXPECT(lt_on_own_stack(nested, NULL));
}

TEST(own_stack, "A slow path runs on a stack of the recorder's, which tells where the thread's own was left") {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  EXPECT(lt_on_own_stack(stand, NULL) && wasNested);
  EXPECT(inner - here > LT_OWN_STACK_SIZE && here - inner > LT_OWN_STACK_SIZE);
  EXPECT(left < here && here - left < LT_HOST_STACK_BUDGET);
  EXPECT(lt_own_stack_left_at(here) == here);
}

static __attribute__((noinline)) void *allocate_at(int depth) {
  void *volatile block = depth ? allocate_at(depth - 1) : lt_hook_malloc(16);
  return block;
}

TEST(deep_stacks, "Room for a thread's stacks grows with them: none is cut below the limit") {
  char path[] = "/tmp/recorder-tests.XXXXXX", output[128];
  EXPECT(mkdtemp(path));
  snprintf(output, sizeof output, "LEAKTRACE_OUTPUT=%s/t", path);
  char *environment[] = {output, "LEAKTRACE_SNAPSHOTS=off", "LEAKTRACE_DEPTH=20000", NULL};
  lt_process_load(0, NULL, environment);
  static const int depths[] = {10, 300, 700, 5000, 18000, 3, 18000};
  for (unsigned i = 0; i < sizeof depths / sizeof *depths; i++) lt_hook_free(allocate_at(depths[i]));
  struct lt_thread *t = lt_thread_self();
  EXPECT(t && t->entryLimit == 20000 && !t->mayGrow);
  EXPECT(t->drops[LT_DROP_STACK_TRUNCATED] == 0 && t->drops[LT_DROP_STACK_INCOMPLETE] == 0);
  EXPECT(lt_trace.status->drops[LT_DROP_STACK_TRUNCATED] == 0);
  lt_hook_free(allocate_at(30000));
  EXPECT(t->drops[LT_DROP_STACK_TRUNCATED] + lt_trace.status->drops[LT_DROP_STACK_TRUNCATED] > 0);
  lt_process_finish(LT_CLOSE_EXIT);
  unlink(output + sizeof "LEAKTRACE_OUTPUT=" - 1);
  rmdir(path);
}
