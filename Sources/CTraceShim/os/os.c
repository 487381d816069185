// System calls, numbers as text, and memory for the first calls to the allocator.

#include "os/os.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

// === system calls ====================================================================================================

// The recorder's system calls. Calls no libc functions except memory and string primitives.

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// --- the recorder's own memory ---------------------------------------------------------------------------------------

/// The most mappings that are noted as the recorder's own. Slots are taken and freed without locks. Mappings beyond
/// this number are not noted, so they look like the host's.
enum { OWN_LIMIT = 1 << 16 };
struct own_slot {
  // Read in a copy of the process. There, `size` belongs to `start` unless it is 0.
  _Atomic uintptr_t start; ///< 0 in a free slot; a multiple of the page size
  _Atomic size_t size;     ///< 0 while a thread takes or frees the slot: set after `start`, and cleared before it
};
static struct {
  struct own_slot slots[OWN_LIMIT];
  _Atomic uint32_t end;  ///< slots from this index on were never used
  _Atomic uint32_t hint; ///< a slot that may be free
} own;

static void note(uintptr_t start, size_t size) {
  LT_CHECK(start && start % lt_page_size() == 0 && size);
  for (uint32_t i = atomic_load(&own.hint); i < OWN_LIMIT; i++) {
    uintptr_t free = 0;
    if (!atomic_compare_exchange_strong(&own.slots[i].start, &free, start)) continue;
    LT_CHECK(atomic_load(&own.slots[i].size) == 0);
    atomic_store(&own.slots[i].size, size);
    atomic_store(&own.hint, i + 1);
    uint32_t end = atomic_load(&own.end);
    while (end < i + 1 && !atomic_compare_exchange_weak(&own.end, &end, i + 1)) {}
    return;
  }
}

void lt_note_own(void *address, size_t size) { note((uintptr_t)address, size); }

static void forget_own(uintptr_t start) {
  uint32_t end = atomic_load(&own.end);
  LT_CHECK(start && end <= OWN_LIMIT);
  for (uint32_t i = 0; i < end; i++) {
    if (atomic_load(&own.slots[i].start) != start) continue;
    atomic_store(&own.slots[i].size, 0);
    atomic_store(&own.slots[i].start, 0);
    uint32_t hint = atomic_load(&own.hint);
    while (hint > i && !atomic_compare_exchange_weak(&own.hint, &hint, i)) {}
    return;
  }
}

uint32_t lt_own_ranges(struct lt_own_range *ranges, uint32_t limit) {
  uint32_t count = 0, end = atomic_load(&own.end);
  if (limit > 0)
    ranges[count++] = (struct lt_own_range){lt_page_start((uintptr_t)__ehdr_start), lt_page_end((uintptr_t)_end)};
  for (uint32_t i = 0; i < end && count < limit; i++) {
    uintptr_t start = atomic_load(&own.slots[i].start);
    size_t size = atomic_load(&own.slots[i].size);
    if (start && size) ranges[count++] = (struct lt_own_range){start, lt_page_end(start + size)};
  }
  return count;
}

// --- memory ----------------------------------------------------------------------------------------------------------

static void *map(size_t size, int protection, int flags, int descriptor, uint64_t offset) {
  LT_CHECK(offset % lt_page_size() == 0);
  long result = lt_syscall6(SYS_mmap, 0, (long)size, protection, flags, descriptor, (long)offset);
  if (result < 0 && result > -4096) return NULL;
  note((uintptr_t)result, size);
  return (void *)result;
}

