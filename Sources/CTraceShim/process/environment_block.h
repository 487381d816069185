// Memory for the environment of a program that replaces this one, or that a child executes.
//
// A child of vfork replaces its program in its parent's memory, so it never returns to free the block. So each thread
// keeps one block, which its next child reuses. A thread that has ended leaves its block to the others.

#ifndef LEAKTRACE_ENVIRONMENT_BLOCK_H
#define LEAKTRACE_ENVIRONMENT_BLOCK_H

#include <stddef.h>

/// `size` bytes, or NULL. The caller may be a child that shares its parent's memory.
void *lt_environment_block_take(size_t size);
void lt_environment_block_return(void *memory);
/// Resets the blocks in a child made by fork: the threads that had them do not exist there.
void lt_environment_block_reset_after_fork(void);

#endif
