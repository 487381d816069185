// Results of leaktrace_attach and leaktrace_detach, the preloaded library's functions that begin and end a recording in
// a running process.

#ifndef LEAKTRACE_ATTACH_RESULTS_H
#define LEAKTRACE_ATTACH_RESULTS_H

enum {
  LT_ATTACH_DONE = 0,
  LT_ATTACH_PRELOADED = 1,       ///< the library was preloaded at the program's start, so the program records itself
  LT_ATTACH_RECORDS = 2,         ///< a recording is already under way
  LT_ATTACH_NO_ALLOCATOR = 3,    ///< no image exports the malloc family
  LT_ATTACH_REFUSED = 4,         ///< the trace could not be created; a message says why
  LT_ATTACH_BUSY = 5,            ///< another such call is running, or a thread is still in a hook of the last recording
  LT_ATTACH_RECORDS_NOTHING = 6, ///< there is no recording to end
  LT_ATTACH_PROCESSOR = 7,       ///< reading the time stamp counter, or the cpuid instruction, would end the process
};

#endif
