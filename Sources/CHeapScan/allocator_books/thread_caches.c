// Recognises threads' caches: counts of blocks by size, and a list for each count.

#include "allocator_books/thread_caches.h"

#include "allocator_books/glibc_arenas.h"
#include "allocator_books/glibc_layout.h"
#include "check.h"

#include <string.h>

/// Bytes below a thread pointer in which libc's thread-local variables are.
enum { THREAD_LOCAL_BYTES = 1 << 14 };

/// A word of a thread's variables that refers to what may be a cache.
struct lt_cache_reference {
  uint64_t chunk;
  uint64_t distance; ///< below the thread pointer
};

static bool is_in_heap(const struct lt_growing_list *pieces, uint64_t address) {
  size_t place = lt_list_place(pieces, address + 1);
  return place > 0 && address < ((const struct lt_heap_piece *)lt_list_item(pieces, place - 1))->end;
}

bool lt_thread_caches_init(struct lt_thread_caches *c, const struct lt_books_memory *books,
                           const struct lt_growing_list *pieces, struct lt_growing_list *kept) {
  memset(c, 0, sizeof *c);
  c->books = books;
  c->pieces = pieces;
  c->kept = kept;
  lt_list_init(&c->references, books->memory, sizeof(struct lt_cache_reference));
  lt_list_init(&c->entries, books->memory, sizeof(struct lt_kept_chunk));
  lt_list_init(&c->found, books->memory, sizeof(uint64_t));
  struct lt_word_window variables = {0};
  bool hasRoom = lt_word_window_init(&c->window, books, LT_BOOKS_PAGE) &&
                 lt_word_window_init(&variables, books, THREAD_LOCAL_BYTES + 2 * LT_BOOKS_PAGE);
  for (uint32_t i = 0; hasRoom && i < books->threadCount; i++) {
    uint64_t pointer = books->threads[i].threadPointer & ~7ull;
    if (pointer <= THREAD_LOCAL_BYTES || pointer >= LT_BOOKS_ADDRESS_LIMIT) continue;
    for (uint64_t distance = THREAD_LOCAL_BYTES; distance > 0; distance -= 8) {
      uint64_t word, head;
      if (!lt_window_word(&variables, pointer - distance, &word)) {
        // Where the variables begin is not known: what is before them may not be there.
        distance -= LT_BOOKS_PAGE - 8 - ((pointer - distance) & (LT_BOOKS_PAGE - 8));
        if (distance > THREAD_LOCAL_BYTES) break;
        continue;
      }
      if ((word & (GLIBC_ALIGNMENT - 1)) || word < LT_BOOKS_PAGE || !is_in_heap(pieces, word)) continue;
      uint64_t chunk = word - GLIBC_CHUNK_MEMORY;
      if (!lt_window_word(&c->window, chunk + GLIBC_CHUNK_SIZE, &head) ||
          (head & ~(uint64_t)GLIBC_CHUNK_FLAGS) != GLIBC_CACHE_CHUNK)
        continue;
      struct lt_cache_reference reference = {chunk, distance};
      lt_list_append(&c->references, &reference);
    }
  }
  lt_word_window_free(&variables);
  lt_list_sort(&c->references);
  return hasRoom;
}

void lt_thread_caches_free(struct lt_thread_caches *c) {
  if (!c->books) return;
  lt_word_window_free(&c->window);
  lt_list_free(&c->references);
  lt_list_free(&c->entries);
  lt_list_free(&c->found);
}

/// Puts the chunks in a cache into `entries`; false if the chunk has not a cache's shape.
static bool read_contents(struct lt_thread_caches *c, uint64_t chunk) {
  uint64_t counts = chunk + GLIBC_CHUNK_MEMORY, firsts = counts + 2 * GLIBC_CACHE_BINS;
  uint64_t key = 0, otherKey = 0;
  uint64_t words[GLIBC_CACHE_BINS / 4], first[GLIBC_CACHE_BINS];
  c->entries.count = 0;
  LT_CHECK(chunk % GLIBC_ALIGNMENT == 0);
  // All of it is read before the lists are followed to elsewhere.
  for (unsigned i = 0; i < GLIBC_CACHE_BINS / 4; i++)
    if (!lt_window_word(&c->window, counts + 8 * i, &words[i])) return false;
  for (unsigned i = 0; i < GLIBC_CACHE_BINS; i++) {
    uint64_t count = words[i / 4] >> i % 4 * 16 & 0xFFFF;
    if (!lt_window_word(&c->window, firsts + 8 * i, &first[i])) return false;
    // The thread may be about to count one that it has put in or taken out.
    if (first[i] == 0 ? count > 1 : (first[i] & (GLIBC_ALIGNMENT - 1)) != 0) return false;
  }
  for (unsigned i = 0; i < GLIBC_CACHE_BINS; i++) {
    if (!first[i]) continue;
    uint64_t count = words[i / 4] >> i % 4 * 16 & 0xFFFF;
    bool isWhole;
    struct lt_free_list list = {first[i], 0, GLIBC_CHUNK_MEMORY, lt_glibc_bin_chunk(i), count + 1};
    uint64_t length = lt_follow_free_list(&c->window, &list, LT_GLIBC_CACHED, &c->entries, &isWhole);
    if (!isWhole || length + 1 < count) return false;
  }
  for (size_t i = 0; i < c->entries.count; i++) {
    uint64_t word, entry = lt_list_number(&c->entries, i) + GLIBC_CHUNK_MEMORY;
    // One that is being put in or taken out has its key not yet, or not any more.
    if (!lt_window_word(&c->window, entry + GLIBC_CACHE_KEY, &word)) continue;
    if (!key) key = word;
    else if (word != key && !otherKey) otherKey = word;
    else if (word != key && word != otherKey) return false;
  }
  return true;
}

static void keep_cache(struct lt_thread_caches *c, uint64_t chunk) {
  struct lt_kept_chunk kept = {chunk, LT_GLIBC_CACHE};
  if (lt_list_append(c->kept, &kept)) c->count++;
}

void lt_thread_caches_look_at(struct lt_thread_caches *c, uint64_t chunk) {
  if (!read_contents(c, chunk) || c->entries.count == 0) return;
  keep_cache(c, chunk);
  lt_list_append(&c->found, &chunk);
  for (size_t i = 0; i < c->entries.count; i++) lt_list_append(c->kept, lt_list_item(&c->entries, i));
}

void lt_thread_caches_finish(struct lt_thread_caches *c) {
  // Zeros may be anybody's: a thread has to refer to them at the distance where most refer to caches, or to what a heap
  // begins with.
  enum { PLACES = THREAD_LOCAL_BYTES / 8 + 1 };
  size_t size = PLACES * sizeof(uint32_t);
  uint32_t *votes = c->books->memory->allocate(size);
  if (!votes) return;
  lt_list_sort(&c->found);
  for (size_t i = 0; i < c->references.count; i++) {
    const struct lt_cache_reference *reference = lt_list_item(&c->references, i);
    LT_CHECK(reference->distance / 8 < PLACES && reference->distance > 0);
    if (lt_list_has(&c->found, reference->chunk) || lt_list_has(c->pieces, reference->chunk))
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
    if (read_contents(c, reference->chunk) && c->entries.count == 0) keep_cache(c, reference->chunk);
  }
  c->books->memory->release(votes, size);
}
