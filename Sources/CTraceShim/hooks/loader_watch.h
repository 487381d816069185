// Sees Swift runtimes that come into the process: those that are there from the start, and those that are loaded later.

#ifndef LEAKTRACE_LOADER_WATCH_H
#define LEAKTRACE_LOADER_WATCH_H

#include <stdbool.h>

/// Hooks the runtimes that are there, and has the loader tell of images that it brings in or takes away. Before hooks
/// are on, and again after an end. `bindsTables`: some hooks have no name that leads to them in the program's
/// namespace, so the tables of its images are to; then the loader must not be at work.
void lt_loader_watch_begin(bool bindsTables);
/// Tells whether the loader reports images. If not, they are looked at when the list of images is.
bool lt_loader_watch_is_on(void);
/// Ignores the loader's reports from now on.
void lt_loader_watch_end(void);
/// Puts back what was changed in runtimes and tables, after the end. The loader must not be at work. In namespaces that
/// are not the program's, references to malloc lead to the hooks for good.
void lt_loader_watch_undo(void);

#endif
