// Demangles names in a child process, because a demangler may abort, never end or run out of memory if a name is
// malformed.

#ifndef LEAKTRACE_DEMANGLE_H
#define LEAKTRACE_DEMANGLE_H

#include "CSandboxedChild.h"

#include <stddef.h>

/// The most bytes of a mangled name, and of a demangled name.
enum { LT_DEMANGLER_NAME_LIMIT = 1 << 20 };

/// Starts a child that demangles names. Returns 0 or an errno. A question is a Swift or C++ name, and its answer is the
/// demangled name. There is no answer if the name is not mangled.
int lt_demangler_start(struct lt_child *child);

/// Demangles a name in this process. Returns a string that must be freed with `free`, or NULL if the name is not
/// mangled.
char *lt_demangle(const char *name, size_t length);

#endif
