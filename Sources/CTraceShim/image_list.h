// The images loaded in the process, written to the trace as they come and go.

#ifndef LEAKTRACE_IMAGE_LIST_H
#define LEAKTRACE_IMAGE_LIST_H

#include "thread_state.h"

/// Looks whether images came or went since the last look, and defines what changed. Cheap when nothing did. Skips when another thread is at it.
void lt_image_list_refresh(struct lt_thread *thread);
/// Whether an image that was written covers the address. A false no only costs a refresh.
bool lt_image_list_covers(uintptr_t address);
/// Whether two addresses are in one image.
bool lt_image_list_has_both(uintptr_t a, uintptr_t b);
/// Bytes below a thread pointer that are thread-local variables, as far as images were looked at.
uint64_t lt_static_tls_size(void);
/// Forgets what was written: in a child made by fork, for its own trace.
void lt_image_list_reset(void);

#endif
