// Creates the trace and its live file.

#ifndef LEAKTRACE_TRACE_OPENING_H
#define LEAKTRACE_TRACE_OPENING_H

#include <stdbool.h>
#include <stdint.h>

struct lt_trace_options {
  const char *pattern; ///< absolute path with %p, %n, %%
  uint64_t session;
  uint32_t flags; ///< LT_OPTION_
  uint8_t arcMode;
  uint32_t depthLimit;
  uint32_t firstSamples; ///< with LT_OPTION_LIGHT
  uint64_t samplePeriod; ///< with LT_OPTION_LIGHT or LT_OPTION_LIMITED
  bool takesImagesBack;
};

/// Creates the trace and its live file. False, after saying why, when that cannot be.
bool lt_trace_open(const struct lt_trace_options *options, const char *programName);
/// Removes the live file of the program that this one has replaced, and the room that its trace had ahead. Before
/// anything is recorded.
void lt_trace_finish_replaced(const char *path);

#endif
