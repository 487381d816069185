// The places whose words are copied to a heap image unchanged, whether or not they look like addresses.

#ifndef LEAKTRACE_VERBATIM_WORDS_H
#define LEAKTRACE_VERBATIM_WORDS_H

#include "check.h"
#include "scanned_memory.h"

/// Consecutive words.
struct lt_verbatim_range {
  uint64_t address;   ///< of the first word
  uint32_t count;     ///< number of words
  uint32_t keptBytes; ///< how many low bytes of each word are kept; from 1 to 8
};

struct lt_verbatim_words {
  const struct lt_memory *memory;
  struct lt_verbatim_range *ranges;
  uint64_t count, limit; ///< `count` is at most `limit`
};

/// Reserves room for `limit` ranges. A range takes memory only once it is added. Returns false if there is no memory.
bool lt_verbatim_words_init(struct lt_verbatim_words *words, const struct lt_memory *memory, uint64_t limit);
void lt_verbatim_words_free(struct lt_verbatim_words *words);
/// Adds a range of words; does nothing if the limit is reached. The address must be a multiple of 8.
static inline void lt_verbatim_words_add(struct lt_verbatim_words *words, uint64_t address, uint64_t count,
                                         uint32_t keptBytes) {
  LT_CHECK((address & 7) == 0 && keptBytes >= 1 && keptBytes <= 8);
  LT_CHECK(words->ranges && words->count <= words->limit);
  if (words->count == words->limit || count == 0 || count > UINT32_MAX) return;
  words->ranges[words->count++] = (struct lt_verbatim_range){address, (uint32_t)count, keptBytes};
}
/// Sorts the ranges by address. Merges ranges that overlap or touch and whose words are kept whole. O(n log n). Returns
/// false if there is no memory.
bool lt_verbatim_words_sort(struct lt_verbatim_words *words);

#endif