void *lt_map_private(size_t size) {
  // If the host locks all its memory (mlockall), every page of a new mapping becomes resident. So a large mapping is
  // first made inaccessible, and is unlocked before it has any pages.
  enum { LARGE = 64 << 10, FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
  if (size < LARGE) return map(size, PROT_READ | PROT_WRITE, FLAGS, -1, 0);
  void *memory = map(size, PROT_NONE, FLAGS, -1, 0);
  if (!memory) return NULL;
  lt_syscall(SYS_munlock, memory, size, 0);
  if (lt_protect(memory, size, true)) return memory;
  lt_unmap(memory, size);
  return NULL;
}

void *lt_map_wiped_on_fork(size_t size) {
  void *memory = lt_map_private(size);
  if (memory && lt_syscall(SYS_madvise, memory, size, MADV_WIPEONFORK) != 0) {
    lt_unmap(memory, size);
    return NULL;
  }
  return memory;
}

void *lt_map_file(int descriptor, uint64_t offset, size_t size) {
  void *memory = map(size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);
  if (!memory) return NULL;
  lt_syscall(SYS_madvise, memory, size, MADV_DONTFORK);
  // The unwritten part of the file is a hole. Without this advice, the kernel would read ahead into the hole and fill
  // memory with zeros.
  lt_syscall(SYS_madvise, memory, size, MADV_RANDOM);
  return memory;
}

void *lt_map_file_read_only(int descriptor, size_t size) { return map(size, PROT_READ, MAP_PRIVATE, descriptor, 0); }

void *lt_map_shared(size_t size) { return map(size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }

void lt_unmap(void *address, size_t size) {
  forget_own((uintptr_t)address);
  lt_syscall(SYS_munmap, address, size, 0);
}

bool lt_protect(void *address, size_t size, bool isWritable) {
  LT_CHECK((uintptr_t)address % lt_page_size() == 0);
  return lt_syscall(SYS_mprotect, address, size, isWritable ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

int lt_open(const char *path, int flags, mode_t mode) {
  long result;
  do result = lt_syscall6(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode, 0, 0);
  while (result == -EINTR);
  return (int)result;
}

void lt_close(int descriptor) { lt_syscall(SYS_close, descriptor, 0, 0); }

void lt_leave_descriptors(void) {
  enum { UNSHARE = 2 }; // CLOSE_RANGE_UNSHARE: closes nothing for tasks that share the table (Linux 5.9)
  if (lt_syscall(SYS_close_range, 0, ~0u, UNSHARE) == 0) return;
  if (lt_syscall(SYS_unshare, CLONE_FILES, 0, 0) != 0) return;
  struct rlimit limit = {.rlim_cur = 1 << 16};
  lt_syscall6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
  for (int i = 0; i < 1 << 20 && (uint64_t)i < limit.rlim_cur; i++) lt_close(i);
}

long lt_read(int descriptor, void *buffer, size_t size) {
  long result;
  do result = lt_syscall(SYS_read, descriptor, buffer, size);
  while (result == -EINTR);
  return result;
}

int lt_write_all(int descriptor, const void *buffer, size_t size) {
  const char *next = buffer;
  while (size > 0) {
    long n = lt_syscall(SYS_write, descriptor, next, size);
    if (n == -EINTR) continue;
    if (n < 0) return (int)n;
    if (n == 0) return -EIO;
    next += n;
    size -= (size_t)n;
  }
  return 0;
}

int lt_pwrite_all(int descriptor, const void *buffer, size_t size, uint64_t offset) {
  const char *next = buffer;
  while (size > 0) {
    long n = lt_syscall6(SYS_pwrite64, descriptor, (long)next, (long)size, (long)offset, 0, 0);
    if (n == -EINTR) continue;
    if (n < 0) return (int)n;
    if (n == 0) return -EIO;
    next += n;
    size -= (size_t)n;
    offset += (uint64_t)n;
  }
  return 0;
}

int lt_fstat(int descriptor, struct stat *result) { return (int)lt_syscall(SYS_fstat, descriptor, result, 0); }

// arm64 has only the calls with a directory.

int lt_unlink(const char *path) {
#ifdef SYS_unlink
  return (int)lt_syscall(SYS_unlink, path, 0, 0);
#else
  return (int)lt_syscall(SYS_unlinkat, AT_FDCWD, path, 0);
#endif
}

long lt_readlink(const char *path, char *target, size_t size) {
#ifdef SYS_readlink
  return lt_syscall(SYS_readlink, path, target, size);
#else
  return lt_syscall6(SYS_readlinkat, AT_FDCWD, (long)path, (long)target, (long)size, 0, 0);
#endif
}

int lt_allocate_storage(int descriptor, uint64_t offset, uint64_t size) {
  LT_CHECK(size > 0);
  long result;
  do result = lt_syscall6(SYS_fallocate, descriptor, 0, (long)offset, (long)size, 0, 0);
  while (result == -EINTR);
  if (result != -EOPNOTSUPP && result != -ENOSYS) return (int)result;
  // The file system cannot reserve storage. Writing zeros has the same effect, more slowly.
  static const char zeros[4096];
  for (uint64_t done = 0; done < size; done += sizeof zeros) {
    uint64_t n = size - done < sizeof zeros ? size - done : sizeof zeros;
    int error = lt_pwrite_all(descriptor, zeros, n, offset + done);
    if (error) return error;
  }
  return 0;
}

uint64_t lt_file_size_limit(void) {
  struct rlimit limit;
  if (lt_syscall6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) != 0) return UINT64_MAX;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

pid_t lt_process_id(void) { return (pid_t)lt_syscall(SYS_getpid, 0, 0, 0); }
pid_t lt_parent_process_id(void) { return (pid_t)lt_syscall(SYS_getppid, 0, 0, 0); }
pid_t lt_thread_id(void) { return (pid_t)lt_syscall(SYS_gettid, 0, 0, 0); }
bool lt_thread_exists(pid_t process, pid_t thread) { return lt_syscall(SYS_tgkill, process, thread, 0) != -ESRCH; }

uint64_t lt_clock_nanoseconds(clockid_t clock) {
  struct timespec t = {0};
  lt_syscall(SYS_clock_gettime, clock, &t, 0);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void lt_sleep(uint64_t nanoseconds) {
  enum { SECOND = 1000000000 };
  struct timespec time = {.tv_sec = (time_t)(nanoseconds / SECOND), .tv_nsec = (long)(nanoseconds % SECOND)};
  // Do not use nanosleep. A call from outside may have interrupted a wait of the host. nanosleep would make the kernel
  // forget the remaining time of that wait (Linux, kernel/time/hrtimer.c: current->restart_block).
  uint32_t word = 0;
  lt_syscall6(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, (long)&time, 0, 0);
}

uint64_t lt_block_signals(uint64_t signals) {
  uint64_t before = 0;
  lt_syscall6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&signals, (long)&before, sizeof signals, 0, 0);
  return before;
}

void lt_restore_signals(uint64_t before) {
  lt_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before, 0, 0);
}

uint64_t lt_random(void) {
  uint64_t value = 0;
  if (lt_syscall(SYS_getrandom, &value, sizeof value, 1 /* GRND_NONBLOCK */) != sizeof value)
    value = lt_ticks_unordered() * 0x9E3779B97F4A7C15ull ^ ((uint64_t)lt_process_id() << 32);
  return value;
}

uint64_t lt_peak_resident_size(void) {
  struct rusage usage;
  return lt_syscall(SYS_getrusage, RUSAGE_SELF, &usage, 0) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/// The kernel's form of struct sigaction.
struct kernel_sigaction {
  void (*handler)(int, siginfo_t *, void *);
  uint64_t flags;
  void (*restorer)(void);
  uint64_t mask;
};

void lt_set_fault_handler(int number, void (*handler)(int, siginfo_t *, void *)) {
  enum { HAS_RESTORER = 0x04000000 }; // SA_RESTORER
  struct kernel_sigaction action = {handler, SA_SIGINFO | SA_NODEFER | HAS_RESTORER, lt_signal_return, 0};
  uint64_t mask = 1ull << (number - 1);
  lt_syscall6(SYS_rt_sigaction, number, (long)&action, 0, sizeof mask, 0, 0);
  lt_syscall6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof mask, 0, 0);
}

void lt_set_default_action(int number) {
  struct kernel_sigaction action = {0};
  lt_syscall6(SYS_rt_sigaction, number, (long)&action, 0, sizeof action.mask, 0, 0);
}

bool lt_is_readable(uintptr_t address) {
  // The kernel copies the mask before it checks `how`. An unreadable address gives EFAULT, and a readable one EINVAL.
  // Nothing changes in either case.
  return lt_syscall6(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) != -EFAULT;
}

bool lt_ticks_are_reliable(void) {
  char name[16] = {0};
  int descriptor = lt_open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY, 0);
  long n = descriptor < 0 ? -1 : lt_read(descriptor, name, sizeof name - 1);
  if (descriptor >= 0) lt_close(descriptor);
  if (n > 0) return lt_is_tick_clock(name);
  // There is no sysfs, as in some containers. The best remaining sign is an invariant counter.
  return lt_ticks_are_invariant();
}

// === numbers as text =================================================================================================

char *lt_put_number(char *p, uint64_t value, unsigned base) {
  char digits[LT_NUMBER_SIZE];
  int n = 0;
  LT_CHECK(base >= 8 && base <= 16);
  do digits[n++] = "0123456789abcdef"[value % base];
  while (value /= base);
  LT_CHECK(n < LT_NUMBER_SIZE);
  while (n) *p++ = digits[--n];
  *p = 0;
  return p;
}

// === bootstrap arena =================================================================================================

enum { HEADER = 16 };
_Alignas(4096) uint8_t lt_bootstrap_arena[LT_BOOTSTRAP_SIZE];
static _Atomic size_t
    arenaUsed; ///< gives out memory, and needs no order. Bytes; at most LT_BOOTSTRAP_SIZE; never decreases

void *lt_bootstrap_allocate(size_t size, size_t alignment) {
  if (alignment < 16) alignment = 16;
  if (size > LT_BOOTSTRAP_SIZE || alignment > LT_PAGE_LIMIT) return NULL;
  size_t need = (size + alignment + HEADER + 15) & ~(size_t)15, start = atomic_load(&arenaUsed);
  // A request that does not fit leaves the remaining room to later, smaller requests.
  do
    if (need > LT_BOOTSTRAP_SIZE - start) return NULL;
  while (!atomic_compare_exchange_weak(&arenaUsed, &start, start + need));
  uintptr_t address = ((uintptr_t)lt_bootstrap_arena + start + HEADER + alignment - 1) / alignment * alignment;
  LT_CHECK(address % alignment == 0);
  LT_CHECK(address - 8 >= (uintptr_t)lt_bootstrap_arena + start);
  LT_CHECK(address + size <= (uintptr_t)lt_bootstrap_arena + start + need);
  memcpy((void *)(address - 8), &size, sizeof size);
  return (void *)address;
}

void lt_bootstrap_range(uintptr_t *start, uintptr_t *end) {
  *start = (uintptr_t)lt_bootstrap_arena;
  *end = *start + LT_BOOTSTRAP_SIZE;
}

uintptr_t lt_bootstrap_used_end(void) {
  LT_CHECK(atomic_load(&arenaUsed) <= LT_BOOTSTRAP_SIZE);
  return (uintptr_t)lt_bootstrap_arena + atomic_load(&arenaUsed);
}

size_t lt_bootstrap_size(const void *pointer) {
  size_t size;
  memcpy(&size, (const char *)pointer - 8, sizeof size);
  LT_CHECK(!lt_bootstrap_owns(pointer) || size <= LT_BOOTSTRAP_SIZE);
  return size;
}
