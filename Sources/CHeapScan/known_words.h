// Finds words of the runtime and of the C library that a heap image keeps unchanged, although no type describes them.

#ifndef LEAKTRACE_KNOWN_WORDS_H
#define LEAKTRACE_KNOWN_WORDS_H

#include "memory_scan.h"

/// Adds the types of tasks to the scan's types. Call it after the types of objects were added. Linear in the written
/// pages of files' mappings.
void lt_add_task_types(struct lt_memory_scan *scan);
/// Adds the words that name the owner of a lock that a thread waits for. Constant time for each thread.
void lt_add_lock_owners(struct lt_memory_scan *scan);
/// Adds the states of the queues that the waiting threads take the runtime's jobs from. Linear in the outermost 16 KiB
/// of their stacks.
void lt_add_job_queues(struct lt_memory_scan *scan);

#endif
