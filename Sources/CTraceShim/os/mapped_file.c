// A file that is written only through mappings.
//
// A mapping gives access to all other parts of its file. mremap with an old size of 0 maps further parts of the file,
// beginning with a page of a shared mapping. This needs no descriptor and no rights. A file must cover the used part of
// its mappings. So the recorder keeps the file longer than its written part; the rest is a hole without storage. A
// separate task (fd_isolated_task) opens the file by its path and makes it longer. After chroot or a change of user,
// the path may no longer lead to the file. Then the recorder can use only the length that is left.
//
// A write to a page without storage on a full disk would raise SIGBUS. So the recorder first asks the kernel to make
// the pages writable, and gets an error instead of the signal.

#define _GNU_SOURCE
#include "os/mapped_file.h"

#include "check.h"
#include "os/fd_isolated_task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 // Linux 5.14
#endif

static const uint64_t USUAL_RESERVE = 64ull << 20;   // one extension makes room for some million events
static const uint64_t SMALL_RESERVE = 1ull << 20;    // for file systems where a hole takes storage
static const uint64_t LARGEST_RESERVE = 16ull << 30; // for a file whose path will soon be out of reach
static const uint64_t ANCHOR_DISTANCE = 4ull << 20;  // a mapping briefly takes all addresses from the anchor on
static const uint64_t GROWTH_SECONDS = 2;            // after this time, another process or thread that extends the file
                                                     // counts as dead

// --- by its path -----------------------------------------------------------------------------------------------------

/// True if the file is in use and its anchors are in order.
LT_INVARIANT bool is_valid(const struct lt_mapped_file *file) {
  uint32_t current = atomic_load(&file->current);
  return file->firstPage && file->extent && file->anchors[0].page == file->firstPage && !file->anchors[0].offset &&
         current < LT_FILE_ANCHORS && file->anchors[current].page;
}

static bool is_file(const struct lt_mapped_file *file, const struct stat *info) {
  return info->st_ino == file->inode && info->st_dev == file->device;
}

int lt_mapped_file_open(const struct lt_mapped_file *file, int flags) {
  int descriptor = lt_open(file->path, flags | O_NOFOLLOW | O_NONBLOCK, 0);
  struct stat info;
  if (descriptor < 0) return descriptor;
  if (lt_fstat(descriptor, &info) == 0 && is_file(file, &info)) return descriptor;
  lt_close(descriptor);
  return -ESTALE;
}

/// The arguments and results of a call in a separate task.
struct request {
  struct lt_mapped_file *file;
  uint64_t offset, size;
  const void *bytes;
  void *result;
  int error;
};

static void grow_isolated(void *argument) {
  struct request *r = argument;
  int descriptor = lt_mapped_file_open(r->file, O_WRONLY);
  struct stat info;
  r->error = descriptor < 0 ? descriptor : lt_fstat(descriptor, &info);
  if (!r->error && (uint64_t)info.st_size < r->size) r->error = (int)lt_syscall(SYS_ftruncate, descriptor, r->size, 0);
  if (descriptor >= 0) lt_close(descriptor);
}

static void trim_isolated(void *argument) {
  struct request *r = argument;
  int descriptor = lt_mapped_file_open(r->file, O_WRONLY);
  struct stat info;
  if (descriptor < 0) return;
  if (lt_fstat(descriptor, &info) == 0 && (uint64_t)info.st_size > r->size)
    lt_syscall(SYS_ftruncate, descriptor, r->size, 0);
  lt_close(descriptor);
}

static void write_isolated(void *argument) {
  struct request *r = argument;
  int descriptor = lt_mapped_file_open(r->file, O_WRONLY);
  r->error = descriptor < 0 ? descriptor : lt_pwrite_all(descriptor, r->bytes, r->size, r->offset);
  if (descriptor >= 0) lt_close(descriptor);
}

/// Allocates storage, or finds out why there is none.
static void reserve_isolated(void *argument) {
  struct request *r = argument;
  int descriptor = lt_mapped_file_open(r->file, O_WRONLY);
  r->error = descriptor < 0 ? descriptor : lt_allocate_storage(descriptor, r->offset, r->size);
  if (descriptor >= 0) lt_close(descriptor);
}

static void map_isolated(void *argument) {
  struct request *r = argument;
  int descriptor = lt_mapped_file_open(r->file, O_RDWR);
  r->error = descriptor < 0 ? descriptor : 0;
  if (!r->error && !(r->result = lt_map_file(descriptor, r->offset, r->size))) r->error = -ENOMEM;
  if (descriptor >= 0) lt_close(descriptor);
}

