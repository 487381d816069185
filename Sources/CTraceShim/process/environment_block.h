// Memory for the environment of a program that replaces this one, or that a child runs.
//
// A child of vfork replaces its program in its parent's memory: nobody comes back to give the block away. So each
// thread keeps one, which its next child takes over; a thread that has ended leaves its block to the others.

#ifndef LEAKTRACE_ENVIRONMENT_BLOCK_H
#define LEAKTRACE_ENVIRONMENT_BLOCK_H

#include <stddef.h>

/// `size` bytes, or NULL. The caller may be a child that shares its parent's memory.
void *lt_environment_block_take(size_t size);
void lt_environment_block_return(void *memory);
/// Resets the blocks in a child made by fork: no thread that had one is here.
void lt_environment_block_reset_after_fork(void);

#endif
