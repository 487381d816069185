// What the recorder knows of one thread: registration, and cleaning up after threads that have ended.
//
// A thread's end is not announced: destructors of thread-local variables, the C library's among them, still allocate and
// free after any hook one could set. So a thread's state outlives it, and is sealed and reused when the kernel says that the thread is
// gone: when another thread registers, and at the end of the process.

#include "thread_state.h"

#include "event_buffer.h"
#include "heap_snapshot.h"
#include "image_list.h"
#include "own_stack.h"
#include "process_state.h"
#include "stack_capture.h"
#include "stack_room.h"
#include "trace_file.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

__thread struct lt_tls lt_tls;

static _Atomic(struct lt_thread *) firstThread;
static _Atomic uint32_t nextNumber = 1;
static _Atomic uint32_t threadCount;
static _Atomic uint32_t isPauseNoted; ///< the trace says that recording is paused
static _Atomic uint64_t unnotedPause; ///< when a thread without a state noticed first that recording is paused; 0 if none did

/// Who has a state. One that is being set up still names the thread that had it before: nobody may take that for its end.
enum { CLAIM_FREE = 0, CLAIM_USED = 1, CLAIM_REAPING = 2, CLAIM_SETTING_UP = 3 };

struct lt_thread *lt_thread_first(void) { return atomic_load_explicit(&firstThread, memory_order_acquire); }
struct lt_thread *lt_thread_self(void) { return lt_tls.thread && lt_tls.thread->number ? lt_tls.thread : NULL; }
uint32_t lt_thread_count(void) { return atomic_load_explicit(&threadCount, memory_order_relaxed); }

void lt_thread_reset_after_fork(void) {
  // The states were wiped; they are not worth finding again.
  atomic_store(&firstThread, NULL);
  atomic_store(&nextNumber, 1);
  atomic_store(&threadCount, 0);
  atomic_store(&isPauseNoted, 0);
  atomic_store(&unnotedPause, 0);
  void *ownStack = lt_tls.ownStack;
  memset(&lt_tls, 0, sizeof lt_tls);
  lt_tls.ownStack = ownStack;
}

static void reap(struct lt_thread *t, pid_t process, pid_t self) {
  if (atomic_load(&t->isClaimed) != CLAIM_USED) return;
  bool isGone = t->osThread == self ? t != lt_tls.thread : !lt_thread_exists(process, t->osThread);
  if (!isGone) return;
  uint32_t used = CLAIM_USED;
  if (!atomic_compare_exchange_strong(&t->isClaimed, &used, CLAIM_REAPING)) return;
  LT_SANITIZER_ACQUIRE(t);
  lt_buffer_end(t);
  if (t->slot) t->slot->thread = 0;
  atomic_store(&t->isClaimed, CLAIM_FREE);
}

void lt_thread_reap(void) {
  pid_t process = lt_process_id(), self = lt_thread_id();
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) reap(t, process, self);
}

/// Whether a thread is inside a hook. The kernel compares: the memory may be gone at any time.
static bool is_inside(const struct lt_thread *t) {
  struct timespec none = {0, 0};
  return lt_syscall6(SYS_futex, (long)t->hookDepth, FUTEX_WAIT_PRIVATE, 0, (long)&none, 0, 0) == -EAGAIN;
}

void lt_thread_await_others(void) {
  enum { MOMENT_NANOSECONDS = 1000000, MOMENT_LIMIT = 5000 };
  struct timespec moment = {.tv_nsec = MOMENT_NANOSECONDS};
  pid_t process = lt_process_id(), self = lt_thread_id();
  int moments = 0;
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next))
    while (atomic_load(&t->isClaimed) == CLAIM_USED && t->osThread != self && lt_thread_exists(process, t->osThread) && is_inside(t) && moments++ < MOMENT_LIMIT)
      lt_syscall(SYS_nanosleep, &moment, 0, 0);
}

static struct lt_thread *claim_free(void) {
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) {
    uint32_t free = CLAIM_FREE;
    if (atomic_load(&t->isClaimed) == CLAIM_FREE && atomic_compare_exchange_strong(&t->isClaimed, &free, CLAIM_SETTING_UP)) return t;
  }
  return NULL;
}

static struct lt_thread *make_thread(void) {
  struct lt_thread *t = lt_map_wiped_on_fork(sizeof *t);
  if (!t) return NULL;
  if (!lt_stack_room_make(t, lt_stack_depth_limit())) {
    lt_unmap(t, sizeof *t);
    return NULL;
  }
  atomic_store(&t->isClaimed, CLAIM_SETTING_UP);
  struct lt_thread *first = lt_thread_first();
  do atomic_store(&t->next, first);
  while (!atomic_compare_exchange_weak(&firstThread, &first, t));
  return t;
}

void lt_thread_send_to_prepare(void) {
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) atomic_store(&t->isReady, 0);
}

/// From here on hooks ask for nothing. In this order: whoever changes what is asked for here clears `isReady` after.
static void make_ready(struct lt_thread *t) {
  atomic_store(&t->isReady, 1);
  lt_buffer_keep_exact_time(t);
  lt_stack_capture_renew(t);
}

