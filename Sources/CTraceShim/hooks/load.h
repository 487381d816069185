#ifndef LEAKTRACE_LOAD_H
#define LEAKTRACE_LOAD_H

#include <stdbool.h>

/// Tells whether the library came into a process that was running: it stands behind the C library in the loader's
/// order, where it is when it was not preloaded.
bool lt_process_was_running(void);
/// The one constructor: has the process recorded, unless there is a reason not to, or it was running.
void lt_process_load(int argumentCount, char **arguments, char **environment) __attribute__((visibility("hidden")));

#endif
