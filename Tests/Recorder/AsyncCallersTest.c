// The callers of a task, while another thread changes the task's contexts.

#include "unwind/unwind_step.h"

#include "RecorderTest.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

enum { CODE = 0x401000, SEARCHES = 300000 };
/// An address that is in no mapping.
static const uint64_t nowhere = 0x200000000;

struct context {
  alignas(16) _Atomic uint64_t parent;
  uint64_t resume;
};
static struct context inner, outer;
static atomic_bool isDone;

/// Makes a thread that knows CODE as the code of a suspended caller.
static struct lt_thread *make_thread(void) {
  struct lt_thread *t = calloc(1, sizeof *t);
  EXPECT(t);
  uint64_t key = CODE | LT_FRAME_EXACT | LT_FRAME_ASYNC;
  t->dictionary[lt_key_index(key)] = (struct lt_known_key){key, 1};
  return t;
}

static void *change(void *none) {
  while (!atomic_load(&isDone)) {
    atomic_store(&inner.parent, nowhere);
    atomic_store(&inner.parent, (uint64_t)&outer);
  }
  return none;
}

TEST(chain, "A context is followed to the outermost caller") {
  struct lt_thread *t = make_thread();
  inner = (struct context){(uint64_t)&outer, CODE};
  outer = (struct context){0, CODE};
  uint64_t candidates[] = {nowhere, (uint64_t)&inner};
  struct lt_async_change found = lt_async_callers_search(t, candidates, 2);
  EXPECT(found.isFound && found.kept == 0 && t->asyncDepth == 2);
  EXPECT((uint64_t)t->async[1].context == (uint64_t)&outer && lt_async_callers_are_unchanged(t));
  atomic_store(&inner.parent, nowhere);
  EXPECT(!lt_async_callers_are_unchanged(t) && !lt_async_callers_search(t, candidates, 2).isFound &&
         t->asyncDepth == 0);
  free(t);
}

TEST(changing_chain, "A context that another thread changes leads nowhere else than it did when it was read") {
  struct lt_thread *t = make_thread();
  inner = (struct context){(uint64_t)&outer, CODE};
  outer = (struct context){0, CODE};
  pthread_t other;
  EXPECT(pthread_create(&other, NULL, change, NULL) == 0);
  uint64_t candidate = (uint64_t)&inner;
  unsigned found = 0;
  for (int i = 0; i < SEARCHES; i++) {
    if (!lt_async_callers_search(t, &candidate, 1).isFound) continue;
    found++;
    EXPECT(t->asyncDepth == 2 && t->async[0].parent == (uint64_t)&outer &&
           (uint64_t)t->async[1].context == (uint64_t)&outer);
  }
  atomic_store(&isDone, true);
  EXPECT(pthread_join(other, NULL) == 0 && found > 0);
  free(t);
}
