// Demangling in a child process, because demanglers abort, run away or run out of memory on malformed names.

#ifndef LEAKTRACE_DEMANGLE_H
#define LEAKTRACE_DEMANGLE_H

#include "CSandboxedChild.h"

#include <stddef.h>

/// The most bytes of a mangled name, and of a demangled name.
enum { LT_DEMANGLER_NAME_LIMIT = 1 << 20 };

/// Starts a child that demangles. Returns 0 or an errno. A question is a Swift or C++ name, and its answer the
/// demangled name. There is no answer if the name is not mangled.
int lt_demangler_start(struct lt_child *child);

/// Demangles a name in this process. Returns a string for `free`, or NULL if the name is not mangled.
char *lt_demangle(const char *name, size_t length);

#endif
