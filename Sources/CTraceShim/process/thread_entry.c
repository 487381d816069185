// Registers threads, and cleans up after threads that have ended.
//
// No hook can notice a thread's end. Destructors of thread-local variables, and the C library itself, allocate and free
// until the very end. So a thread's state outlives the thread. The state's records are sealed, and the state is reused,
// once the kernel reports that the thread has ended. That is checked when another thread registers, and at the end of
// the process.

#include "process/thread_entry.h"

#include "check.h"
#include "image/heap_snapshot.h"
#include "os/thread_barrier.h"
#include "process/recording.h"
#include "record/chunk_compressor.h"
#include "record/event_buffer.h"
#include "record/event_recorder.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "thread/thread_state.h"
#include "unwind/stack_capture.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

/// The low half of a claim. A state that is being set up still names its previous thread. CLAIM_SETTING_UP prevents the
/// end of that thread from making the state free.
enum { CLAIM_FREE = 0, CLAIM_USED = 1, CLAIM_REAPING = 2, CLAIM_SETTING_UP = 3 };

/// The claim of a recording thread. The thread's number makes the claim different from the claims of all earlier users
/// of the state. So a slow thread that has found an earlier user gone cannot reap the state of the next user.
static uint64_t used_by(uint32_t number) { return (uint64_t)number << 32 | CLAIM_USED; }
static bool is_used(uint64_t claim) { return (uint32_t)claim == CLAIM_USED; }

static void reap(struct lt_thread *t, pid_t process, pid_t self) {
  // Pairs with the store in register_thread: the claim's own thread ID, or a later one, is seen below.
  uint64_t claim = atomic_load(&t->claim);
  if (!is_used(claim)) return;
  pid_t thread = atomic_load(&t->osThread);
  bool isGone = thread == self ? t != lt_tls.thread : !lt_thread_exists(process, thread);
  if (!isGone) return;
  if (!atomic_compare_exchange_strong(&t->claim, &claim, CLAIM_REAPING)) return;
  LT_SANITIZER_ACQUIRE(t);
  LT_CHECK(t->number == claim >> 32 && t != lt_tls.thread);
  lt_buffer_end(t);
  if (t->slot) t->slot->thread = 0;
  LT_CHECK(!t->compressor && atomic_load(&t->claim) == CLAIM_REAPING);
  // Pairs with the exchange in claim_free: the next user finds the state cleaned up.
  atomic_store(&t->claim, CLAIM_FREE);
}

void lt_thread_reap(void) {
  pid_t process = lt_process_id(), self = lt_thread_id();
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) reap(t, process, self);
}

/// True if a thread is inside a hook. The kernel compares the hook depth with 0, since the memory may be unmapped at
/// any time.
static bool is_inside(const struct lt_thread *t) {
  struct timespec none = {0, 0};
  // Relaxed: is_busy has loaded the claim, which the thread stores after this pointer.
  const uint32_t *depth = atomic_load_explicit(&t->hookDepth, memory_order_relaxed);
  return lt_syscall6(SYS_futex, (long)depth, FUTEX_WAIT_PRIVATE, 0, (long)&none, 0, 0) == -EAGAIN;
}

/// True if a thread is inside a hook that could write to its state.
static bool is_busy(const struct lt_thread *t, pid_t process, pid_t self) {
  uint64_t claim = atomic_load(&t->claim);
  if ((uint32_t)claim == CLAIM_SETTING_UP) return true;
  pid_t thread = atomic_load(&t->osThread);
  return is_used(claim) && thread != self && lt_thread_exists(process, thread) && is_inside(t);
}