// --- its length ------------------------------------------------------------------------------------------------------

/// Returns `wanted`, limited to the process's file size limit. Extending a file beyond that limit would raise a signal.
static uint64_t allowed(uint64_t wanted) {
  uint64_t limit = lt_page_start(lt_file_size_limit());
  return wanted < limit ? wanted : limit;
}

/// Makes the file at least `size` bytes long. Only one thread at a time may call this.
static int grow(struct lt_mapped_file *file, uint64_t size) {
  struct request r = {.file = file, .size = size};
  LT_CHECK(size > 0 && file->extent);
  if (!lt_call_isolated(grow_isolated, &r)) {
    // No task is available. Use the path directly: this is equivalent, unless the path changes between the two calls.
    struct stat info;
    long error = lt_syscall6(SYS_newfstatat, AT_FDCWD, (long)file->path, (long)&info, AT_SYMLINK_NOFOLLOW, 0, 0);
    if (!error && !is_file(file, &info)) error = -ESTALE;
    if (!error && (uint64_t)info.st_size < size) error = lt_syscall(SYS_truncate, file->path, size, 0);
    r.error = (int)error;
  }
  if (!r.error) atomic_store(&file->extent->size, size);
  return r.error;
}

/// Makes the file at least `end` bytes long, plus its reserve where possible. Returns 0 or −errno.
static int reach(struct lt_mapped_file *file, uint64_t end) {
  uint64_t begin = 0;
  LT_CHECK(is_valid(file));
  for (;;) {
    // Comes after the addition in lt_mapped_file_enter. Pairs with the store in lt_mapped_file_trim_unused.
    uint64_t size = atomic_load(&file->extent->size);
    bool isThere = end <= size;
    if (isThere && (size - end >= file->reserve / 2 || atomic_load(&file->isGrowthRefused))) return 0;
    uint64_t wanted = allowed(end + file->reserve);
    if (wanted < end) return isThere ? 0 : -EFBIG;
    if (wanted <= size) return 0;
    uint32_t no = 0;
    if (atomic_compare_exchange_strong(&file->extent->isGrowing, &no, 1)) {
      int error = grow(file, wanted);
      atomic_store(&file->extent->isGrowing, 0);
      atomic_store(&file->isGrowthRefused, error != 0);
      return isThere ? 0 : error;
    }
    if (isThere) return 0;
    uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    if (!begin) begin = now;
    // The thread or process that was extending the file may have been killed, so let another one extend it.
    if (now - begin > GROWTH_SECONDS * 1000000000ull) atomic_store(&file->extent->isGrowing, 0);
    lt_sleep(100000);
  }
}

void lt_mapped_file_trim(struct lt_mapped_file *file, uint64_t end) {
  LT_CHECK(end > 0);
  struct request r = {.file = file, .size = end};
  lt_call_isolated_or_here(trim_isolated, &r);
}

void lt_mapped_file_trim_unused(struct lt_mapped_file *file, const _Atomic uint64_t *end) {
  LT_CHECK(is_valid(file));
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&file->extent->isGrowing, &no, 1)) return;
  uint64_t size = atomic_load(&file->extent->size);
  // A user who enters from now on finds the file too short, and waits until `isGrowing` is cleared. Sequentially
  // consistent, like the load of `users`. Pairs with lt_mapped_file_enter and `reach`.
  atomic_store(&file->extent->size, 0);
  if (atomic_load(&file->users) == 0) {
    size = atomic_load(end);
    lt_mapped_file_trim(file, size);
  }
  atomic_store(&file->extent->size, size);
  atomic_store(&file->extent->isGrowing, 0);
}

void lt_mapped_file_reserve_all(struct lt_mapped_file *file) {
  if (file->reserve < USUAL_RESERVE) return;
  LT_CHECK(file->reserve <= LARGEST_RESERVE);
  file->reserve = LARGEST_RESERVE;
  reach(file, atomic_load(&file->extent->size));
}

// --- mapping ---------------------------------------------------------------------------------------------------------

static bool is_error(long result) { return result < 0 && result > -4096; }

