// Hooks of the ends of a process.

#ifndef LEAKTRACE_EXIT_HOOKS_H
#define LEAKTRACE_EXIT_HOOKS_H

/// Has `finish` called when all handlers and destructors are done, and a snapshot taken before the first of them. Call
/// it before others register.
void lt_exit_hooks_init(void (*finish)(void *));

#endif