bool lt_thread_await_others(void) {
  enum { MOMENT_NANOSECONDS = 1000000, MOMENT_LIMIT = 5000 };
  pid_t process = lt_process_id(), self = lt_thread_id();
  int moments = 0;
  // Pairs with lt_set_inside: a thread that is not seen inside a hook from here on sees that hooks are off.
  // The callers have slept long enough for a process whose kernel or filter refuses this.
  if (lt_thread_count() > 1) lt_order_threads_at_once();
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) {
    while (is_busy(t, process, self)) {
      if (moments++ == MOMENT_LIMIT) return false;
      lt_sleep(MOMENT_NANOSECONDS);
    }
  }
  // Acquire, after the kernel's reads for is_inside: pairs with the release in lt_leave.
  atomic_thread_fence(memory_order_acquire);
  return true;
}

/// Zeroes a state, and returns its memory to the kernel if that is possible.
static void wipe(struct lt_thread *t) {
  if (lt_syscall(SYS_madvise, t, sizeof *t, MADV_DONTNEED) != 0) memset(t, 0, sizeof *t);
}

void lt_thread_forget_all(void) {
  pid_t process = lt_process_id();
  LT_CHECK(atomic_load(&lt_hook_mode) == LT_HOOKS_OFF);
  for (struct lt_thread *t = lt_thread_unlist_all(), *next; t; t = next) {
    next = atomic_load(&t->next);
    LT_CHECK(t->room && t->roomSize);
    // A running thread still refers to its state. That state must then look as in a child made by fork: zero, not
    // ready, without a number.
    bool isNeeded = is_used(atomic_load(&t->claim)) && lt_thread_exists(process, atomic_load(&t->osThread));
    lt_compressor_return(t->compressor);
    if (t->slot) lt_unmap(t->slot, LT_SLOT_SIZE);
    lt_unmap(t->room, t->roomSize);
    if (isNeeded) wipe(t);
    else lt_unmap(t, sizeof *t);
  }
}

static struct lt_thread *claim_free(void) {
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) {
    uint64_t free = CLAIM_FREE;
    if (atomic_load(&t->claim) == CLAIM_FREE && atomic_compare_exchange_strong(&t->claim, &free, CLAIM_SETTING_UP))
      return t;
  }
  return NULL;
}

/// Makes a state. `former`: the calling thread's wiped state of an earlier recording, which is used again; or NULL.
static struct lt_thread *make_thread(struct lt_thread *former) {
  LT_CHECK(!former || (former->number == 0 && !former->slot && !former->room));
  struct lt_thread *t = former ? former : lt_map_wiped_on_fork(sizeof *t);
  if (!t) return NULL;
  if (!lt_stack_room_make(t, lt_stack_depth_limit())) {
    if (!former) lt_unmap(t, sizeof *t);
    return NULL;
  }
  LT_CHECK(atomic_load(&t->claim) == CLAIM_FREE && t->number == 0);
  atomic_store(&t->claim, CLAIM_SETTING_UP);
  lt_thread_list(t);
  return t;
}

/// Lets hooks record without a call of lt_thread_prepare. `isReady` must be set first, because code that changes a
/// setting clears `isReady` after the change.
static void make_ready(struct lt_thread *t) {
  LT_CHECK(t->slot && t->number > 0);
  // Sequentially consistent, like the loads of settings below. Pairs with lt_thread_send_to_prepare.
  atomic_store(&t->isReady, 1);
  lt_buffer_keep_exact_time(t);
  lt_stack_capture_renew(t);
}

