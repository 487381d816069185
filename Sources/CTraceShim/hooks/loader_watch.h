// Sees Swift runtimes that come into the process: those that are there from the start, and those that are loaded later.

#ifndef LEAKTRACE_LOADER_WATCH_H
#define LEAKTRACE_LOADER_WATCH_H

#include <stdbool.h>

/// Hooks the runtimes that are there, and has the loader tell of images that it brings in or takes away. Once, before
/// hooks are on.
void lt_loader_watch_begin(void);
/// Tells whether the loader reports images. If not, they are looked at when the list of images is.
bool lt_loader_watch_is_on(void);
/// Ignores the loader's reports from now on: recording has stopped for good.
void lt_loader_watch_end(void);

#endif
