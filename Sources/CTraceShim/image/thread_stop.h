// Stops the process's threads and resumes them. Knows the recorder's own threads, and shortens waits that a stop would
// prolong.

#ifndef LEAKTRACE_THREAD_STOP_H
#define LEAKTRACE_THREAD_STOP_H

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// --- the recorder's threads ------------------------------------------------------------------------------------------

// The process's threads that are the recorder's own: images leave them out.

/// The kernel's number of the thread that watches expectations, 0 while there is none.
pid_t lt_own_threads_watcher(void);
void lt_own_threads_set_watcher(pid_t thread);
/// Tells whether the thread with this number of the kernel's takes an image for a requester outside.
bool lt_own_threads_serves(uint32_t osThread);
/// Tells whether the process has threads besides the calling one and the recorder's watcher, which touches nothing of
/// the host's.
bool lt_own_threads_has_others(void);

// --- freeze ----------------------------------------------------------------------------------------------------------

// The state of one freeze of the process, which the caller, the tracer and the copy share.

/// Who has the copy: memory that the process and its copies share. A copy that its process has given up ends at once.
struct lt_copy_claim {
  _Atomic uint32_t state;
  _Atomic pid_t copy;    ///< set before the copy claims itself
  _Atomic uint32_t late; ///< a futex: the copy waits for the registers of late threads
};

struct lt_freeze {
  // Input: the caller sets these.
  pid_t process;
  /// room for `threadLimit`, in shared memory; the first is the calling thread, already filled in
  struct lt_snapshot_thread *threads;
  uint32_t threadLimit;
  void (*copied)(void *argument); ///< runs in the copy; must not return
  /// runs while all threads are stopped, before the copy is made. May touch memory and the kernel only
  void (*stopped)(void *argument);
  void *argument;

  struct lt_copy_claim *claim; ///< in shared memory
  /// receives how long the other threads were stopped. The final value comes when the copy already runs
  _Atomic uint64_t *pauseNanoseconds;

  // Results.
  uint32_t threadCount;   ///< from 1 to `threadLimit`
  uint32_t attachedCount; ///< the threads, and behind them those that are none of the host's
  uint32_t awaitedCount;  ///< threads that were asked to stop and have not reported yet
  bool isFrozen;          ///< every other thread was stopped. A thread without registers could not be read
  _Atomic pid_t copy;     ///< of the copied process, or −errno

  // Shared by the caller, the tracer and the copier.
  _Atomic pid_t tracer;
  _Atomic uint32_t tracerRuns; ///< a futex: the kernel clears it when the tracer has ended
  bool isAlone;                ///< there are no other threads of the host's
  bool stopsThreads;
  bool isLastTry;
  bool isGivenUp;              ///< late threads were in the way of the copy
  uint64_t lateCopyPatience;   ///< nanoseconds that the kernel may take for a copy while there are late threads
  uint64_t longestPause;       ///< of all tries, in nanoseconds
  _Atomic uint32_t copierRuns; ///< like `tracerRuns`: the thread that copies beside late threads
  uint64_t stopBegin;          ///< CLOCK_MONOTONIC when the first threads were asked to stop
  _Atomic uint32_t isAllowed;
  _Atomic uint64_t copyBegin; ///< CLOCK_MONOTONIC; 0: the kernel has not been asked for the copy
  _Atomic uint32_t isDone;
};

// --- timed waits -----------------------------------------------------------------------------------------------------

// Waits that lose the time they have waited when a tracer stops their thread.
//
// The kernel restarts most waits with their remaining time, and some with their full time. With images in short
// intervals such a wait would never end. So the tracer shortens it.

/// A thread's wait, as it was before the thread was asked to stop.
struct lt_timed_wait {
  long call;                       ///< negative: it is in none that has to be shortened
  uint64_t begin;                  ///< CLOCK_MONOTONIC
  uint64_t voluntary, involuntary; ///< how often the thread has left its processor
};

/// Looks for threads in such waits, and learns the clocks of their processors. Before any thread is stopped: it may
/// take milliseconds. Changes the processors of the calling process for that time.
void lt_timed_waits_prepare(pid_t process);
/// Looks at a thread that is about to be asked to stop. Reads no file for threads that were in no such wait before.
void lt_timed_wait_look(pid_t process, uint32_t thread, struct lt_timed_wait *wait);
/// Leaves a stopped thread the rest of its wait, unless it has run since. By its tracer, in the program's memory.
void lt_timed_wait_shorten(pid_t process, uint32_t thread, const struct lt_timed_wait *wait);

// --- stop ------------------------------------------------------------------------------------------------------------

// Stops the threads of a process for a moment, by ptrace, and lets them go again. All functions run in the tracer,
// unless they say otherwise.

/// The state of the late threads, in `lt_copy_claim.late`. Late threads have not stopped before the copy was made.
enum {
  LT_LATE_AWAITED,
  LT_LATE_NOTED,    ///< the copy may read the registers
  LT_LATE_LOST,     ///< threads ran that the tracer does not know, or registers are missing: the image is not frozen
  LT_LATE_GIVEN_UP, ///< the copy ends, and the tracer tries again
};

/// Marks a late thread that has ended, or that is a task of the recorder's. The copy removes it from its list.
enum { LT_THREAD_LEFT_OUT = 1u << 31 };

/// Limit for late threads that wait for a processor.
enum { LT_LATE_MILLISECONDS = 10000 };

/// Makes room for `threadLimit` threads; before the tracer begins. False without memory.
bool lt_thread_stop_reserve(const struct lt_freeze *f);
/// Stops all threads except the one that waits for the tracer. False if the kernel refuses.
bool lt_thread_stop_all(struct lt_freeze *f);
/// Reads the registers of the threads that have stopped.
void lt_thread_stop_read(struct lt_freeze *f);
/// Moves threads that have ended in the meantime behind the others, and likewise the recorder's tasks, which have
/// nothing of the host's. Those of the others that have not stopped are late from now on.
void lt_thread_stop_sort(struct lt_freeze *f);
/// Lets the threads go that have stopped.
void lt_thread_stop_let_go(const struct lt_freeze *f);
/// Waits for the late threads, and lets them go. Returns the new `lt_copy_claim.late`.
uint32_t lt_thread_stop_note_late(struct lt_freeze *f);
/// Forgets the threads when the tracer has ended.
void lt_thread_stop_forget(const struct lt_freeze *f);
/// Resets the state in a child made by fork.
void lt_thread_stop_reset(void);

/// Returns the milliseconds since a moment of CLOCK_MONOTONIC in nanoseconds. Callable anywhere.
uint64_t lt_milliseconds_since(uint64_t begin);

#endif
