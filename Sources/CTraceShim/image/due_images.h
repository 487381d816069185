// Heap images that nobody asks for: one every so often, and one when the process has become large.

#ifndef LEAKTRACE_DUE_IMAGES_H
#define LEAKTRACE_DUE_IMAGES_H

#include <stdint.h>

/// `interval`: nanoseconds from one image to the next, 0 for none. `resident`: bytes from which on an image is due, 0
/// for none. When the trace is open.
void lt_due_images_begin(uint64_t interval, uint64_t resident);
/// Takes an image if one is due at `now`, nanoseconds of CLOCK_MONOTONIC. By any thread, in a hook, between two calls
/// of the host's. Costs a comparison mostly, and a look at a file of the kernel's every few seconds.
void lt_due_images_take(uint64_t now);

#endif
