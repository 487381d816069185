// Hooks of the Swift runtime's pointers: object allocation, retain, release and their relatives.

#ifndef LEAKTRACE_SWIFT_HOOKS_H
#define LEAKTRACE_SWIFT_HOOKS_H

#include "swift/swift_runtime.h"

/// Runtimes that can be hooked at a time. Each has a set of hooks in the code.
enum { LT_SWIFT_RUNTIME_LIMIT = 8 };

/// Puts the hooks of a number below the limit into a runtime's pointers. `lt_arc_mode` decides whether retains and
/// releases are among them.
void lt_swift_hooks_install(unsigned number, const struct lt_swift_runtime *runtime);
/// Puts back the pointers of the runtime that has the hooks of a number. Threads may still be inside the hooks.
void lt_swift_hooks_remove(unsigned number);

#endif
