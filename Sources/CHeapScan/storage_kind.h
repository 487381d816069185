// The kinds of objects whose numbers a heap image keeps.

#ifndef LEAKTRACE_STORAGE_KIND_H
#define LEAKTRACE_STORAGE_KIND_H

/// The kind of a storage object of the standard library or of swift-collections. A heap image keeps the counts and
/// occupancy bitmaps of these objects.
enum {
  LT_STORAGE_NONE = 0,
  LT_STORAGE_ARRAY = 1,
  LT_STORAGE_DICTIONARY = 2,
  LT_STORAGE_SET = 3,
  LT_STORAGE_DEQUE = 4,
  LT_STORAGE_TASK = 5, ///< a task, which stores no elements. An image keeps its state and its number
  LT_STORAGE_LAST = LT_STORAGE_TASK,
};

#endif
