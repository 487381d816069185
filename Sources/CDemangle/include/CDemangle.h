// Demangling in a child process, because demanglers abort, run away or run out of memory on malformed names.

#ifndef LEAKTRACE_DEMANGLE_H
#define LEAKTRACE_DEMANGLE_H

#include <stddef.h>
#include <sys/types.h>

/// A child process that demangles one name at a time. All zero means none.
struct lt_demangler_process {
  pid_t process;
  int socket;
};

/// Starts the child. 0, or an errno. The child holds no descriptor of its parent's but its end of a socket, and ends
/// when the other is closed.
int lt_demangler_start(struct lt_demangler_process *child);

/// Demangles a Swift or C++ name. 0 on success: `*result` is a string for `free`, or NULL if the name is not mangled.
/// Otherwise the name was too much for the child, which has been ended; `lt_demangler_start` makes another.
int lt_demangler_ask(struct lt_demangler_process *child, const char *name, size_t length, char **result);

/// Ends the child, if there is one, and waits for it.
void lt_demangler_stop(struct lt_demangler_process *child);

/// The same in this process. NULL if the name is not mangled.
char *lt_demangle(const char *name, size_t length);

#endif
