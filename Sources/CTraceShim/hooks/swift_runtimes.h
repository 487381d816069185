// The Swift runtimes of this process that are hooked.

#ifndef LEAKTRACE_SWIFT_RUNTIMES_H
#define LEAKTRACE_SWIFT_RUNTIMES_H

#include "swift/swift_runtime.h"

/// Hooks a runtime whose pointers the loader has set, and says in the trace that Swift objects are seen. Does nothing
/// if it is hooked.
void lt_swift_runtimes_hook(const struct lt_loaded_image *image, const struct lt_swift_runtime *runtime);
/// Tells the trace, and whoever started the recording, why an image's Swift objects are not seen.
void lt_swift_runtimes_refuse(const struct lt_loaded_image *image, enum lt_swift_search reason);
/// Puts back the pointers of all runtimes that are hooked.
void lt_swift_runtimes_unhook(void);
/// Forgets the image at [start, end), which is gone with its contents.
void lt_swift_runtimes_forget(uintptr_t start, uintptr_t end);

#endif
