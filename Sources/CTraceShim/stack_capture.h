// The calling thread's whole stack, as a change of the one before. Never symbols.

#ifndef LEAKTRACE_STACK_CAPTURE_H
#define LEAKTRACE_STACK_CAPTURE_H

#include "event_buffer.h"

/// How the stack of a hook's caller differs from the one recorded before, innermost frame the hook's caller. `frame` is the hook's own
/// frame address (__builtin_frame_address(0)): the hook is compiled with a frame pointer. The change must be recorded, in the
/// same payload, before the next capture. Linear in the depth for a look at each return address; frames that did not change since the
/// thread's last call are not unwound again.
void lt_capture_stack(struct lt_thread *thread, const uintptr_t *frame, struct lt_stack_change *change);

/// Makes every thread unwind afresh at its next event: an image has gone.
void lt_stack_capture_invalidate(void);
/// Prepares; once. False without memory. `limit`: frames recorded at most. `verifies`: compare each stack with a fresh full unwind.
bool lt_stack_capture_init(uint32_t limit, bool verifies);
uint32_t lt_stack_depth_limit(void);

#endif
