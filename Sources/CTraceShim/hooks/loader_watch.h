// Finds the Swift runtimes of the process: the ones present at the start, and the ones that are loaded later.

#ifndef LEAKTRACE_LOADER_WATCH_H
#define LEAKTRACE_LOADER_WATCH_H

#include <stdbool.h>

/// Hooks the present runtimes, and makes the loader report images that it loads or unloads. Called before hooks are on,
/// and again for a recording after lt_loader_watch_end. `bindsTables`: binds the tables of the images in the program's
/// namespace to the hooks, because some hooks cannot be reached by name there. If this is set, the loader must not be
/// running.
void lt_loader_watch_begin(bool bindsTables);
/// True if the loader reports images. If not, new images are examined when the list of images is refreshed.
bool lt_loader_watch_is_on(void);
/// Ignores the loader's reports from now on.
void lt_loader_watch_end(void);
/// Restores changed runtimes and tables. Called after lt_loader_watch_end. The loader must not be running. In
/// namespaces other than the program's, references to malloc keep leading to the hooks.
void lt_loader_watch_undo(void);

#endif
