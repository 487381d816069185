// The Swift runtimes of this process that are hooked.

#ifndef LEAKTRACE_SWIFT_RUNTIMES_H
#define LEAKTRACE_SWIFT_RUNTIMES_H

#include "swift/swift_runtime.h"

/// Hooks a runtime whose pointers the loader has set, and notes in the trace that Swift objects are seen. Does nothing
/// if it is hooked.
void lt_swift_runtimes_hook(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);
/// Reports, in the trace and to the user, why an image's Swift objects are not seen.
void lt_swift_runtimes_refuse(const struct lt_loaded_image *image, enum lt_swift_search reason);
/// Restores the pointers of all hooked runtimes.
void lt_swift_runtimes_unhook(void);
/// Forgets the image at [start, end), which was unloaded with its contents.
void lt_swift_runtimes_forget(uintptr_t start, uintptr_t end);

#endif
