// Finds the writable data of a process's executable and libraries, called images here.

#ifndef LEAKTRACE_IMAGE_DATA_H
#define LEAKTRACE_IMAGE_DATA_H

#include "allocator_metadata/word_window.h"

/// Finds the next image's data: its initialised data, and the data without initial values (.bss) that follows. Returns
/// false after the last image.
///
/// - `region`: index of the region where the search begins; 0 for the first call. The call sets it to the region after
/// the data.
/// - Complexity: linear in the regions that are passed.
bool lt_image_data_next(const struct lt_allocator_memory *metadata, uint32_t *region, struct lt_address_range *data);

/// Calls `visit` for each word of the images' data that is not 0, in order of address. Stops when `visit` returns
/// false.
///
/// - Complexity: linear in the present pages of the data.
void lt_image_data_each(const struct lt_allocator_memory *metadata, struct lt_word_window *window,
                        bool (*visit)(void *context, uint64_t address, uint64_t word), void *context);

#endif
