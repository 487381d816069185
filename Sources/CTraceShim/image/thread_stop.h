// Stops the process's threads and resumes them. Knows the recorder's own threads. Shortens waits that a stop would
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

// The recorder's own threads in the process. Heap images leave these threads out.

/// Returns the ID of the thread that watches expectations, or 0 if there is none.
pid_t lt_own_threads_watcher(void);
void lt_own_threads_set_watcher(pid_t thread);
/// True if the thread with this ID takes a heap image for a requester outside.
bool lt_own_threads_serves(uint32_t osThread);
/// True if the process has threads besides the calling thread and the recorder's watcher. The watcher does not access
/// the host's memory.
bool lt_own_threads_has_others(void);

// --- freeze ----------------------------------------------------------------------------------------------------------

// The state of one freeze of the process. The caller, the tracer and the copy share it.

/// Records whether a copy has begun its work or was given up. Lies in memory that the process and the copy share. A
/// copy that was given up ends immediately.
struct lt_copy_claim {
  _Atomic uint32_t state; ///< exchanged by the copy and by give_up; the later one sees all from before the earlier
  _Atomic pid_t copy;     ///< set by the copy before it changes `state`
  _Atomic uint32_t late;  ///< a futex: the copy waits here for the registers of late threads
};

struct lt_freeze {
  // Input: the caller sets these.
  pid_t process;
  /// room for `threadLimit` threads in shared memory. The first one is the calling thread, which the caller has filled
  /// in
  struct lt_snapshot_thread *threads;
  uint32_t threadLimit;
  void (*copied)(void *argument); ///< runs in the copy; must not return
  /// runs while all threads are stopped, before the copy is made. May only access memory and make system calls
  void (*stopped)(void *argument);
  void *argument;

  struct lt_copy_claim *claim; ///< in shared memory
  /// receives the nanoseconds that the other threads were stopped. The final value is stored when the copy already runs
  _Atomic uint64_t *pauseNanoseconds;

  // Results.
  uint32_t threadCount;   ///< from 1 to `threadLimit`
  uint32_t attachedCount; ///< number of attached threads. Those that are not the host's come after the first
                          ///< `threadCount`
  uint32_t awaitedCount;  ///< number of threads that were asked to stop and have not reported yet
  bool isFrozen;          ///< every other thread was stopped. Registers are missing where they could not be read
  _Atomic pid_t copy;     ///< ID of the copy, or −errno

  // Shared by the caller, the tracer and the copier. Each word is stored after the results that it announces. Plain
  // members are read after such a word, or after the end of the task that wrote them.
  _Atomic pid_t tracer;
  _Atomic uint32_t tracerRuns; ///< a futex: the kernel clears it when the tracer has ended
  bool isAlone;                ///< the host has no other threads
  bool stopsThreads;
  bool isLastTry;
  bool isGivenUp;              ///< the copy was given up because of late threads
  uint64_t lateCopyPatience;   ///< nanoseconds that the kernel may take to make the copy while there are late threads
  uint64_t longestPause;       ///< longest stop in all tries, in nanoseconds
  _Atomic uint32_t copierRuns; ///< like `tracerRuns`, for the thread that makes the copy while there are late threads
  uint64_t stopBegin;          ///< CLOCK_MONOTONIC when the first threads were asked to stop
  _Atomic uint32_t isAllowed;
  _Atomic uint64_t copyBegin; ///< CLOCK_MONOTONIC when the kernel was asked for the copy; 0 if it was not
  _Atomic uint32_t isDone;
};

// --- timed waits -----------------------------------------------------------------------------------------------------

// Waits that begin again from zero after a tracer has stopped their thread.
//
// The kernel restarts most waits with their remaining time, but some with their full time. If images are taken at short
// intervals, such a wait would never end. So the tracer shortens the wait.

/// A thread's wait as it was before the thread was asked to stop.
struct lt_timed_wait {
  long call;                       ///< number of the system call; negative if the thread is in no wait that must be
                                   ///< shortened
  uint64_t begin;                  ///< CLOCK_MONOTONIC
  uint64_t voluntary, involuntary; ///< number of times that the thread has left its processor
};

/// Finds threads in such waits, and measures the clocks of their processors. This may take milliseconds, so it must be
/// called before any thread is stopped. Moves the calling process between processors during that time.
void lt_timed_waits_prepare(pid_t process);
/// Records the wait of a thread that is about to be asked to stop. If lt_timed_waits_prepare did not find the thread,
/// reads no file.
void lt_timed_wait_record(pid_t process, uint32_t thread, struct lt_timed_wait *wait);
/// Shortens a stopped thread's wait to the remaining time, unless the thread has run since. Called by the thread's
/// tracer, which must share the program's memory.
void lt_timed_wait_shorten(pid_t process, uint32_t thread, const struct lt_timed_wait *wait);

// --- stop ------------------------------------------------------------------------------------------------------------

// Stops the threads of a process for a moment with ptrace, and resumes them. All functions run in the tracer, unless
// their comments say otherwise.

/// The values of `lt_copy_claim.late`. A late thread is one that had not stopped when the copy was made.
enum {
  LT_LATE_AWAITED,
  LT_LATE_NOTED,    ///< the copy may read the registers
  LT_LATE_LOST,     ///< unknown threads ran, or registers are missing, so the image is not frozen
  LT_LATE_GIVEN_UP, ///< the copy ends, and the tracer tries again
};

/// The flag of a late thread that has ended, or that is one of the recorder's helper tasks. The copy removes such a
/// thread from its list.
enum { LT_THREAD_LEFT_OUT = 1u << 31 };

/// The longest time to wait for late threads that wait for a processor.
enum { LT_LATE_MILLISECONDS = 10000 };

/// Makes room for `threadLimit` threads. Must be called before the tracer begins. Returns false if there is no memory.
bool lt_thread_stop_reserve(const struct lt_freeze *f);
/// Stops all threads except the one that waits for the tracer. Returns false if the kernel refuses.
bool lt_thread_stop_all(struct lt_freeze *f);
/// Reads the registers of the threads that have stopped.
void lt_thread_stop_read(struct lt_freeze *f);
/// Moves exited threads and the recorder's helper tasks to the end of the list. Marks the remaining threads that have
/// not stopped as late.
void lt_thread_stop_sort(struct lt_freeze *f);
/// Resumes the threads that have stopped.
void lt_thread_stop_resume(const struct lt_freeze *f);
/// Waits for the late threads, and resumes each one when it has stopped. Returns the new value of `lt_copy_claim.late`.
uint32_t lt_thread_stop_note_late(struct lt_freeze *f);
/// Forgets the threads. Must be called when the tracer has ended.
void lt_thread_stop_forget(const struct lt_freeze *f);
/// Resets the state in a child made by fork.
void lt_thread_stop_reset(void);

/// Returns the milliseconds since `begin`, which is in nanoseconds of CLOCK_MONOTONIC. May be called anywhere.
uint64_t lt_milliseconds_since(uint64_t begin);

#endif
