// The writable data of a process's images.

#ifndef LEAKTRACE_IMAGE_DATA_H
#define LEAKTRACE_IMAGE_DATA_H

#include "allocator_books/word_window.h"

/// Hands over each word of images' data that is not 0, in order of address: data with an initial value and without.
/// Ends early when `word` returns false.
///
/// - Complexity: linear in the data that is present.
void lt_image_data_each(const struct lt_books_memory *books, struct lt_word_window *window,
                        bool (*word)(void *context, uint64_t address, uint64_t word), void *context);

#endif
