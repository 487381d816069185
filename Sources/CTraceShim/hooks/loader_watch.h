// Finds the Swift runtimes of the process: the ones present at the start, and the ones that are loaded later.

#ifndef LEAKTRACE_LOADER_WATCH_H
#define LEAKTRACE_LOADER_WATCH_H

#include <stdbool.h>

/// Hooks the present runtimes, and makes the loader report images that it loads or unloads. Called before hooks are on,
/// and again after an end. `bindsTables`: some hooks are not reached by name in the program's namespace, so its images'
/// tables are bound to them. The loader must not be running then.
void lt_loader_watch_begin(bool bindsTables);
/// True if the loader reports images. If not, they are examined whenever the list of images is.
bool lt_loader_watch_is_on(void);
/// Ignores the loader's reports from now on.
void lt_loader_watch_end(void);
/// Restores changed runtimes and tables, after the end. The loader must not be running. In namespaces other than the
/// program's, references to malloc keep leading to the hooks.
void lt_loader_watch_undo(void);

#endif
