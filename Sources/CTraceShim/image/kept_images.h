// Which heap images stay in the trace: the copy that writes an image takes back older ones, and uses their space.

#ifndef LEAKTRACE_KEPT_IMAGES_H
#define LEAKTRACE_KEPT_IMAGES_H

#include "CTraceFormat.h"

#include <stdbool.h>
#include <stdint.h>

/// The images that were taken because of time or size, in order. Shared by the process and its copies.
struct lt_kept_images {
  uint32_t limit;       ///< 2 at least
  uint32_t count;       ///< above the limit while a reader has the trace. An image without room here stays for good
  uint64_t firstOffset; ///< in the trace: no image begins before it. 0: none was begun
  uint64_t times[2 * LT_KEPT_IMAGES_MAX]; ///< ticks
};

/// Tells whether an image of a reason counts: the program and its users have asked for all others.
bool lt_kept_images_counts(uint32_t reason);
/// Returns the index of the image to be taken back first. The newer ones stay close together, and the distance between
/// older ones grows with their age. `count`: 3 at least.
uint32_t lt_kept_images_choose(const uint64_t *times, uint32_t count);

/// Notes that this copy begins to write an image. `images`: NULL if all stay. `descriptor`: of the trace, to be read
/// and written; negative if its path leads elsewhere, and then nothing is taken back.
void lt_kept_images_begin(struct lt_kept_images *images, int descriptor, uint32_t reason, uint64_t time);
/// Appends a chunk of the image, where older ones were if there is room. As lt_trace_append_chunk.
int lt_kept_images_put(struct lt_chunk_header *header, uint8_t *chunk);
/// Takes back images until no more than the limit are left. Does nothing while a reader has the trace, or if all
/// stay.
void lt_kept_images_thin(struct lt_kept_images *images);

#endif
