// Files are mapped without access. The first access to a part causes a fault, whose handler notes the part and permits
// the access.

#define _GNU_SOURCE
#include "CTrackedFiles.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_FILES = 4096 };

/// One mapped file. `start` is 0 for a free entry.
struct tracked_file {
  _Atomic uintptr_t start;
  size_t size;
  /// A byte for each part, 1 if it was accessed. Shared with children.
  _Atomic uint8_t *read;
};

/// The mapped files. The signal handler may run between any two stores, so an entry's start is stored last and cleared
/// first.
static struct tracked_file files[MAX_FILES];
static _Atomic size_t used;

static size_t part_count(size_t size) { return (size + LT_TRACKED_PART - 1) / LT_TRACKED_PART; }

static struct tracked_file *file_at(uintptr_t address) {
  size_t count = atomic_load_explicit(&used, memory_order_acquire);
  for (size_t i = 0; i < count; i++) {
    uintptr_t start = atomic_load_explicit(&files[i].start, memory_order_acquire);
    if (start != 0 && address >= start && address - start < files[i].size) return &files[i];
  }
  return NULL;
}

/// Permits access to the whole file, and notes all of its parts. Used when the kernel refuses to split the mapping,
/// since a process may have only a limited number of mappings.
static bool permit_whole(struct tracked_file *file, void *start) {
  if (mprotect(start, file->size, PROT_READ | PROT_WRITE) != 0) return false;
  for (size_t part = 0; part < part_count(file->size); part++)
    atomic_store_explicit(&file->read[part], 1, memory_order_relaxed);
  return true;
}

static void handle_fault(int number, siginfo_t *info, void *context) {
  (void)context;
  int error = errno;
  uintptr_t address = (uintptr_t)info->si_addr;
  struct tracked_file *file = info->si_code == SEGV_ACCERR ? file_at(address) : NULL;
  if (!file) {
    // The fault has another cause. The instruction runs again, and its fault ends the process.
    signal(number, SIG_DFL);
    errno = error;
    return;
  }
  uintptr_t start = atomic_load_explicit(&file->start, memory_order_relaxed);
  size_t part = (address - start) / LT_TRACKED_PART, offset = part * LT_TRACKED_PART;
  size_t size = file->size - offset < LT_TRACKED_PART ? file->size - offset : LT_TRACKED_PART;
  atomic_store_explicit(&file->read[part], 1, memory_order_relaxed);
  if (mprotect((void *)(start + offset), size, PROT_READ | PROT_WRITE) != 0 && !permit_whole(file, (void *)start))
    signal(number, SIG_DFL);
  errno = error;
}

void lt_tracked_continue_in_child(void) {
  struct sigaction action = {.sa_sigaction = handle_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, NULL);
}

void *lt_tracked_map(int descriptor, size_t size) {
  size_t entry = 0;
  while (entry < MAX_FILES && atomic_load_explicit(&files[entry].start, memory_order_relaxed) != 0) entry++;
  if (entry == MAX_FILES) {
    errno = ENFILE;
    return NULL;
  }
  _Atomic uint8_t *read = mmap(NULL, part_count(size), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (read == MAP_FAILED) return NULL;
  void *start = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, descriptor, 0);
  if (start == MAP_FAILED) {
    int error = errno;
    munmap((void *)read, part_count(size));
    errno = error;
    return NULL;
  }
  lt_tracked_continue_in_child();
  files[entry].size = size;
  files[entry].read = read;
  atomic_store_explicit(&files[entry].start, (uintptr_t)start, memory_order_release);
  if (entry >= atomic_load_explicit(&used, memory_order_relaxed))
    atomic_store_explicit(&used, entry + 1, memory_order_release);
  return start;
}

bool lt_tracked_is_read(const void *mapping, size_t part) {
  struct tracked_file *file = file_at((uintptr_t)mapping);
  return file && part < part_count(file->size) && atomic_load_explicit(&file->read[part], memory_order_relaxed) != 0;
}

void lt_tracked_unmap(void *mapping) {
  struct tracked_file *file = file_at((uintptr_t)mapping);
  if (!file) return;
  atomic_store_explicit(&file->start, 0, memory_order_release);
  munmap((void *)file->read, part_count(file->size));
  munmap(mapping, file->size);
}
