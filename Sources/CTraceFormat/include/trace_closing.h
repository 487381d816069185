// The closing record: the payload of an LT_CHUNK_CLOSING.

#ifndef LEAKTRACE_TRACE_CLOSING_H
#define LEAKTRACE_TRACE_CLOSING_H

#include "trace_status.h"

#include <stdint.h>

enum {
  LT_CLOSE_EXIT = 1,            ///< the process called exit or returned from main
  LT_CLOSE_EXEC = 2,            ///< the process is about to execute another program
  LT_CLOSE_STOPPED = 3,         ///< the recording ended before the process
  LT_CLOSE_RECOVERED = 4,       ///< the process died without closing; `record` finished the file
  LT_CLOSE_UNDERSCORE_EXIT = 5, ///< the process called _exit, _Exit or quick_exit
  LT_CLOSE_DETACHED = 6,        ///< the recording was ended on request; the process continues
};

struct lt_closing {
  uint32_t reason;    ///< LT_CLOSE_…
  int32_t waitStatus; ///< the status from waitpid; −1 if unknown
  uint64_t time;
  uint64_t monotonic;     ///< CLOCK_MONOTONIC at the same moment; 0 if unknown
  uint64_t eventCount;    ///< number of events in all chunks
  uint64_t residentBytes; ///< of the process, at the end; 0 if unknown
  uint64_t peakResidentBytes;
  uint64_t recorderBytes;    ///< the recorder's own part of the resident bytes
  uint32_t threadCount;      ///< threads that recorded at least one event
  uint32_t untracedChildren; ///< children started while children were not followed
  uint64_t drops[LT_DROP_COUNT];
};
_Static_assert(sizeof(struct lt_closing) == 160, "layout");

#endif
