// The process's threads that are the recorder's own: images leave them out.

#ifndef LEAKTRACE_OWN_THREADS_H
#define LEAKTRACE_OWN_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// The kernel's number of the thread that watches expectations, 0 while there is none.
pid_t lt_own_threads_watcher(void);
void lt_own_threads_set_watcher(pid_t thread);
/// Tells whether the thread with this number of the kernel's takes an image for a requester outside.
bool lt_own_threads_serves(uint32_t osThread);
/// Tells whether the process has threads besides the calling one and the recorder's watcher, which touches nothing of
/// the host's.
bool lt_own_threads_has_others(void);

#endif
