// Gives a hook its thread's state.

#ifndef LEAKTRACE_THREAD_ENTRY_H
#define LEAKTRACE_THREAD_ENTRY_H

#include "check.h"
#include "thread/thread_state.h"

/// Returns the calling thread's state, ready to record. Registers the thread if necessary. Returns NULL if recording is
/// off or paused, or if there is no memory. Called with hookDepth 1.
LT_NOINLINE struct lt_thread *lt_thread_prepare(void);
/// Counts a call that is not recorded because the thread is already inside a hook.
LT_NOINLINE void lt_thread_drop_nested(void);

// A thread's state is reused by another thread once the kernel reports that the first thread has ended. The thread
// sanitizer cannot see that order, so these calls report it. They use the address of a non-atomic field. At an atomic
// field, the sanitizer would forget the report at the next store.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define LT_SANITIZER_RELEASE(thread) ((thread) ? __tsan_release(&(thread)->number) : (void)0)
#define LT_SANITIZER_ACQUIRE(thread) __tsan_acquire(&(thread)->number)
#endif
#endif
#ifndef LT_SANITIZER_RELEASE
#define LT_SANITIZER_RELEASE(thread) ((void)0)
#define LT_SANITIZER_ACQUIRE(thread) ((void)0)
#endif

/// Marks the thread as inside a hook. The next load must be sequentially consistent.
static LT_ALWAYS_INLINE void lt_set_inside(void) {
  // Pairs with lt_order_threads_at_once in lt_thread_await_others: either the waiter sees 1, or this thread sees that
  // hooks are off. Release: on arm64, a sequentially consistent load does not pass this store. On x86-64, only the
  // barrier that the waiter causes in this thread keeps the order, so hooks need no fence.
  __atomic_store_n(&lt_tls.hookDepth, 1, __ATOMIC_RELEASE);
  __asm__ volatile("" ::: "memory");
}

/// Begins a hook. Returns the calling thread's state, and `lt_leave` must follow. Returns NULL if the hook must record
/// nothing and only pass the call on.
static LT_ALWAYS_INLINE struct lt_thread *lt_enter(void) {
  struct lt_thread *thread = lt_tls.thread;
  if (LT_UNLIKELY(lt_tls.hookDepth != 0)) {
    lt_thread_drop_nested();
    return NULL;
  }
  lt_set_inside();
  // Sequentially consistent: on arm64, this load and all later ones come after the store in lt_set_inside.
  if (LT_LIKELY(thread && atomic_load(&thread->isReady) && lt_pause_state() == LT_SWITCH_RECORD)) return thread;
  thread = lt_thread_prepare();
  if (!thread) {
    LT_SANITIZER_RELEASE(lt_tls.thread); // lt_thread_prepare may have noted a pause in the state
    LT_CHECK(lt_tls.hookDepth == 1);
    lt_tls.hookDepth = 0;
  }
  return thread;
}

/// Ends a hook that lt_enter has begun.
static LT_ALWAYS_INLINE void lt_leave(void) {
  LT_CHECK(lt_tls.hookDepth == 1);
  LT_SANITIZER_RELEASE(lt_tls.thread);
  // Release: pairs with the system call in is_inside that reads this word. A thread that sees 0 sees all that the hook
  // wrote.
  __atomic_store_n(&lt_tls.hookDepth, 0, __ATOMIC_RELEASE);
}

/// Waits for a limited time until no other thread is inside a hook. False if a thread still is inside a hook. The
/// caller has switched hooks off, and has then slept for LT_HELD_NANOSECONDS if there are other threads.
bool lt_thread_await_others(void);
/// Frees the states of all threads. Hooks must be off, and no thread may be inside a hook. A thread that is still
/// running gets a new state when it next records.
void lt_thread_forget_all(void);
/// Seals the records that ended threads left in their slots.
void lt_thread_reap(void);

#endif
