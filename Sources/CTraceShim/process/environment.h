// The recorder's settings in the environment, and memory for the environments of other programs.

#ifndef LEAKTRACE_ENVIRONMENT_H
#define LEAKTRACE_ENVIRONMENT_H

#include "CTraceFormat.h"
#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- settings --------------------------------------------------------------------------------------------------------

// The environment variables that make a process record itself, and the variables for its children.

#define LT_PATTERN_FIELD(field) char field[4096];
#define LT_TEXT_FIELD(field) char field[4096];
#define LT_NUMBER_FIELD(field) uint64_t field;
#define LT_HEXADECIMAL_FIELD(field) uint64_t field;
#define LT_SECONDS_FIELD(field) uint64_t field;
#define LT_FLAG_FIELD(field) bool field;
#define LT_SWITCH_FIELD(field) bool field;
#define LT_CHOICE_FIELD(field) uint8_t field;
#define LT_FINISHED_TRACE_FIELD(field)
#define LT_FIELD(kind, NAME, field, ...) LT_##kind##_FIELD(field)

/// The fields of the table of settings, within their limits, and values that the recorder derives from variables.
struct lt_settings {
  LT_SETTINGS(LT_FIELD)
  int outputError;    ///< −errno: the reason why `output` is ""; 0 if `output` is an absolute pattern
  char preload[4096]; ///< this library, as LD_PRELOAD named it
  /// `laterSamplePeriod` if only samples are recorded; 0 if every call is recorded, until the trace's limit
  uint64_t samplePeriod;
};
#undef LT_FIELD
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
/// Frees an environment that lt_environment_for_child returned. Does nothing if it is `environment` or NULL.
void lt_environment_free(char **made, char *const environment[]);

// --- blocks ----------------------------------------------------------------------------------------------------------

// Memory for the environment of a program that replaces this one, or that a child executes.
//
// A child made by vfork runs in its parent's memory until it replaces its program. It takes a block there, and never
// returns to free it. Therefore each thread keeps one block, which the thread's next child reuses. Other threads may
// use the block of a thread that has ended.

/// Returns `size` bytes, or NULL if there is no memory. The caller may be a child that shares its parent's memory.
void *lt_environment_block_take(size_t size);
/// Returns a block from lt_environment_block_take, so that it can be reused.
void lt_environment_block_return(void *memory);
/// Resets the blocks in a child made by fork: the threads that had them do not exist there.
void lt_environment_block_reset_after_fork(void);

#endif
