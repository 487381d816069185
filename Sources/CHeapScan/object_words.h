// Recognises objects, side tables and slabs by their words, and finds the words of an object that are counts.

#ifndef LEAKTRACE_OBJECT_WORDS_H
#define LEAKTRACE_OBJECT_WORDS_H

#include "address_index.h"
#include "exact_words.h"
#include "scanned_memory.h"

#include <stdbool.h>
#include <stdint.h>

/// Tells whether a word may be the count of a Swift object: immortal, or alive with possible counts, or one that points
/// to a side table.
bool lt_is_reference_count(uint64_t word);

/// The counts in the side table of an object that was freed: deinitialised, without strong or unowned references.
/// Source: swiftlang/swift, stdlib/public/SwiftShims/swift/shims/RefCount.h; seen with Swift 6.1.2 and 6.3.1.
#define LT_FREED_OBJECT_COUNTS 0x100000001ull
/// Tells whether four words look like such a side table: the object's address at 0, its counts at 16, the number of
/// weak references, 4 bytes, after them.
bool lt_is_freed_side_table(const uint64_t *table);
/// Tells whether six words at an address look like a slab that a task has its functions' frames in: at 16 stand its
/// capacity and how much of it is in use, 4 bytes each, and at 32 begins its first allocation, which has the slab's
/// address second. Lengths do not include the 32 bytes.
/// Source: swiftlang/swift, stdlib/public/runtime/StackAllocator.h; seen with Swift 6.1.2 and 6.3.1.
bool lt_is_task_slab(uint64_t address, const uint64_t *slab);

/// Ranges of one object, at most.
enum { LT_OBJECT_RANGES = 7 };
/// Finds the words to keep as they are of an object at `address`, whose first word is known to be its metadata and
/// whose second is `count`. The first `aside` ranges are not part of the object. `end`: of the memory that the object
/// is in. `storage`: see storage_kind.h. Returns the number of ranges; 0 if it is no object. Constant time.
unsigned lt_object_ranges(const struct lt_memory *memory, struct lt_address_index *index, uint64_t end,
                          uint64_t address, uint32_t storage, uint64_t count,
                          struct lt_exact_range ranges[LT_OBJECT_RANGES], unsigned *aside);

#endif
