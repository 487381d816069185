// Stacks of samples, captured from scratch in memory that all threads share: a sample is rare, and a thread's own
// memory for stacks is not small.

#ifndef LEAKTRACE_SAMPLED_STACK_H
#define LEAKTRACE_SAMPLED_STACK_H

#include <stdint.h>

/// Captures the stack of a hook's caller, whose frame address (__builtin_frame_address(0)) is `frame`, and returns its
/// site. LT_SAMPLED_SITE_UNKNOWN if so many threads are at it that there is no memory left. Calls nothing that
/// allocates or locks.
uint32_t lt_sampled_stack_site(const uintptr_t *frame);
/// Gives up memory that other threads were using: in a child made by fork.
void lt_sampled_stacks_reset_after_fork(void);

#endif
