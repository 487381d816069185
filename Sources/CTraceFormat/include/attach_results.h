// Results of the preloaded library's functions that begin and end a recording in a process that runs: leaktrace_attach
// and leaktrace_detach.

#ifndef LEAKTRACE_ATTACH_RESULTS_H
#define LEAKTRACE_ATTACH_RESULTS_H

enum {
  LT_ATTACH_DONE = 0,
  LT_ATTACH_PRELOADED = 1,       ///< the program was started with the library, and records or has recorded by itself
  LT_ATTACH_RECORDS = 2,         ///< a recording is under way already
  LT_ATTACH_NO_ALLOCATOR = 3,    ///< no image defines the malloc family for others
  LT_ATTACH_REFUSED = 4,         ///< the trace could not be made; a message says why
  LT_ATTACH_BUSY = 5,            ///< another call is at work, or a thread has not left the last recording's hooks
  LT_ATTACH_RECORDS_NOTHING = 6, ///< there is no recording to be ended
  LT_ATTACH_PROCESSOR = 7,       ///< reads of the processor's counter, or questions to it, end the process
};

#endif
