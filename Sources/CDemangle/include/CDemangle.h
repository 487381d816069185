// Demangling in a child process, because demanglers abort, run away or run out of memory on malformed names.

#ifndef LEAKTRACE_DEMANGLE_H
#define LEAKTRACE_DEMANGLE_H

#include "CSandboxedChild.h"

#include <stddef.h>

/// Bytes of a name, and of what it demangles to.
enum { LT_DEMANGLER_NAME_LIMIT = 1 << 20 };

/// Starts a child that demangles. 0, or an errno. A question is a Swift or C++ name, its answer the demangled one;
/// there is none if the name is not mangled.
int lt_demangler_start(struct lt_child *child);

/// The same in this process: a string for `free`, NULL if the name is not mangled.
char *lt_demangle(const char *name, size_t length);

#endif
