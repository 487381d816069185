#include "sampling/sampled_stack.h"

#include "check.h"
#include "sampling/sampled_sites.h"
#include "unwind/stack_capture.h"

/// Threads that can capture at the same time; each capture takes some microseconds.
enum { CAPTURE_LIMIT = 32 };

static struct capture {
  _Atomic uint32_t isTaken;          ///< held by the thread that captures
  _Atomic(struct lt_thread *) state; ///< NULL until it is first needed
} captures[CAPTURE_LIMIT];

static struct lt_thread *make_state(void) {
  struct lt_thread *t = lt_map_wiped_on_fork(sizeof *t);
  if (!t) return NULL;
  LT_CHECK(t->number == 0 && !t->slot);
  if (lt_stack_room_make(t, lt_stack_depth_limit())) return t;
  lt_unmap(t, sizeof *t);
  return NULL;
}

static struct capture *take(void) {
  for (uint32_t i = 0; i < CAPTURE_LIMIT; i++) {
    uint32_t no = 0;
    if (atomic_load_explicit(&captures[i].isTaken, memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&captures[i].isTaken, &no, 1))
      continue;
    if (atomic_load_explicit(&captures[i].state, memory_order_relaxed)) return &captures[i];
    struct lt_thread *made = make_state();
    atomic_store(&captures[i].state, made);
    if (made) return &captures[i];
    atomic_store(&captures[i].isTaken, 0);
    return NULL;
  }
  return NULL;
}

uint32_t lt_sampled_stack_site(const uintptr_t *frame) {
  struct capture *capture = take();
  if (!capture) return LT_SAMPLED_SITE_UNKNOWN;
  struct lt_thread *t = atomic_load_explicit(&capture->state, memory_order_relaxed);
  LT_CHECK(atomic_load(&capture->isTaken) == 1 && !t->slot && lt_stack_room_is_valid(t));
  // Nothing is kept of the stack before, which was another thread's.
  lt_stack_capture_renew(t);
  t->depth = t->recordedDepth = 0;
  t->asyncDepth = t->recordedAsync = t->endsInTask = 0;
  t->task = 0;
  t->mappedLow = t->mappedHigh = 0;
  lt_stack_memory_begin(t, (uintptr_t)frame);
  struct lt_stack_change change = {0};
  lt_capture_slowly(t, frame, lt_walk_changed(t, frame, t->freshLimit), &change);
  LT_CHECK(change.pops == 0 && change.pushes == t->recordedDepth);
  uint32_t site = lt_sampled_site_for(change.keys, change.pushes);
  atomic_store_explicit(&capture->isTaken, 0, memory_order_release);
  return site;
}

void lt_sampled_stacks_reset_after_fork(void) {
  for (uint32_t i = 0; i < CAPTURE_LIMIT; i++) {
    // The states were wiped; they are not worth finding again.
    atomic_store(&captures[i].state, NULL);
    atomic_store(&captures[i].isTaken, 0);
  }
}
