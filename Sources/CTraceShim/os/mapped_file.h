// A file that is written through mappings alone: no descriptor of it is open while the host runs.

#ifndef LEAKTRACE_MAPPED_FILE_H
#define LEAKTRACE_MAPPED_FILE_H

#include "check.h"
#include "os/os.h"

#include <limits.h>
#include <stdatomic.h>

/// A file's size, known to all processes that write to it.
struct lt_file_extent {
  _Atomic uint64_t size;      ///< bytes; the file's end may have no storage yet
  _Atomic uint32_t isGrowing; ///< a thread or process is making it larger
};

/// One page of the file that other parts are mapped from.
struct lt_file_anchor {
  uint8_t *page;   ///< NULL: there is none
  uint64_t offset; ///< in the file, a multiple of the page's size
};
enum { LT_FILE_ANCHORS = 8 };

struct lt_mapped_file {
  char path[PATH_MAX + 16];
  uint64_t device, inode;
  uint64_t reserve;              ///< bytes that the file is kept ahead of its writers; never shrinks
  void *firstPage;               ///< mapped as long as the file is in use
  struct lt_file_extent *extent; ///< in the file, if other processes write to it, too
  struct lt_file_extent ownExtent;
  _Atomic uint32_t users;   ///< between lt_mapped_file_enter and _leave
  _Atomic uint32_t current; ///< index of the anchor to map from, which has a page
  _Atomic uint32_t isAnchoring, isGrowthRefused;
  /// the first is `firstPage`. A page is unmapped only while there is one user
  struct lt_file_anchor anchors[LT_FILE_ANCHORS];
};

/// Takes the new file of `descriptor`, whose path is set. Maps its first page, with extra length for later mappings, so
/// the descriptor may be closed afterwards. `extentOffset`: offset of its extent in the first page, 0 if it is not in
/// the file. Must be called apart. Returns 0 or −errno.
int lt_mapped_file_begin(struct lt_mapped_file *file, int descriptor, size_t extentOffset);
/// Forgets the file: in a child made by fork, which has no mappings of it.
void lt_mapped_file_forget(struct lt_mapped_file *file);
/// Unmaps the file's pages and forgets it. No thread may use them afterwards. A part that was mapped from them may only
/// be unmapped, by lt_unmap.
void lt_mapped_file_end(struct lt_mapped_file *file);
/// Called in a copy of this process that runs nothing else and has the first page mapped.
void lt_mapped_file_be_alone(struct lt_mapped_file *file);

/// Enclose the calls below. `leave` returns true if no user is left.
static LT_ALWAYS_INLINE void lt_mapped_file_enter(struct lt_mapped_file *file) { atomic_fetch_add(&file->users, 1); }
static LT_ALWAYS_INLINE bool lt_mapped_file_leave(struct lt_mapped_file *file) {
  uint32_t before = atomic_fetch_sub(&file->users, 1);
  LT_CHECK(before > 0);
  return before == 1;
}

/// Maps `size` bytes at `offset`, a multiple of the page's size, with storage: writing there cannot fail. NULL with
/// −errno in `error`.
void *lt_mapped_file_map(struct lt_mapped_file *file, uint64_t offset, size_t size, int *error);
/// Writes at `offset`, where no other thread or process may write. Returns 0 or −errno.
int lt_mapped_file_write(struct lt_mapped_file *file, uint64_t offset, const void *bytes, size_t size);
/// Makes the file end at `end`, unless it ends before. No thread or process may write beyond.
void lt_mapped_file_trim(struct lt_mapped_file *file, uint64_t end);
/// Makes the file end at `*end` if it has no user between `enter` and `leave`. A later user makes it longer again.
void lt_mapped_file_trim_unused(struct lt_mapped_file *file, const _Atomic uint64_t *end);
/// Makes the file as large as it may ever be needed: its path will soon be out of reach.
void lt_mapped_file_reserve_all(struct lt_mapped_file *file);
/// Opens the file by its path, if that still leads to the file. Returns a descriptor or −errno. Must be called apart.
int lt_mapped_file_open(const struct lt_mapped_file *file, int flags);

#endif