/// Maps a part of the file from an anchor. The caller must keep the anchor mapped. Returns NULL on failure.
static uint8_t *map_from(const struct lt_file_anchor *anchor, uint64_t offset, size_t size) {
  if (offset < anchor->offset) return NULL;
  LT_CHECK(anchor->page && lt_is_page_aligned(offset) && size > 0 && lt_is_page_aligned(size));
  LT_CHECK(lt_is_page_aligned(anchor->offset) && lt_is_page_aligned((uintptr_t)anchor->page));
  size_t front = offset - anchor->offset;
  // If the host has locked the anchor's page, the kernel would read in everything that is mapped from it.
  lt_syscall(SYS_munlock, anchor->page, lt_page_size(), 0);
  long result = lt_syscall6(SYS_mremap, (long)anchor->page, 0, (long)(front + size), MREMAP_MAYMOVE, 0, 0);
  if (is_error(result)) return NULL;
  if (front) lt_syscall(SYS_munmap, result, front, 0);
  return (uint8_t *)result + front;
}

/// Maps an anchor near `offset`. Unmaps the old anchors when no other thread can be using them.
static void advance_anchor(struct lt_mapped_file *file, const struct lt_file_anchor *from, uint64_t offset) {
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&file->isAnchoring, &no, 1)) return;
  uint32_t current = atomic_load(&file->current), free = 0;
  for (uint32_t i = 1; i < LT_FILE_ANCHORS && !free; i++)
    if (i != current && !file->anchors[i].page) free = i;
  if (free && from == &file->anchors[current]) {
    uint8_t *page = map_from(from, offset, lt_page_size());
    if (page) {
      file->anchors[free] = (struct lt_file_anchor){page, offset};
      atomic_store(&file->current, free);
      current = free;
    }
  }
  // New users take the new anchor. If this thread is the only user, no thread uses the old ones. The first page is
  // kept. Sequentially consistent, like the store of `current`. Pairs with lt_mapped_file_enter and map_part.
  for (uint32_t i = 1; i < LT_FILE_ANCHORS && atomic_load(&file->users) == 1; i++) {
    if (i == current || !file->anchors[i].page) continue;
    LT_CHECK(file->anchors[i].page != file->firstPage);
    lt_syscall(SYS_munmap, file->anchors[i].page, lt_page_size(), 0);
    file->anchors[i].page = NULL;
  }
  atomic_store(&file->isAnchoring, 0);
}

static uint8_t *map_part(struct lt_mapped_file *file, uint64_t offset, size_t size) {
  LT_CHECK(is_valid(file) && atomic_load(&file->users) > 0);
  const struct lt_file_anchor *anchor = &file->anchors[atomic_load(&file->current)];
  if (offset < anchor->offset) anchor = &file->anchors[0];
  LT_CHECK(anchor->offset <= offset);
  uint8_t *part = map_from(anchor, offset, size);
  if (part && offset > anchor->offset + ANCHOR_DISTANCE) advance_anchor(file, anchor, offset);
  return part;
}

/// Makes the kernel allocate storage for bytes whose contents do not matter yet. Returns 0 or −errno.
static int secure(uint8_t *address, size_t size) {
  uintptr_t start = lt_page_start((uintptr_t)address), end = lt_page_end((uintptr_t)address + size);
  LT_CHECK(address && start < end);
  long result;
  do result = lt_syscall(SYS_madvise, start, end - start, MADV_POPULATE_WRITE);
  while (result == -EINTR || result == -EAGAIN);
  if (result != -EINVAL && result != -ENOSYS) return (int)result;
  // On an older kernel, this call makes the kernel write eight bytes to each page. It fails where there is no storage.
  for (uintptr_t page = start; page < end; page += lt_page_size()) {
    uintptr_t to = page < (uintptr_t)address ? (uintptr_t)address : page;
    if (lt_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)to, 8, 0, 0) == -EFAULT) return -EFAULT;
    memset((void *)to, 0, 8);
  }
  return 0;
}

static int secure_or_explain(struct lt_mapped_file *file, uint8_t *address, uint64_t offset, size_t size) {
  int error = secure(address, size);
  if (error != -EFAULT) return error;
  struct request r = {.file = file, .offset = offset, .size = size};
  if (!lt_call_isolated(reserve_isolated, &r)) return -ENOSPC; // the likeliest reason
  if (r.error) return r.error;
  return secure(address, size) == 0 ? 0 : -ENOSPC;
}

