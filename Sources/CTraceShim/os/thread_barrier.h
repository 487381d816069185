// A memory barrier in all threads of the process, so that hooks need none.

#ifndef LEAKTRACE_THREAD_BARRIER_H
#define LEAKTRACE_THREAD_BARRIER_H

#include <stdbool.h>

/// Orders the memory accesses of all threads of the process. Each other thread executes a full memory barrier during
/// the call: all that this thread has written before is visible to its later accesses, and all that it has written
/// before is visible to this thread.
///
/// The kernel does this with membarrier(2). If a filter of system calls is in effect, or if the kernel refuses, this
/// function sleeps for LT_HELD_NANOSECONDS instead. Processors hold accesses back for a far shorter time.
///
/// Any thread may call this. Opens a file in a separate task. The first call in a process takes some milliseconds,
/// since the kernel notes the process, and later calls take microseconds.
void lt_order_threads(void);
/// Does the same without the sleep. False if the threads have not been ordered. A caller that has slept for
/// LT_HELD_NANOSECONDS since its last store needs no more then.
bool lt_order_threads_at_once(void);

/// Longer than any processor takes to complete an access that it has begun.
enum { LT_HELD_NANOSECONDS = 20000000 };

#endif
