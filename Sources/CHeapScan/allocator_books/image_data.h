// The writable data of a process's images.

#ifndef LEAKTRACE_IMAGE_DATA_H
#define LEAKTRACE_IMAGE_DATA_H

#include "allocator_books/word_window.h"

/// Finds the next image's data: its initialised data, and the data without an initial value right behind. Returns false
/// after the last image.
///
/// - `region`: the region to begin with; 0 at first. The call sets it to the region behind the data.
/// - Complexity: linear in the regions up to there.
bool lt_image_data_next(const struct lt_books_memory *books, uint32_t *region, struct lt_address_range *data);

/// Visits each word of images' data that is not 0, in order of address. Ends early when `visit` returns false.
///
/// - Complexity: linear in the data that is present.
void lt_image_data_each(const struct lt_books_memory *books, struct lt_word_window *window,
                        bool (*visit)(void *context, uint64_t address, uint64_t word), void *context);

#endif