static struct lt_thread *register_thread(void) {
  lt_thread_reap();
  struct lt_thread *t = claim_free();
  if (!t) t = make_thread();
  if (!t) return NULL;
  if (!t->slot) t->slot = lt_trace_new_slot();
  if (!t->slot) {
    atomic_store(&t->isClaimed, CLAIM_FREE);
    return NULL;
  }
  t->number = atomic_fetch_add(&nextNumber, 1);
  if (t->number > 1) lt_exact_time_require();
  t->osThread = lt_thread_id();
  t->hookDepth = &lt_tls.hookDepth;
  t->eventSequence = t->definitionSequence = 0;
  t->totalEvents = 0;
  t->asyncDepth = 0;
  t->endsInTask = 0;
  t->mappedLow = t->mappedHigh = 0;
  memset(t->drops, 0, sizeof t->drops);
  struct lt_live_slot *slot = t->slot;
  slot->osThread = (uint32_t)t->osThread;
  slot->definitionSequence = slot->eventSequence = 0;
  slot->definitionUsed = slot->definitionStart;
  t->definitionCursor = (uint8_t *)slot + slot->definitionStart;
  t->definitionLimit = (uint8_t *)slot + slot->eventStart;
  lt_buffer_begin(t);
  slot->thread = t->number;
  atomic_fetch_add(&threadCount, 1);
  make_ready(t);
  atomic_store(&t->isClaimed, CLAIM_USED);
  uint8_t payload[32], *p = payload;
  p = lt_put_varint(p, t->number);
  p = lt_put_varint(p, (uint64_t)t->osThread);
  p = lt_put_varint(p, lt_now());
  lt_define(t, LT_DEF_THREAD, payload, (size_t)(p - payload));
  return t;
}

static void define_pause(struct lt_thread *t, uint64_t kind, uint64_t time) {
  uint8_t payload[24], *p = payload;
  p = lt_put_varint(p, kind);
  p = lt_put_varint(p, time);
  lt_define(t, LT_DEF_PAUSE, payload, (size_t)(p - payload));
}

/// Writes that recording was paused or goes on, by the thread that notices first. Of a pause that only threads noticed that could not write it, both.
static void note_pause(struct lt_thread *t, uint64_t kind) {
  uint64_t unnoted = atomic_load_explicit(&unnotedPause, memory_order_relaxed);
  if (unnoted && !atomic_compare_exchange_strong(&unnotedPause, &unnoted, 0)) unnoted = 0;
  uint32_t before = kind == LT_PAUSE_BEGIN ? 0 : 1;
  bool isChange = atomic_compare_exchange_strong(&isPauseNoted, &before, !before);
  if (unnoted && kind == LT_PAUSE_END && !isChange) define_pause(t, LT_PAUSE_BEGIN, unnoted);
  if (isChange || (unnoted && kind == LT_PAUSE_END)) define_pause(t, kind, unnoted && kind == LT_PAUSE_BEGIN ? unnoted : lt_now());
}

/// Registers the calling thread, and writes what is to be said before its first event. `thread`: where to put its state; nothing if there is no memory.
static void introduce(void *thread) {
  struct lt_thread *t = register_thread();
  lt_tls.thread = t;
  if (!t) return;
  t->drops[LT_DROP_NESTED] += lt_tls.nestedDrops;
  lt_tls.nestedDrops = 0;
  lt_process_first_event(t);
  note_pause(t, LT_PAUSE_END);
  *(struct lt_thread **)thread = t;
}

LT_NOINLINE struct lt_thread *lt_thread_prepare(void) {
  if (atomic_load_explicit(&lt_hook_mode, memory_order_relaxed) == LT_HOOKS_OFF) return NULL;
  struct lt_thread *t = lt_tls.thread;
  // A state with a number was not wiped by a fork: it is this process's.
  bool isKnown = t && t->number;
  if (!isKnown && !lt_process_is_ours()) return NULL;
  if (LT_UNLIKELY(atomic_load_explicit(lt_pause_switch, memory_order_relaxed) == LT_SWITCH_SNAPSHOT)) lt_snapshot_at_switch();
  if (atomic_load_explicit(lt_pause_switch, memory_order_relaxed) != LT_SWITCH_RECORD) {
    if (!isKnown) {
      uint64_t none = 0;
      // Whoever has a state comes here with its next call, and writes it.
      if (atomic_compare_exchange_strong(&unnotedPause, &none, lt_now()))
        for (struct lt_thread *other = lt_thread_first(); other; other = atomic_load(&other->next)) atomic_store(&other->isReady, 0);
      return NULL;
    }
    note_pause(t, LT_PAUSE_BEGIN);
    atomic_store(&t->isReady, 0); // so that the first call after the pause comes here again
    return NULL;
  }
  if (isKnown) {
    note_pause(t, LT_PAUSE_END);
    make_ready(t);
    lt_process_describe_again(t);
    return t;
  }
  if (!lt_trace_is_writable()) return NULL;
  // A thread that found no memory once goes without: its calls would pay for asking, again and again.
  if (!lt_tls.isUnrecorded) lt_on_own_stack(introduce, &t);
  if (t) return t;
  lt_tls.isUnrecorded = true;
  lt_trace_add_drop(LT_DROP_NO_MEMORY);
  return t;
}

LT_NOINLINE void lt_thread_drop_nested(void) {
  if (atomic_load_explicit(&lt_hook_mode, memory_order_relaxed) == LT_HOOKS_OFF) return;
  if (lt_tls.thread) lt_tls.thread->drops[LT_DROP_NESTED]++;
  else lt_tls.nestedDrops++;
}
