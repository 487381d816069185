#ifndef LEAKTRACE_LOAD_H
#define LEAKTRACE_LOAD_H

/// The one constructor: has the process recorded, unless there is a reason not to.
void lt_process_load(int argumentCount, char **arguments, char **environment) __attribute__((visibility("hidden")));

#endif
