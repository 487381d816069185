// Hooks of Swift runtimes: through their pointers, and by the names of their functions.

#ifndef LEAKTRACE_SWIFT_HOOKS_H
#define LEAKTRACE_SWIFT_HOOKS_H

#include "swift/swift_runtime.h"

// --- runtimes --------------------------------------------------------------------------------------------------------

// The Swift runtimes of this process that are hooked.

/// Hooks a runtime whose pointers the loader has set, and notes in the trace that Swift objects are seen. Does nothing
/// if it is hooked.
void lt_swift_runtimes_hook(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);
/// Reports, in the trace and to the user, why an image's Swift objects are not seen.
void lt_swift_runtimes_refuse(const struct lt_loaded_image *image, enum lt_swift_search reason);
/// Restores the pointers of all hooked runtimes.
void lt_swift_runtimes_unhook(void);
/// Forgets the image at [start, end), which was unloaded with its contents.
void lt_swift_runtimes_forget(uintptr_t start, uintptr_t end);

// --- interposed functions --------------------------------------------------------------------------------------------

// Hooks of counting functions inside a Swift runtime, interposed by name.

/// Finds the functions that the hooks call. Must be called whenever images that define such functions were loaded or
/// unloaded. Before that, and after lt_swift_relatives_unsettle, each call is resolved to its caller's runtime. Calls
/// dl_iterate_phdr.
void lt_swift_relatives_settle(void);
/// Notes that an image was unloaded, when it is not known which.
void lt_swift_relatives_unsettle(void);

#endif
