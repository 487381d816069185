#include "thread/thread_state.h"

#include "check.h"

#include <string.h>

__thread struct lt_tls lt_tls;

static _Atomic(struct lt_thread *) firstThread;
static _Atomic uint32_t lastNumber;

struct lt_thread *lt_thread_first(void) {
  return atomic_load_explicit(&firstThread, memory_order_acquire);
}

struct lt_thread *lt_thread_self(void) {
  return lt_tls.thread && lt_tls.thread->number ? lt_tls.thread : NULL;
}

uint32_t lt_thread_take_number(void) { return atomic_fetch_add(&lastNumber, 1) + 1; }

uint32_t lt_thread_count(void) { return atomic_load_explicit(&lastNumber, memory_order_relaxed); }

/// True if the list of threads has the state.
LT_INVARIANT bool is_listed(const struct lt_thread *t) {
  for (const struct lt_thread *listed = lt_thread_first(); listed; listed = atomic_load(&listed->next))
    if (listed == t) return true;
  return false;
}

void lt_thread_list(struct lt_thread *t) {
  LT_CHECK(t && !is_listed(t));
  struct lt_thread *first = lt_thread_first();
  do atomic_store(&t->next, first);
  while (!atomic_compare_exchange_weak(&firstThread, &first, t));
}

void lt_thread_send_to_prepare(void) {
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) atomic_store(&t->isReady, 0);
}

struct lt_thread *lt_thread_unlist_all(void) {
  atomic_store(&lastNumber, 0);
  return atomic_exchange(&firstThread, NULL);
}

void lt_thread_reset_after_fork(void) {
  // The states were wiped; they are not worth finding again.
  lt_thread_unlist_all();
  LT_CHECK(!lt_thread_first());
  void *ownStack = lt_tls.ownStack;
  memset(&lt_tls, 0, sizeof lt_tls);
  lt_tls.ownStack = ownStack;
}
