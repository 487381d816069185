// The state of one freeze of the process, which the caller, the tracer and the copy share.

#ifndef LEAKTRACE_FREEZE_STATE_H
#define LEAKTRACE_FREEZE_STATE_H

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

#include <stdatomic.h>

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

#endif
