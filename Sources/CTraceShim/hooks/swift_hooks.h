// Hooks of Swift runtimes: through their pointers, and by the names of their functions.

#ifndef LEAKTRACE_SWIFT_HOOKS_H
#define LEAKTRACE_SWIFT_HOOKS_H

#include "swift/swift_runtime.h"

// --- runtimes --------------------------------------------------------------------------------------------------------

// The Swift runtimes of this process that are hooked.

/// Hooks a runtime whose pointers the loader has set, and notes in the trace that Swift objects are seen. Does nothing
/// if the runtime is already hooked.
void lt_swift_runtimes_hook(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);
/// Reports, in the trace and to the user, why an image's Swift objects are not seen.
void lt_swift_runtimes_refuse(const struct lt_loaded_image *image, enum lt_swift_search reason);
/// Restores the pointers of all hooked runtimes.
void lt_swift_runtimes_unhook(void);
/// Forgets the runtimes of images in [start, end), which were unloaded.
void lt_swift_runtimes_forget(uintptr_t start, uintptr_t end);

// --- interposed functions --------------------------------------------------------------------------------------------

// Hooks of a Swift runtime's reference-counting functions that are interposed by name.

/// Finds the functions that the hooks call. Must be called whenever images that define such functions were loaded or
/// unloaded. Before the first call of this function, and after lt_swift_relatives_unsettle, hooks pass each call to the
/// runtime of their caller. Calls dl_iterate_phdr.
void lt_swift_relatives_settle(void);
/// Notes that some image was unloaded. Called when it is not known which one.
void lt_swift_relatives_unsettle(void);

#endif
