// A recording of the test's own process.

#ifndef LEAKTRACE_TEST_RECORDING_H
#define LEAKTRACE_TEST_RECORDING_H

/// A recording of this process, in a temporary directory.
struct recording {
  char directory[32], output[128];
};

/// Begins a recording. `setting`: an additional environment variable, or NULL.
void begin_recording(struct recording *recording, char *setting);
/// Removes the trace and its live file.
void remove_recording(const struct recording *recording);

#endif
