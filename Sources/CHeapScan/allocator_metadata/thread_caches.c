// Recognises threads' caches. A cache has a number and a list of blocks for each size.

#include "allocator_metadata/thread_caches.h"

#include "allocator_metadata/glibc_arenas.h"
#include "allocator_metadata/glibc_layout.h"
#include "check.h"

#include <string.h>

/// libc's thread-local variables are in this many bytes below a thread pointer.
enum { THREAD_LOCAL_BYTES = 1 << 14 };

/// A word among a thread's variables that refers to a possible cache.
struct lt_cache_reference {
  uint64_t chunk;
  uint64_t distance; ///< bytes from the word to the thread pointer above it; on arm64, from the pointer past the word
};

static bool is_in_heap(const struct lt_growing_list *pieces, uint64_t address) {
  size_t place = lt_list_place(pieces, address + 1);
  return place > 0 && address < ((const struct lt_heap_piece *)lt_list_item(pieces, place - 1))->end;
}

bool lt_thread_caches_init(struct lt_thread_caches *c, const struct lt_allocator_memory *metadata,
                           const struct lt_growing_list *pieces, struct lt_growing_list *kept) {
  memset(c, 0, sizeof *c);
  c->metadata = metadata;
  c->pieces = pieces;
  c->kept = kept;
  lt_list_init(&c->references, metadata->memory, sizeof(struct lt_cache_reference));
  lt_list_init(&c->entries, metadata->memory, sizeof(struct lt_kept_chunk));
  lt_list_init(&c->found, metadata->memory, sizeof(uint64_t));
  struct lt_word_window variables = {0};
  const bool isAbove = lt_has_variables_above(metadata);
  bool hasRoom = lt_word_window_init(&c->window, metadata, LT_ALLOCATOR_PAGE) &&
                 lt_word_window_init(&variables, metadata, THREAD_LOCAL_BYTES + 2 * LT_ALLOCATOR_PAGE);
  for (uint32_t i = 0; hasRoom && i < metadata->threadCount; i++) {
    uint64_t pointer = metadata->threads[i].threadPointer & ~7ull;
    if (pointer <= THREAD_LOCAL_BYTES || pointer >= LT_ALLOCATOR_ADDRESS_LIMIT) continue;
    uint64_t first = isAbove ? pointer : pointer - THREAD_LOCAL_BYTES;
    for (uint64_t at = first; at < first + THREAD_LOCAL_BYTES; at += 8) {
      uint64_t word, head;
      if (!lt_window_word(&variables, at, &word)) {
        // It is unknown where the variables begin and end, and the memory next to them may be unmapped. Continue in the
        // next page.
        at |= LT_ALLOCATOR_PAGE - 8;
        continue;
      }
      if ((word & (GLIBC_ALIGNMENT - 1)) || word < LT_ALLOCATOR_PAGE || !is_in_heap(pieces, word)) continue;
      uint64_t chunk = word - GLIBC_CHUNK_MEMORY;
      if (!lt_window_word(&c->window, chunk + GLIBC_CHUNK_SIZE, &head) ||
          !lt_glibc_cache_layout(head & ~(uint64_t)GLIBC_CHUNK_FLAGS))
        continue;
      struct lt_cache_reference reference = {chunk, isAbove ? at - pointer + 8 : pointer - at};
      lt_list_append(&c->references, &reference);
    }
  }
  lt_word_window_free(&variables);
  lt_list_sort(&c->references);
  return hasRoom;
}

void lt_thread_caches_free(struct lt_thread_caches *c) {
  if (!c->metadata) return;
  lt_word_window_free(&c->window);
  lt_list_free(&c->references);
  lt_list_free(&c->entries);
  lt_list_free(&c->found);
}

/// The contents of a cache in memory.
struct contents {
  const struct lt_glibc_cache_layout *layout;
  uint64_t numbers[GLIBC_MAX_CACHE_BINS], first[GLIBC_MAX_CACHE_BINS];
};

static bool read_bins(struct lt_thread_caches *c, uint64_t chunk, struct contents *contents) {
  uint64_t at = chunk + GLIBC_CHUNK_MEMORY, head, word = 0;
  LT_CHECK(chunk % GLIBC_ALIGNMENT == 0);
  if (!lt_window_word(&c->window, chunk + GLIBC_CHUNK_SIZE, &head)) return false;
  const struct lt_glibc_cache_layout *layout = lt_glibc_cache_layout(head & ~(uint64_t)GLIBC_CHUNK_FLAGS);
  if (!layout) return false;
  contents->layout = layout;
  for (unsigned i = 0; i < layout->bins; i++) {
    if (i % 4 == 0 && !lt_window_word(&c->window, at + 2 * i, &word)) return false;
    contents->numbers[i] = word >> i % 4 * 16 & UINT16_MAX;
  }
  at += lt_round_up(2 * layout->bins, sizeof(uint64_t));
  for (unsigned i = 0; i < layout->bins; i++)
    if (!lt_window_word(&c->window, at + 8 * i, &contents->first[i]) ||
        (contents->first[i] & (GLIBC_ALIGNMENT - 1)) != 0)
      return false;
  return true;
}

