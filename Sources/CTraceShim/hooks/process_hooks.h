// Hooks of calls that change the process. Only the hooks of process exit need a setup.

#ifndef LEAKTRACE_PROCESS_HOOKS_H
#define LEAKTRACE_PROCESS_HOOKS_H

/// Makes the C library call `finish`, if it is not NULL, after all exit handlers and destructors. Also prepares the
/// snapshot that is taken before the first of them. Must be called before other handlers are registered.
void lt_exit_hooks_init(void (*finish)(void *));

#endif
