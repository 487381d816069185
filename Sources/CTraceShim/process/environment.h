// The recorder's settings in the environment, and memory for the environments of other programs.

#ifndef LEAKTRACE_ENVIRONMENT_H
#define LEAKTRACE_ENVIRONMENT_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- settings --------------------------------------------------------------------------------------------------------

// The environment variables that make a process record itself, and the variables for its children.

struct lt_settings {
  char output[4096];   ///< absolute pattern; "" if none could be made
  int outputError;     ///< −errno: the reason why `output` is ""; 0 if `output` is set
  char messages[4096]; ///< path for messages; "" if the library was preloaded by hand
  char preload[4096];  ///< this library, as LD_PRELOAD named it
  uint64_t session;
  uint32_t depthLimit; ///< from 1 to 1 << 20
  uint8_t arcMode;
  uint64_t imageInterval;   ///< nanoseconds from one heap image to the next; 0: no images at intervals
  uint64_t imageSize;       ///< takes an image when the process has this many resident bytes; 0: no images for size
  uint32_t keptImages;      ///< how many images of these two kinds stay in the trace; 0: all
  uint64_t profileInterval; ///< nanoseconds from one heap profile to the next; 0: none are written
  uint32_t firstSamples;    ///< number of first allocations that are all sampled; only with samplePeriod
  uint64_t samplePeriod;    ///< bytes of allocation from one sample to the next; 0: everything is recorded
  /// sampling begins when the trace has this many bytes; 0: never. Only with samplePeriod 0
  uint64_t traceLimit;
  uint64_t laterSamplePeriod; ///< the sample period after the limit; equal to samplePeriod if that is not 0
  bool followsChildren, startsPaused, isQuiet, verifiesStacks;
  bool takesSnapshots;
  uint32_t snapshotSignal; ///< 0: the usual one, if the host does not use it
  uint32_t roundSignal;    ///< the signal that ends a round; 0: none
};
extern struct lt_settings lt_settings __attribute__((visibility("hidden")));

/// Reads the settings, and removes the variables from the environment, in place, unless children are followed.
/// `environment` is the program's initial environment, since the C library may not have set `environ` yet.
void lt_environment_read(char **environment);

/// Stops following children: removes the variables from the environment, in place.
void lt_environment_stop_following(void);

/// Returns an environment for a child: `environment` with the recorder's variables in it, or without them. The caller
/// passes the result to lt_environment_free. Returns `environment` itself if LD_PRELOAD did not name this library, or
/// if there is no memory. `finishedTrace`: the trace whose live file the new program is to remove, or NULL.
char **lt_environment_for_child(char *const environment[], bool isTraced, const char *finishedTrace);
void lt_environment_free(char **made, char *const environment[]);

// --- blocks ----------------------------------------------------------------------------------------------------------

// Memory for the environment of a program that replaces this one, or that a child executes.
//
// A child made by vfork runs in its parent's memory until it replaces its program. It takes a block there, and never
// returns to free it. Therefore each thread keeps one block, which the thread's next child reuses. Other threads may
// use the block of a thread that has ended.

/// Returns `size` bytes, or NULL if there is no memory. The caller may be a child that shares its parent's memory.
void *lt_environment_block_take(size_t size);
void lt_environment_block_return(void *memory);
/// Resets the blocks in a child made by fork: the threads that had them do not exist there.
void lt_environment_block_reset_after_fork(void);

#endif
