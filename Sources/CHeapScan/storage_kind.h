// Kinds of objects that are storage of collections.

#ifndef LEAKTRACE_STORAGE_KIND_H
#define LEAKTRACE_STORAGE_KIND_H

/// Objects of the standard library, and of swift-collections, whose counts and occupancy bitmaps a snapshot has to
/// know.
enum { LT_STORAGE_NONE = 0, LT_STORAGE_ARRAY = 1, LT_STORAGE_DICTIONARY = 2, LT_STORAGE_SET = 3, LT_STORAGE_DEQUE = 4 };

#endif
