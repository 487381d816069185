// The part of a trace's header page that the recorder keeps up to date.

#ifndef LEAKTRACE_TRACE_STATUS_H
#define LEAKTRACE_TRACE_STATUS_H

#include <stddef.h>
#include <stdint.h>

/// The state of the recorder. It is only a hint, since this part has no checksum. A closing record overrides it.
enum {
  LT_STATE_RECORDING = 1,
  LT_STATE_CLOSED = 2,  ///< a closing record was written
  LT_STATE_STOPPED = 3, ///< the recording ended early: see stopErrno
};

/// Reasons for missing events, as indices of the drop counters.
enum {
  LT_DROP_NESTED = 0,           ///< calls by a signal handler that had interrupted a hook
  LT_DROP_STOPPED = 1,          ///< calls after recording had to stop (disk full, file gone)
  LT_DROP_NO_MEMORY = 2,        ///< no memory for a thread's buffer
  LT_DROP_STACK_TRUNCATED = 3,  ///< stacks cut at the depth limit (the event itself is recorded)
  LT_DROP_STACK_INCOMPLETE = 4, ///< stacks that end at a frame without unwind information (the event is recorded)
  /// expectations that did not fit into the recorder's table (the mark is recorded)
  LT_DROP_EXPECTATION_UNWATCHED = 5,
  LT_DROP_PAUSED = 6,         ///< reserved: pauses are records, and calls during a pause are not counted
  LT_DROP_STACK_MISMATCH = 7, ///< LT_OPTION_VERIFY_STACKS: stacks that differed from a fresh unwind
  LT_DROP_COUNT = 12,
};

/// The mutable part of the header page, at LT_TRACE_STATUS_OFFSET. The recorder updates it in place.
struct lt_trace_status {
  uint32_t state;      ///< LT_STATE_…
  int32_t stopErrno;   ///< errno that stopped the recording, 0 if none
  uint64_t stopTime;   ///< trace clock
  uint64_t eventCount; ///< events in sealed chunks
  uint64_t drops[LT_DROP_COUNT];
  /// the offset after the last chunk that was begun. A hole may follow it in the file. 0 if the trace ends where the
  /// file ends
  uint64_t dataEnd;
  uint64_t fileSize;  ///< the file's size, as the recorder set it
  uint32_t isGrowing; ///< a recording process is making the file larger
  uint32_t reserved;
};
_Static_assert(offsetof(struct lt_trace_status, dataEnd) == 120, "layout");
_Static_assert(sizeof(struct lt_trace_status) == 144, "layout");

#endif
