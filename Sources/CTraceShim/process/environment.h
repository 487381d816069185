// The variables that tell a process to trace, and those for its children.

#ifndef LEAKTRACE_ENVIRONMENT_H
#define LEAKTRACE_ENVIRONMENT_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lt_settings {
  char output[4096];   ///< absolute pattern; "" if there is none to be had
  int outputError;     ///< the reason for none: −errno; 0 exactly if there is an output
  char messages[4096]; ///< "" when preloaded by hand
  char preload[4096];  ///< this library, as LD_PRELOAD named it
  uint64_t session;
  uint32_t depthLimit; ///< from 1 to 1 << 20
  uint8_t arcMode;
  uint64_t imageInterval;   ///< nanoseconds from one heap image to the next; 0: none are taken by themselves
  uint64_t imageSize;       ///< resident bytes from which on one is taken; 0: none is for that
  uint32_t keptImages;      ///< images for these two reasons that stay in the trace; 0: all
  uint64_t profileInterval; ///< nanoseconds from one heap profile to the next; 0: none are written
  uint32_t firstSamples;    ///< allocations that are all sampled, before others are. With samplePeriod
  uint64_t samplePeriod;    ///< bytes of allocation from one sample to the next; 0: everything is recorded
  /// bytes of the trace from which on samples are taken; 0: none are. With samplePeriod 0
  uint64_t traceLimit;
  uint64_t laterSamplePeriod; ///< as samplePeriod, from then on; equal to it where that is not 0
  bool followsChildren, startsPaused, isQuiet, verifiesStacks;
  bool takesSnapshots;
  uint32_t snapshotSignal; ///< 0: the usual one, if it is free
  uint32_t roundSignal;    ///< at which a round is over; 0: none
};
extern struct lt_settings lt_settings __attribute__((visibility("hidden")));

/// Reads the settings, and takes the variables out of the environment, in place, unless children are followed.
/// `environment` is what the program was started with: the C library may not have it yet.
void lt_environment_read(char **environment);

/// Takes the variables out of the environment, in place: no child is followed from now on.
void lt_environment_follow_no_more(void);

/// Returns an environment for a child: `environment` with the recorder's variables in it, or without them. The result
/// is memory that lt_environment_free takes, or `environment` itself: if LD_PRELOAD did not name this library, and
/// without memory.
char **lt_environment_for_child(char *const environment[], bool isTraced, const char *finishedTrace);
void lt_environment_free(char **made, char *const environment[]);

#endif
