// Hooks of calls that change the process. Only the hooks of its end need a setup.

#ifndef LEAKTRACE_PROCESS_HOOKS_H
#define LEAKTRACE_PROCESS_HOOKS_H

/// Has `finish` called when all handlers and destructors are done, and a snapshot taken before the first of them. Call
/// it before others register.
void lt_exit_hooks_init(void (*finish)(void *));

#endif