static struct lt_thread *register_thread(void) {
  lt_thread_reap();
  // Reuse a state of an earlier recording that only this thread still refers to.
  struct lt_thread *former = lt_tls.thread, *t = former ? NULL : claim_free();
  if (!t) t = make_thread(former);
  if (!t) return NULL;
  LT_CHECK(atomic_load(&t->claim) == CLAIM_SETTING_UP && !t->compressor);
  LT_CHECK(lt_stack_room_is_valid(t));
  if (!t->slot) t->slot = lt_trace_new_slot();
  if (!t->slot) {
    atomic_store(&t->claim, CLAIM_FREE);
    return NULL;
  }
  t->number = lt_thread_take_number();
  if (t->number > 1) lt_exact_time_require();
  pid_t thread = lt_thread_id();
  atomic_store(&t->osThread, thread);
  atomic_store_explicit(&t->hookDepth, &lt_tls.hookDepth, memory_order_relaxed); // published by `claim` below
  t->eventSequence = t->definitionSequence = 0;
  t->totalEvents = 0;
  t->asyncDepth = 0;
  t->endsInTask = 0;
  t->mappedLow = t->mappedHigh = 0;
  memset(t->drops, 0, sizeof t->drops);
  struct lt_live_slot *slot = t->slot;
  slot->osThread = (uint32_t)thread;
  slot->definitionSequence = slot->eventSequence = 0;
  slot->definitionUsed = slot->definitionStart;
  t->definitionCursor = (uint8_t *)slot + slot->definitionStart;
  t->definitionLimit = (uint8_t *)slot + slot->eventStart;
  LT_CHECK(slot->definitionStart == sizeof *slot && slot->eventStart == LT_SLOT_DEFINITIONS);
  lt_buffer_begin(t);
  slot->thread = t->number;
  make_ready(t);
  LT_CHECK(atomic_load(&t->claim) == CLAIM_SETTING_UP && lt_buffer_is_valid(t));
  // Pairs with the loads in reap and is_busy.
  atomic_store(&t->claim, used_by(t->number));
  uint8_t payload[32], *p = payload;
  p = lt_put_varint(p, t->number);
  p = lt_put_varint(p, (uint64_t)thread);
  p = lt_put_varint(p, lt_now());
  lt_define(t, LT_DEF_THREAD, payload, (size_t)(p - payload));
  return t;
}

/// Registers the calling thread, and writes the records that must precede its first event. `thread`: receives the
/// thread's state; unchanged if there is no memory.
static void introduce(void *thread) {
  LT_CHECK(lt_tls.ownStack && lt_tls.hookDepth == 1);
  struct lt_thread *t = register_thread();
  lt_tls.thread = t;
  if (!t) return;
  t->drops[LT_DROP_NESTED] += lt_tls.nestedDrops;
  lt_tls.nestedDrops = 0;
  lt_description_begin(t);
  lt_pause_note(t, LT_PAUSE_END);
  *(struct lt_thread **)thread = t;
}

LT_NOINLINE struct lt_thread *lt_thread_prepare(void) {
  // Sequentially consistent: comes after lt_set_inside, and pairs with the store in lt_hooks_set.
  if (atomic_load(&lt_hook_mode) == LT_HOOKS_OFF) return NULL;
  LT_CHECK(lt_tls.hookDepth == 1);
  struct lt_thread *t = lt_tls.thread;
  // A fork wipes the states. So a state that has a number belongs to this process.
  bool isKnown = t && t->number;
  if (!isKnown && !lt_process_is_ours()) return NULL;
  if (LT_UNLIKELY(lt_pause_state() == LT_SWITCH_SNAPSHOT)) lt_snapshot_at_switch();
  if (lt_pause_state() != LT_SWITCH_RECORD) {
    if (!isKnown) {
      // Then a thread that has a state calls this function at its next hook. It writes the pause to the trace.
      if (lt_pause_notice()) lt_thread_send_to_prepare();
      return NULL;
    }
    lt_pause_note(t, LT_PAUSE_BEGIN);
    atomic_store(&t->isReady, 0); // so that the first call after the pause comes here again
    return NULL;
  }
  if (isKnown) {
    LT_CHECK(t == lt_tls.thread && is_used(atomic_load(&t->claim)));
    lt_pause_note(t, LT_PAUSE_END);
    make_ready(t);
    LT_CHECK(lt_buffer_is_valid(t));
    lt_description_renew(t);
    lt_trace_limit_heed(t);
    return t;
  }
  if (!lt_trace_is_writable()) return NULL;
  t = NULL;
  // A thread that once found no memory stays unrecorded. A new attempt at each call would slow it down.
  if (!lt_tls.isUnrecorded) lt_on_own_stack(introduce, &t);
  LT_CHECK(!t || (t == lt_tls.thread && is_used(atomic_load(&t->claim))));
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
