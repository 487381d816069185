// A file that is written through mappings alone: no descriptor of it is open while the host runs.

#ifndef LEAKTRACE_MAPPED_FILE_H
#define LEAKTRACE_MAPPED_FILE_H

#include "check.h"
#include "os/os.h"

#include <limits.h>
#include <stdatomic.h>

/// A file's size, known to all processes that write to it.
struct lt_file_extent {
  _Atomic uint64_t size;      ///< bytes up to which there is a file; its end may have no storage yet
  _Atomic uint32_t isGrowing; ///< somebody is making it larger
};

/// One page of the file, from which other parts are mapped.
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
  struct lt_file_extent *extent; ///< in the file, if other processes write to it too
  struct lt_file_extent ownExtent;
  _Atomic uint32_t users;   ///< between lt_mapped_file_enter and _leave
  _Atomic uint32_t current; ///< index of the anchor to map from, which has a page
  _Atomic uint32_t isAnchoring, isGrowthRefused;
  /// the first is `firstPage`. A page is given up only while there is one user
  struct lt_file_anchor anchors[LT_FILE_ANCHORS];
};

/// Takes the new file that `descriptor` means, whose path is set: maps its first page, of which nothing else may be
/// needed, and makes it as large as it may be needed for a while. The descriptor may be closed then. `extentOffset`:
/// where in the first page its extent stands, 0 for nowhere. To be called apart. Returns 0 or −errno.
int lt_mapped_file_begin(struct lt_mapped_file *file, int descriptor, size_t extentOffset);
/// Forgets the file: in a child made by fork, which has no mappings of it.
void lt_mapped_file_forget(struct lt_mapped_file *file);
/// Unmaps the file's pages and forgets it. Nobody may use them, nor what was mapped from them but by lt_unmap.
void lt_mapped_file_end(struct lt_mapped_file *file);
/// Called in a copy of this process, in which nothing else runs and the first page is mapped.
void lt_mapped_file_be_alone(struct lt_mapped_file *file);

/// Around the calls below. `leave` returns whether nobody is left.
static LT_ALWAYS_INLINE void lt_mapped_file_enter(struct lt_mapped_file *file) { atomic_fetch_add(&file->users, 1); }
static LT_ALWAYS_INLINE bool lt_mapped_file_leave(struct lt_mapped_file *file) {
  uint32_t before = atomic_fetch_sub(&file->users, 1);
  LT_CHECK(before > 0);
  return before == 1;
}

/// Maps `size` bytes at `offset`, a multiple of the page's size, with storage: writing there cannot fail. NULL with
/// −errno in `error`.
void *lt_mapped_file_map(struct lt_mapped_file *file, uint64_t offset, size_t size, int *error);
/// Writes at `offset`, where nobody else does. Returns 0 or −errno.
int lt_mapped_file_write(struct lt_mapped_file *file, uint64_t offset, const void *bytes, size_t size);
/// Makes the file end at `end`, unless it ends before. Nobody may write beyond.
void lt_mapped_file_trim(struct lt_mapped_file *file, uint64_t end);
/// Makes the file end at `*end` if it has no user between `enter` and `leave`. A later user makes it longer again.
void lt_mapped_file_trim_unused(struct lt_mapped_file *file, const _Atomic uint64_t *end);
/// Makes the file as large as it may ever be needed: it will soon be out of reach.
void lt_mapped_file_reserve_all(struct lt_mapped_file *file);
/// Opens the file by its path, if it is still that one. A descriptor or −errno. To be called apart.
int lt_mapped_file_open(const struct lt_mapped_file *file, int flags);

#endif
