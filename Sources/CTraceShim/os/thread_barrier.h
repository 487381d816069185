// A memory barrier in all threads of the process, so that hooks need none.

#ifndef LEAKTRACE_THREAD_BARRIER_H
#define LEAKTRACE_THREAD_BARRIER_H

/// Orders the memory accesses of all threads of the process. Each other thread executes a full memory barrier during
/// the call: all that this thread has written before is visible to its later accesses, and all that it has written
/// before is visible to this thread.
///
/// The kernel does this with membarrier(2). If a filter of system calls is in effect, or if the kernel refuses, this
/// function sleeps for LT_HELD_NANOSECONDS instead. Processors hold accesses back for a far shorter time.
///
/// Any thread may call this. Takes microseconds without the sleep. Opens a file in a separate task.
void lt_order_threads(void);

/// Longer than any processor takes to complete an access that it has begun.
enum { LT_HELD_NANOSECONDS = 20000000 };

#endif
