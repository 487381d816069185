// The recorder as a whole. Threads begin, record, fill their buffers and end, while images are loaded and unloaded and
// recording pauses.

#include "hooks/hook.h"
#include "hooks/startup.h"
#include "process/lifecycle.h"
#include "process/thread_entry.h"
#include "record/definitions.h"
#include "record/event_buffer.h"
#include "record/trace_file.h"
#include "thread/thread_state.h"

#include "RecorderTest.h"
#include "TestRecording.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

void *lt_hook_malloc(size_t size);
void *lt_hook_calloc(size_t count, size_t size);
void *lt_hook_realloc(void *block, size_t size);
void lt_hook_free(void *block);
int lt_hook_dlclose(void *handle);

enum { ROUNDS = 4, THREADS = 8, CALLS = 3000 };

/// Blocks that threads hand to each other.
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
  struct recording recording;
  begin_recording(&recording, NULL);
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t threads[THREADS + 2];
    for (int i = 0; i < THREADS + 2; i++)
      EXPECT(pthread_create(&threads[i], NULL,
                            i < THREADS    ? work
                            : i == THREADS ? load_libraries
                                           : pause_and_resume,
                            (void *)(uintptr_t)(round * THREADS + i)) == 0);
    for (int i = 0; i < THREADS + 2; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
  }
  for (int i = 0; i < 64; i++) lt_hook_free(atomic_exchange(&shared[i], NULL));
  EXPECT(lt_trace_is_writable() && lt_thread_count() >= ROUNDS * THREADS);
  lt_process_finish(LT_CLOSE_EXIT);
  EXPECT(lt_trace.status->state == LT_STATE_CLOSED && lt_trace.status->eventCount > 0);
  remove_recording(&recording);
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
  struct recording recording;
  begin_recording(&recording, "LEAKTRACE_DEPTH=20000");
  static const int depths[] = {10, 300, 700, 5000, 18000, 3, 18000};
  for (unsigned i = 0; i < sizeof depths / sizeof *depths; i++) lt_hook_free(allocate_at(depths[i]));
  struct lt_thread *t = lt_thread_self();
  EXPECT(t && t->entryLimit == 20000 && !t->mayGrow);
  EXPECT(t->drops[LT_DROP_STACK_TRUNCATED] == 0 && t->drops[LT_DROP_STACK_INCOMPLETE] == 0);
  EXPECT(lt_trace.status->drops[LT_DROP_STACK_TRUNCATED] == 0);
  lt_hook_free(allocate_at(30000));
  EXPECT(t->drops[LT_DROP_STACK_TRUNCATED] + lt_trace.status->drops[LT_DROP_STACK_TRUNCATED] > 0);
  lt_process_finish(LT_CLOSE_EXIT);
  remove_recording(&recording);
}

bool __real_lt_thread_exists(pid_t process, pid_t thread);
bool __wrap_lt_thread_exists(pid_t process, pid_t thread);

static __thread bool isToBeHeld;
static sem_t isHeld, goesOn;

/// The linker makes the recorder call this function. If a test asks for it, holds a thread after the answer that
/// another thread has ended, and before the thread uses that answer.
bool __wrap_lt_thread_exists(pid_t process, pid_t thread) {
  bool exists = __real_lt_thread_exists(process, thread);
  if (isToBeHeld && !exists) {
    isToBeHeld = false;
    sem_post(&isHeld);
    sem_wait(&goesOn);
  }
  return exists;
}

static void *allocate_once(void *unused) {
  (void)unused;
  lt_hook_free(lt_hook_malloc(5));
  return lt_thread_self();
}

static void *allocate_held(void *unused) {
  isToBeHeld = true;
  return allocate_once(unused);
}

static sem_t hasAllocated, mayEnd;

static void *allocate_and_wait(void *unused) {
  void *state = allocate_once(unused);
  sem_post(&hasAllocated);
  sem_wait(&mayEnd);
  return state;
}

TEST(one_state_a_thread,
     "A thread that is slow to clean up after another does not take the state from the next that has it") {
  struct recording recording;
  begin_recording(&recording, NULL);
  lt_hook_free(lt_hook_malloc(5));
  sem_init(&isHeld, 0, 0), sem_init(&goesOn, 0, 0), sem_init(&hasAllocated, 0, 0), sem_init(&mayEnd, 0, 0);
  pthread_t ended, slow, next;
  void *endedState, *slowState, *nextState;
  EXPECT(pthread_create(&ended, NULL, allocate_once, NULL) == 0 && pthread_join(ended, &endedState) == 0);
  // the kernel finishes the thread a moment later
  while (__real_lt_thread_exists(getpid(), ((struct lt_thread *)endedState)->osThread)) usleep(100);
  EXPECT(pthread_create(&slow, NULL, allocate_held, NULL) == 0);
  sem_wait(&isHeld);
  EXPECT(pthread_create(&next, NULL, allocate_and_wait, NULL) == 0);
  sem_wait(&hasAllocated);
  sem_post(&goesOn);
  EXPECT(pthread_join(slow, &slowState) == 0);
  sem_post(&mayEnd);
  EXPECT(pthread_join(next, &nextState) == 0);
  EXPECT(nextState == endedState && slowState != nextState && slowState);
  lt_process_finish(LT_CLOSE_EXIT);
  // Three threads allocate a block and free it, and so does this thread.
  EXPECT(lt_trace.status->state == LT_STATE_CLOSED && lt_trace.status->eventCount == 8);
  remove_recording(&recording);
}
