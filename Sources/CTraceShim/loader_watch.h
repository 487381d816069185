// Sees Swift runtimes that come into the process: those that are there from the start, and those that are loaded later.

#ifndef LEAKTRACE_LOADER_WATCH_H
#define LEAKTRACE_LOADER_WATCH_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/// Hooks the runtimes that are there, and has the loader tell of images that it brings in or takes away. Once, before hooks are on.
void lt_loader_watch_begin(void);
/// Whether the loader tells. If not, what follows has to be called by who looks at images.
bool lt_loader_watch_is_on(void);
/// An image that was not there before. False if it is not relocated yet, and has to be shown again.
bool lt_loader_watch_came(const struct dl_phdr_info *info);
/// An image that was there and is not any more.
void lt_loader_watch_went(uintptr_t start, uintptr_t end);
/// Shows the images of the namespaces that are not the program's, as far as the loader tells of them, without their thread-local variables. To be called
/// while dl_iterate_phdr shows an image.
void lt_loader_watch_each_elsewhere(int (*look)(struct dl_phdr_info *, size_t, void *), size_t size, void *context);

/// Leaves unread what the loader tells from now on: recording has stopped for good.
void lt_loader_watch_end(void);

#endif
