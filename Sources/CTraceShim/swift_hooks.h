// Hooks of the Swift runtime: object allocation, retain, release and their relatives.

#ifndef LEAKTRACE_SWIFT_HOOKS_H
#define LEAKTRACE_SWIFT_HOOKS_H

#include "swift_runtime.h"

/// Finds the next definitions of the functions interposed by name. Once, before hooks are on.
void lt_swift_hooks_init(uint8_t arcMode);
/// Puts the hooks into the runtime's pointers. `arcMode` of lt_swift_hooks_init decides whether retains and releases are among them.
void lt_swift_hooks_install(const struct lt_swift_runtime *runtime);

#endif
