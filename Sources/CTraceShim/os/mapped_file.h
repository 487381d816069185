// A file that is written only through mappings. The recorder keeps no descriptor of the file open while the host runs.

#ifndef LEAKTRACE_MAPPED_FILE_H
#define LEAKTRACE_MAPPED_FILE_H

#include "check.h"
#include "os/os.h"

#include <limits.h>
#include <stdatomic.h>

/// A file's size, shared by all processes that write to the file.
struct lt_file_extent {
  _Atomic uint64_t size;      ///< bytes; the end of the file may have no storage yet
  _Atomic uint32_t isGrowing; ///< a thread or process is extending the file. The exchange pairs with the stores of 0
};

/// A mapped page of the file. Other parts of the file are mapped starting at an anchor.
struct lt_file_anchor {
  uint8_t *page;   ///< NULL if this anchor is unused
  uint64_t offset; ///< in the file; a multiple of the page size
};
enum { LT_FILE_ANCHORS = 8 };

struct lt_mapped_file {
  char path[PATH_MAX + 16];
  uint64_t device, inode;
  uint64_t reserve;              ///< unwritten bytes that the file keeps after its written part; never decreases
  void *firstPage;               ///< mapped while the file is in use
  struct lt_file_extent *extent; ///< lies in the file if other processes also write to it
  struct lt_file_extent ownExtent;
  /// number of threads between lt_mapped_file_enter and lt_mapped_file_leave. The addition comes before the user's
  /// loads of `size` and `current`. A thread that changes these words loads `users` afterwards. All are sequentially
  /// consistent
  _Atomic uint32_t users;
  _Atomic uint32_t current;     ///< index of the anchor in use for new mappings; this anchor has a page
  _Atomic uint32_t isAnchoring; ///< the exchange pairs with the store of 0
  _Atomic uint32_t isGrowthRefused;
  /// the first anchor's page is `firstPage`. Pages of other anchors are unmapped only while there is one user
  struct lt_file_anchor anchors[LT_FILE_ANCHORS];
};

/// Takes over the new file of `descriptor`; `file->path` must be set. Maps the file's first page, which later mappings
/// start from, so the caller may close the descriptor afterwards. Also gives the file some reserve. `extentOffset` is
/// the offset of the extent in the first page, or 0 if the extent is not in the file. Must be called in a separate task
/// (lt_call_isolated). Returns 0 or −errno.
int lt_mapped_file_begin(struct lt_mapped_file *file, int descriptor, size_t extentOffset);
/// Forgets the file. For a child made by fork, which does not inherit the mappings.
void lt_mapped_file_forget(struct lt_mapped_file *file);
/// Unmaps the file's pages and forgets the file. No thread may use the file afterwards, except that it may unmap a part
/// with lt_unmap.
void lt_mapped_file_end(struct lt_mapped_file *file);
/// Must be called in a copy of this process, where nothing else runs and the first page is mapped.
void lt_mapped_file_set_single(struct lt_mapped_file *file);

/// Enclose calls of the functions below. `leave` returns true if no other user is left.
static LT_ALWAYS_INLINE void lt_mapped_file_enter(struct lt_mapped_file *file) { atomic_fetch_add(&file->users, 1); }
static LT_ALWAYS_INLINE bool lt_mapped_file_leave(struct lt_mapped_file *file) {
  uint32_t before = atomic_fetch_sub(&file->users, 1);
  LT_CHECK(before > 0);
  return before == 1;
}

/// Maps `size` bytes at `offset`, which are multiples of the page size. The mapping has storage, so that writing to it
/// cannot fail. On failure, returns NULL, and −errno in `error`.
void *lt_mapped_file_map(struct lt_mapped_file *file, uint64_t offset, size_t size, int *error);
/// Writes `size` bytes at `offset`. No other thread or process may write there. Returns 0 or −errno.
int lt_mapped_file_write(struct lt_mapped_file *file, uint64_t offset, const void *bytes, size_t size);
/// Truncates the file at `end` if it is longer. No thread or process may write beyond `end`.
void lt_mapped_file_trim(struct lt_mapped_file *file, uint64_t end);
/// Truncates the file at `*end` if no user is between `enter` and `leave`. A later user makes the file longer again.
void lt_mapped_file_trim_unused(struct lt_mapped_file *file, const _Atomic uint64_t *end);
/// Makes the file as long as it may ever have to be, because its path will soon be out of reach.
void lt_mapped_file_reserve_all(struct lt_mapped_file *file);
/// Opens the file by its path, if the path still leads to it. Returns a descriptor or −errno. Must be called in a
/// separate task (lt_call_isolated).
int lt_mapped_file_open(const struct lt_mapped_file *file, int flags);

#endif
