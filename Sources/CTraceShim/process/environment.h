// The recorder's settings in the environment, and memory for the environments of other programs.

#ifndef LEAKTRACE_ENVIRONMENT_H
#define LEAKTRACE_ENVIRONMENT_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- settings --------------------------------------------------------------------------------------------------------

// The environment variables that make a process record, and those for its children.

struct lt_settings {
  char output[4096];   ///< absolute pattern; "" if none could be made
  int outputError;     ///< the reason if there is none: −errno; 0 exactly if there is an output
  char messages[4096]; ///< "" when preloaded by hand
  char preload[4096];  ///< this library, as LD_PRELOAD named it
  uint64_t session;
  uint32_t depthLimit; ///< from 1 to 1 << 20
  uint8_t arcMode;
  uint64_t imageInterval;   ///< nanoseconds from one heap image to the next; 0: no images at intervals
  uint64_t imageSize;       ///< resident bytes at which an image is taken; 0: no images for size
  uint32_t keptImages;      ///< images for these two reasons that stay in the trace; 0: all
  uint64_t profileInterval; ///< nanoseconds from one heap profile to the next; 0: none are written
  uint32_t firstSamples;    ///< number of first allocations that are all sampled. With samplePeriod
  uint64_t samplePeriod;    ///< bytes of allocation from one sample to the next; 0: everything is recorded
  /// trace size in bytes at which sampling begins; 0: never. Only with samplePeriod 0
  uint64_t traceLimit;
  uint64_t laterSamplePeriod; ///< samplePeriod after the limit; equal to samplePeriod where that is not 0
  bool followsChildren, startsPaused, isQuiet, verifiesStacks;
  bool takesSnapshots;
  uint32_t snapshotSignal; ///< 0: the usual one, if it is free
  uint32_t roundSignal;    ///< the signal that ends a round; 0: none
};
extern struct lt_settings lt_settings __attribute__((visibility("hidden")));

/// Reads the settings, and removes the variables from the environment, in place, unless children are followed.
/// `environment` is the program's initial one: the C library may not have it yet.
void lt_environment_read(char **environment);

/// Removes the variables from the environment, in place: no child is followed from now on.
void lt_environment_follow_no_more(void);

/// Returns an environment for a child: `environment` with the recorder's variables in it, or without them. The caller
/// passes the result to lt_environment_free. It is `environment` itself if LD_PRELOAD did not name this library, and
/// without memory.
char **lt_environment_for_child(char *const environment[], bool isTraced, const char *finishedTrace);
void lt_environment_free(char **made, char *const environment[]);

// --- blocks ----------------------------------------------------------------------------------------------------------

// Memory for the environment of a program that replaces this one, or that a child executes.
//
// A child of vfork replaces its program in its parent's memory, so it never returns to free the block. So each thread
// keeps one block, which its next child reuses. A thread that has ended leaves its block to the others.

/// `size` bytes, or NULL. The caller may be a child that shares its parent's memory.
void *lt_environment_block_take(size_t size);
void lt_environment_block_return(void *memory);
/// Resets the blocks in a child made by fork: the threads that had them do not exist there.
void lt_environment_block_reset_after_fork(void);

#endif
