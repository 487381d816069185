// The recorder's settings: environment variables that the command sets, and that the recorder reads and hands to
// children.

#ifndef LEAKTRACE_SETTINGS_H
#define LEAKTRACE_SETTINGS_H

#include "trace_header.h"

#include <stdint.h>

/// The start of the name of each variable. The recorder removes all variables with this prefix from a child's
/// environment, and from its own unless children are followed.
#define LT_SETTING_PREFIX "LEAKTRACE_"

/// What is recorded.
enum {
  LT_MODE_FULL = 0,  ///< every call, up to the trace's limit
  LT_MODE_LIGHT = 1, ///< only samples of allocations
};

enum {
  LT_USUAL_DEPTH = 65536,
  LT_USUAL_SAMPLE_PERIOD = 512 << 10, ///< the usual period of other heap profilers
  /// Small programs make fewer allocations than this. The stacks of these samples take at most half of the table of
  /// sites.
  LT_USUAL_FIRST_SAMPLES = 8192,
  LT_FIRST_SAMPLES_MAX = 16384,
  /// Enough images for a curve over a week. They take about 30 MB in the trace of a small server.
  LT_USUAL_KEPT_IMAGES = 100,
};

// The table of settings has one row a setting: X(kind, NAME, field, usual, handed, values, description).
//
// - `kind`: the form of the value.
//   - PATTERN: a path with placeholders. The recorder makes it absolute.
//   - TEXT: any text.
//   - NUMBER: a decimal number.
//   - HEXADECIMAL: a hexadecimal number.
//   - SECONDS: a decimal number of seconds. The field has nanoseconds.
//   - FLAG: 1 or 0. Every number except 0 sets the flag.
//   - SWITCH: on or off. Every word except "off" is on.
//   - CHOICE: one of some words. The field has the word's index.
//   - FINISHED_TRACE: the path of a trace that has ended. A program passes it to the program that replaces it. It has
//     no field.
// - `NAME`: the variable's name after the prefix.
// - `field`: the field of `struct lt_settings`.
// - `usual`: the field's value if the variable is missing.
// - `handed`: when a child gets the variable.
//   - ALWAYS.
//   - UNLESS_USUAL: if the field differs from the usual value.
//   - UNLESS_EMPTY: if the text is not empty.
//   - IF_SAMPLED: if the recorder samples, or will sample after the trace's limit.
//   - IF_FINISHED: if this program's trace has ended, because the child replaces the program.
// - `values`: the words of a choice, in order and separated by '|'. For other kinds, the unit.
//
// The order is the order of a child's variables. lt_environment_read applies limits and rules between settings.
#define LT_SETTINGS(X)                                                                                                \
  X(PATTERN, OUTPUT, output, "leaktrace.%n.%p.trace", ALWAYS, "path", "file of the trace")                            \
  X(TEXT, MESSAGES, messages, "", UNLESS_EMPTY, "path", "file for messages; missing if preloaded by hand")            \
  X(HEXADECIMAL, SESSION, session, 0, ALWAYS, "", "number of the session; 0: a random number")                        \
  X(NUMBER, DEPTH, depthLimit, LT_USUAL_DEPTH, ALWAYS, "frames", "limit of a stack, from 1 to 1 << 20")               \
  X(CHOICE, ARC, arcMode, LT_ARC_STACKS, ALWAYS, "stacks|counts|off", "how retains and releases are recorded")        \
  X(CHOICE, MODE, mode, LT_MODE_FULL, UNLESS_USUAL, "full|light", "which calls are recorded")                         \
  X(NUMBER, LIMIT, traceLimit, 0, UNLESS_USUAL, "bytes", "size of the trace at which sampling begins; 0: never")      \
  X(NUMBER, SAMPLE, laterSamplePeriod, LT_USUAL_SAMPLE_PERIOD, IF_SAMPLED, "bytes", "allocation between samples")     \
  X(NUMBER, SAMPLE_FIRST, firstSamples, LT_USUAL_FIRST_SAMPLES, IF_SAMPLED, "allocations", "first ones, all sampled") \
  X(SECONDS, SNAPSHOT_SECONDS, imageInterval, 0, IF_SAMPLED, "s", "time between heap images; 0: none at intervals")   \
  X(SECONDS, PROFILE_SECONDS, profileInterval, 0, IF_SAMPLED, "s", "time between heap profiles; 0: no profiles")      \
  X(NUMBER, SNAPSHOT_BYTES, imageSize, 0, IF_SAMPLED, "bytes", "resident memory that causes images; 0: none for it")  \
  X(NUMBER, KEEP_IMAGES, keptImages, LT_USUAL_KEPT_IMAGES, IF_SAMPLED, "images", "number that stay; 0: all stay")     \
  X(FLAG, FOLLOW, followsChildren, 0, ALWAYS, "", "children are recorded too")                                        \
  X(FLAG, PAUSED, startsPaused, 0, UNLESS_USUAL, "", "the recording begins paused")                                   \
  X(FLAG, QUIET, isQuiet, 0, UNLESS_USUAL, "", "no messages on standard error")                                       \
  X(FLAG, VERIFY_STACKS, verifiesStacks, 0, UNLESS_USUAL, "", "each stack is compared with a fresh unwind")           \
  X(SWITCH, SNAPSHOTS, takesSnapshots, 1, UNLESS_USUAL, "on|off", "heap images are taken")                            \
  X(NUMBER, SNAPSHOT_SIGNAL, snapshotSignal, 0, UNLESS_USUAL, "signal", "requests an image; 0: the usual, if free")   \
  X(NUMBER, ROUND_SIGNAL, roundSignal, 0, UNLESS_USUAL, "signal", "ends a round; 0: none")                            \
  X(FINISHED_TRACE, FINISHED, , , IF_FINISHED, "path", "trace whose live file the new program removes")

#define LT_SETTING(kind, NAME, ...) LT_SETTING_##NAME,
enum lt_setting { LT_SETTINGS(LT_SETTING) LT_SETTING_COUNT };
#undef LT_SETTING

/// The kinds of the table.
enum lt_setting_kind {
  LT_PATTERN_SETTING,
  LT_TEXT_SETTING,
  LT_NUMBER_SETTING,
  LT_HEXADECIMAL_SETTING,
  LT_SECONDS_SETTING,
  LT_FLAG_SETTING,
  LT_SWITCH_SETTING,
  LT_CHOICE_SETTING,
  LT_FINISHED_TRACE_SETTING,
};

/// A row of the table, for code that cannot expand macros. The texts are static.
struct lt_setting_row {
  const char *name; ///< of the variable, with the prefix
  enum lt_setting_kind kind;
  const char *values;
};

/// Returns the row of a setting. `setting` is less than LT_SETTING_COUNT.
static inline struct lt_setting_row lt_row_of_setting(enum lt_setting setting) {
#define LT_SETTING_ROW(kind, NAME, field, usual, handed, values, description) \
  {LT_SETTING_PREFIX #NAME, LT_##kind##_SETTING, values},
  static const struct lt_setting_row rows[] = { LT_SETTINGS(LT_SETTING_ROW) };
#undef LT_SETTING_ROW
  return rows[setting];
}

#endif
