// Begins recordings: when the library is loaded, and when it is attached to a running process.

#ifndef LEAKTRACE_STARTUP_H
#define LEAKTRACE_STARTUP_H

#include <stdbool.h>

/// True if the library was loaded into a running process. In that case the library was not preloaded, and follows the C
/// library in the loader's order.
bool lt_process_was_running(void);
/// The only constructor. Begins to record the process, unless there is a reason not to, or lt_process_was_running is
/// true.
void lt_process_load(int argumentCount, char **arguments, char **environment) __attribute__((visibility("hidden")));

#endif
