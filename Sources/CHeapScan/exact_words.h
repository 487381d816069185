// The places whose words a heap image holds as they are, whatever they look like.

#ifndef LEAKTRACE_EXACT_WORDS_H
#define LEAKTRACE_EXACT_WORDS_H

#include "check.h"
#include "scanned_memory.h"

/// Words from an address on.
struct lt_exact_range {
  uint64_t address;
  uint32_t count;
  uint32_t keptBytes; ///< of each word, the low ones; from 1 to 8
};

struct lt_exact_words {
  const struct lt_memory *memory;
  struct lt_exact_range *ranges;
  uint64_t count, limit; ///< `count` is at most `limit`
};

/// Makes room for `limit` ranges, which cost memory when they are used. False without memory.
bool lt_exact_words_init(struct lt_exact_words *words, const struct lt_memory *memory, uint64_t limit);
void lt_exact_words_free(struct lt_exact_words *words);
/// Adds words; those beyond the limit are forgotten. The address is a multiple of 8.
static inline void lt_exact_words_add(struct lt_exact_words *words, uint64_t address, uint64_t count,
                                      uint32_t keptBytes) {
  LT_CHECK((address & 7) == 0 && keptBytes >= 1 && keptBytes <= 8);
  LT_CHECK(words->ranges && words->count <= words->limit);
  if (words->count == words->limit || count == 0 || count > UINT32_MAX) return;
  words->ranges[words->count++] = (struct lt_exact_range){address, (uint32_t)count, keptBytes};
}
/// Puts them in order of address, and makes one of those that overlap and are kept whole. n log n. False without
/// memory.
bool lt_exact_words_sort(struct lt_exact_words *words);

#endif