/// Finds the second word that most cached blocks have, by majority vote. Returns false if more than one block has
/// another word. One such block is allowed, because a block that a thread is adding or removing may lack the key.
static bool read_key(struct lt_thread_caches *c, uint64_t *key) {
  uint64_t votes = 0, odd = 0, word;
  *key = 0;
  for (size_t i = 0; i < c->entries.count; i++) {
    if (!lt_window_word(&c->window, lt_list_number(&c->entries, i) + GLIBC_CHUNK_MEMORY + GLIBC_CACHE_KEY, &word))
      continue;
    if (!votes) *key = word;
    if (word == *key) votes++;
    else votes--;
  }
  for (size_t i = 0; i < c->entries.count; i++)
    odd += lt_window_word(&c->window, lt_list_number(&c->entries, i) + GLIBC_CHUNK_MEMORY + GLIBC_CACHE_KEY, &word) &&
           word != *key;
  return odd <= 1;
}

/// Stores the blocks of a cache in `entries`. Returns false if the chunk is not a plausible cache.
static bool read_contents(struct lt_thread_caches *c, uint64_t chunk, uint64_t *key) {
  struct contents contents;
  uint64_t length[GLIBC_MAX_CACHE_BINS];
  c->entries.count = 0;
  // Read the whole cache before following the lists to other memory.
  if (!read_bins(c, chunk, &contents)) return false;
  const struct lt_glibc_cache_layout *layout = contents.layout;
  for (unsigned i = 0; i < layout->bins; i++) {
    uint64_t count = contents.numbers[i];
    // The count may be wrong by 1, if the thread has added or removed a block but not counted it yet.
    if (!layout->hasSlots && !contents.first[i] && count > 1) return false;
  }
  for (unsigned i = 0; i < layout->bins; i++) {
    length[i] = 0;
    if (!contents.first[i]) continue;
    uint64_t most = layout->hasSlots ? UINT16_MAX : contents.numbers[i];
    bool isWhole;
    struct lt_free_list list = {contents.first[i], 0, GLIBC_CHUNK_MEMORY, lt_glibc_cache_sizes(i), most + 1};
    length[i] = lt_follow_free_list(&c->window, &list, LT_GLIBC_CACHED, &c->entries, &isWhole);
    if (!isWhole || (!layout->hasSlots && length[i] + 1 < contents.numbers[i])) return false;
  }
  if (layout->hasSlots) {
    // At first, each bin had the same number of free slots. One bin may be wrong by 1, if the thread has not counted a
    // block yet.
    unsigned odd = 0;
    uint64_t slots = contents.numbers[1] + length[1];
    if (contents.numbers[0] + length[0] != slots && contents.numbers[2] + length[2] != slots)
      slots = contents.numbers[0] + length[0];
    if (slots < 1 || slots > UINT16_MAX) return false;
    for (unsigned i = 0; i < layout->bins; i++) {
      uint64_t sum = contents.numbers[i] + length[i];
      if (sum != slots && (sum + 1 < slots || sum > slots + 1 || ++odd > 1)) return false;
    }
  }
  return read_key(c, key);
}

static void keep_cache(struct lt_thread_caches *c, uint64_t chunk) {
  struct lt_kept_chunk kept = {chunk, LT_GLIBC_CACHE};
  if (lt_list_append(c->kept, &kept)) c->count++;
}

void lt_thread_caches_examine(struct lt_thread_caches *c, uint64_t chunk) {
  uint64_t key;
  if (!read_contents(c, chunk, &key) || c->entries.count == 0) return;
  keep_cache(c, chunk);
  lt_list_append(&c->found, &chunk);
  for (size_t i = 0; i < c->entries.count; i++) lt_list_append(c->kept, lt_list_item(&c->entries, i));
  // All caches of a libc have the same key.
  if (key == c->key) c->keyVotes++;
  else if (c->keyVotes) c->keyVotes--;
  else if (key) (c->key = key, c->keyVotes = 1);
}

static bool has_equal_slots(struct lt_thread_caches *c, uint64_t chunk) {
  struct contents contents;
  if (!read_bins(c, chunk, &contents) || !contents.layout->hasSlots || !contents.numbers[0]) return false;
  for (unsigned i = 0; i < contents.layout->bins; i++)
    if (contents.numbers[i] != contents.numbers[0] || contents.first[i]) return false;
  return true;
}

void lt_thread_caches_finish(struct lt_thread_caches *c) {
  // An empty cache looks like a block of the program. So a thread must refer to it. The reference must be at the
  // distance where most threads refer to caches or to the first chunk of a heap. If no cache has blocks, references to
  // chunks with equal numbers of free slots in all bins count, too. Only caches look like that.
  enum { PLACES = THREAD_LOCAL_BYTES / 8 + 1 };
  size_t size = PLACES * sizeof(uint32_t);
  uint32_t *votes = c->metadata->memory->allocate(size);
  if (!votes) return;
  lt_list_sort(&c->found);
  for (size_t i = 0; i < c->references.count; i++) {
    const struct lt_cache_reference *reference = lt_list_item(&c->references, i);
    LT_CHECK(reference->distance / 8 < PLACES && reference->distance > 0);
    if (lt_list_has(&c->found, reference->chunk) || lt_list_has(c->pieces, reference->chunk) ||
        (c->found.count == 0 && has_equal_slots(c, reference->chunk)))
      votes[reference->distance / 8]++;
  }
  uint32_t best = 0;
  for (uint32_t i = 1; i < PLACES; i++)
    if (votes[i] > votes[best]) best = i;
  uint64_t last = 0;
  for (size_t i = 0; votes[best] && i < c->references.count; i++) {
    const struct lt_cache_reference *reference = lt_list_item(&c->references, i);
    if (reference->distance / 8 != best || reference->chunk == last || lt_list_has(&c->found, reference->chunk))
      continue;
    last = reference->chunk;
    uint64_t key;
    if (read_contents(c, reference->chunk, &key) && c->entries.count == 0) keep_cache(c, reference->chunk);
  }
  c->metadata->memory->release(votes, size);
}
