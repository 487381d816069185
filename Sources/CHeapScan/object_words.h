// Recognises objects, side tables and task slabs by their words, and finds the words of an object that are counts.

#ifndef LEAKTRACE_OBJECT_WORDS_H
#define LEAKTRACE_OBJECT_WORDS_H

#include "address_index.h"
#include "scanned_memory.h"
#include "verbatim_words.h"

#include <stdbool.h>
#include <stdint.h>

/// True if a word may be the reference counts of a Swift object. Such a word refers to a side table, holds the counts
/// of an immortal object, or holds plausible counts of a live object.
bool lt_is_reference_count(uint64_t word);

/// True if four words look like the side table of a freed object.
bool lt_is_freed_side_table(const uint64_t *table);
/// True if six words at an address look like a slab, which holds frames of a task's functions. The last two words are
/// the header of the first allocation.
bool lt_is_task_slab(uint64_t address, const uint64_t *slab);

/// The most ranges of one object.
enum { LT_OBJECT_RANGES = 7 };
/// Finds the words of an object at `address` that must be kept unchanged. Its first word is known to be its metadata,
/// and its second word is `count`. `end` is the end of the memory that holds the object. For `storage`, see
/// storage_kind.h. Returns the number of ranges; 0 if there is no object. The first `aside` ranges are outside of the
/// object, in its side table. Constant time.
unsigned lt_object_ranges(const struct lt_memory *memory, struct lt_address_index *index, uint64_t end,
                          uint64_t address, uint32_t storage, uint64_t count,
                          struct lt_verbatim_range ranges[LT_OBJECT_RANGES], unsigned *aside);

#endif
