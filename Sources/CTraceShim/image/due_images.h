// Heap images without a request: at an interval, and when the process has become large.

#ifndef LEAKTRACE_DUE_IMAGES_H
#define LEAKTRACE_DUE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

/// Starts the timers. `interval`: nanoseconds from one image to the next, 0 for none. `resident`: the resident bytes at
/// which an image is due, 0 for none. Called when the trace is open.
void lt_due_images_begin(uint64_t interval, uint64_t resident);
/// Takes an image if one is due at `now`, nanoseconds of CLOCK_MONOTONIC. May be called by any thread, in the hook of
/// an allocation of `size` bytes. If the block is large, the image waits a while for a smaller one. Usually costs a
/// comparison, and every few seconds reads a file of the kernel's.
void lt_due_images_take(uint64_t now, size_t size);

#endif
