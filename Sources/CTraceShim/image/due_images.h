// Heap images that nobody asks for: one every so often, and one when the process has become large.

#ifndef LEAKTRACE_DUE_IMAGES_H
#define LEAKTRACE_DUE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

/// `interval`: nanoseconds from one image to the next, 0 for none. `resident`: bytes from which on an image is due, 0
/// for none. When the trace is open.
void lt_due_images_begin(uint64_t interval, uint64_t resident);
/// Takes an image if one is due at `now`, nanoseconds of CLOCK_MONOTONIC. By any thread, in the hook of an allocation
/// of `size` bytes: one of a large block waits for a smaller one for a while. Costs a comparison mostly, and a look at
/// a file of the kernel's every few seconds.
void lt_due_images_take(uint64_t now, size_t size);

#endif