void *lt_mapped_file_map(struct lt_mapped_file *file, uint64_t offset, size_t size, int *error) {
  LT_CHECK(lt_is_page_aligned(offset) && size > 0 && lt_is_page_aligned(size));
  *error = reach(file, offset + size);
  if (*error) return NULL;
  uint8_t *part = map_part(file, offset, size);
  if (part) {
    lt_note_own(part, size);
  } else {
    struct request r = {.file = file, .offset = offset, .size = size, .error = -ENOMEM};
    // A system may have neither mremap of shared pages nor tasks with tables of their own, such as an emulator of
    // system calls. The host then has one more descriptor for a moment.
    lt_call_isolated_or_here(map_isolated, &r);
    part = r.result;
    *error = r.error;
    if (!part) return NULL;
  }
  *error = secure_or_explain(file, part, offset, size);
  if (!*error) return part;
  lt_unmap(part, size);
  return NULL;
}

int lt_mapped_file_write(struct lt_mapped_file *file, uint64_t offset, const void *bytes, size_t size) {
  LT_CHECK(bytes && size > 0);
  int error = reach(file, offset + size);
  if (error) return error;
  uint64_t start = lt_page_start(offset);
  size_t mapped = lt_page_end(offset + size) - start;
  LT_CHECK(start <= offset && offset - start + size <= mapped);
  uint8_t *part = map_part(file, start, mapped);
  if (!part) {
    // The part cannot be mapped, for example because no addresses are left. Write it through a descriptor instead.
    struct request r = {.file = file, .offset = offset, .size = size, .bytes = bytes};
    lt_call_isolated_or_here(write_isolated, &r);
    return r.error;
  }
  error = secure_or_explain(file, part + (offset - start), offset, size);
  if (!error) memcpy(part + (offset - start), bytes, size);
  lt_syscall(SYS_munmap, part, mapped, 0);
  return error;
}

// --- its life --------------------------------------------------------------------------------------------------------

int lt_mapped_file_begin(struct lt_mapped_file *file, int descriptor, size_t extentOffset) {
  struct stat before, after;
  int error = lt_fstat(descriptor, &before);
  if (error) return error;
  file->device = before.st_dev;
  file->inode = before.st_ino;
  file->firstPage = lt_map_file(descriptor, 0, lt_page_size());
  if (!file->firstPage) return -ENOMEM;
  LT_CHECK(extentOffset + sizeof(struct lt_file_extent) <= lt_page_size());
  file->extent = extentOffset ? (struct lt_file_extent *)((uint8_t *)file->firstPage + extentOffset) : &file->ownExtent;
  memset(file->anchors, 0, sizeof file->anchors);
  file->anchors[0] = (struct lt_file_anchor){file->firstPage, 0};
  atomic_store(&file->current, 0);
  atomic_store(&file->users, 0);
  atomic_store(&file->isAnchoring, 0);
  atomic_store(&file->isGrowthRefused, 0);
  file->reserve = SMALL_RESERVE;
  uint64_t size = allowed(lt_page_size() + SMALL_RESERVE);
  error = (int)lt_syscall(SYS_ftruncate, descriptor, size, 0);
  if (error) return error;
  // Some file systems have no holes, and allocate storage for the whole length.
  if (lt_fstat(descriptor, &after) == 0 && (uint64_t)(after.st_blocks - before.st_blocks) * 512 < SMALL_RESERVE / 2) {
    uint64_t larger = allowed(lt_page_size() + USUAL_RESERVE);
    if (lt_syscall(SYS_ftruncate, descriptor, larger, 0) == 0) {
      file->reserve = USUAL_RESERVE;
      size = larger;
    }
  }
  LT_CHECK(is_valid(file));
  file->extent->size = size;
  return 0;
}

void lt_mapped_file_forget(struct lt_mapped_file *file) {
  file->firstPage = NULL;
  file->extent = NULL;
  memset(file->anchors, 0, sizeof file->anchors);
}

void lt_mapped_file_end(struct lt_mapped_file *file) {
  LT_CHECK(atomic_load(&file->users) == 0);
  for (uint32_t i = 1; i < LT_FILE_ANCHORS; i++)
    if (file->anchors[i].page) lt_syscall(SYS_munmap, file->anchors[i].page, lt_page_size(), 0);
  if (file->firstPage) lt_unmap(file->firstPage, lt_page_size());
  lt_mapped_file_forget(file);
}

void lt_mapped_file_set_single(struct lt_mapped_file *file) {
  LT_CHECK(file->firstPage && file->extent);
  memset(file->anchors, 0, sizeof file->anchors);
  file->anchors[0] = (struct lt_file_anchor){file->firstPage, 0};
  atomic_store(&file->current, 0);
  atomic_store(&file->users, 0);
  atomic_store(&file->isAnchoring, 0);
}
