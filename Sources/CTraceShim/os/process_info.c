// Facts about this process: its identity, threads, resident size, and its children's resource use.

#include "os/process_info.h"

#include "check.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// --- identity --------------------------------------------------------------------------------------------------------

static struct {
  uint32_t *word; ///< holds 1; the kernel makes it 0 in a child with its own copy of the memory
  pid_t claimant;
} identity;

bool lt_identity_claim(void) {
  if (!identity.word) identity.word = lt_map_wiped_on_fork(sizeof *identity.word);
  if (!identity.word) return false;
  identity.claimant = lt_process_id();
  *identity.word = 1;
  return true;
}

pid_t lt_identity_claimant(void) { return identity.claimant; }
bool lt_identity_shares_memory(void) {
  LT_CHECK(!identity.word || *identity.word <= 1);
  return identity.word && *identity.word;
}
bool lt_is_recording_process(void) { return lt_identity_shares_memory() && lt_process_id() == identity.claimant; }

// --- threads ---------------------------------------------------------------------------------------------------------

/// An entry as getdents64 writes it (linux/fs/readdir.c, struct linux_dirent64).
struct directory_entry {
  uint64_t inode;
  int64_t next;
  uint16_t length;
  uint8_t type;
  char name[];
};

char *lt_put_task_path(char *p, pid_t process) {
  memcpy(p, "/proc/", 6);
  p = lt_put_decimal(p + 6, (uint64_t)process);
  memcpy(p, "/task", 6);
  return p + 5;
}

int lt_thread_list_open(struct lt_thread_list *list, pid_t process) {
  char path[LT_THREAD_PATH_SIZE];
  lt_put_task_path(path, process);
  LT_CHECK(strnlen(path, sizeof path) < sizeof path);
  list->descriptor = lt_open(path, O_RDONLY | O_DIRECTORY, 0);
  list->size = list->at = 0;
  return list->descriptor < 0 ? list->descriptor : 0;
}

uint32_t lt_thread_list_next(struct lt_thread_list *list) {
  for (;;) {
    LT_CHECK(list->descriptor >= 0 && list->size <= (long)sizeof list->entries);
    if (list->at >= list->size) {
      list->size = lt_syscall(SYS_getdents64, list->descriptor, list->entries, sizeof list->entries);
      list->at = 0;
      if (list->size <= 0) return 0;
    }
    const struct directory_entry *entry = (const void *)(list->entries + list->at);
    list->at += entry->length;
    uint32_t thread = 0;
    for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++) thread = thread * 10 + (uint32_t)(*c - '0');
    if (thread != 0) return thread; // not "." and ".."
  }
}

void lt_thread_list_close(struct lt_thread_list *list) { lt_close(list->descriptor); }

long lt_read_thread_file(pid_t process, uint32_t thread, const char *name, char *text, size_t size) {
  char path[LT_THREAD_PATH_SIZE], *p = lt_put_task_path(path, process);
  LT_CHECK(size > 0);
  *p++ = '/';
  p = lt_put_decimal(p, thread);
  *p++ = '/';
  memcpy(p, name, strlen(name) + 1);
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return descriptor;
  long n = lt_read(descriptor, text, size - 1);
  lt_close(descriptor);
  text[n > 0 ? n : 0] = 0;
  return n;
}

// --- resident size ---------------------------------------------------------------------------------------------------

static uint64_t take_pages(const char **p) {
  uint64_t pages = 0;
  while (**p == ' ') ++*p;
  for (; **p >= '0' && **p <= '9'; ++*p) pages = pages * 10 + (uint64_t)(**p - '0');
  return pages * lt_page_size();
}

bool lt_read_resident_size(const char *path, uint64_t *resident, uint64_t *other) {
  char text[128];
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return false;
  long n = lt_read(descriptor, text, sizeof text - 1);
  lt_close(descriptor);
  if (n <= 0) return false;
  text[n] = 0;
  // The fields are three sizes: of all memory, of the resident memory, and of its part in files and shared memory.
  const char *p = text;
  take_pages(&p);
  *resident = take_pages(&p);
  *other = take_pages(&p);
  return true;
}

static void read_size(void *result) {
  uint64_t other;
  lt_read_resident_size("/proc/self/statm", result, &other);
}

uint64_t lt_resident_size(void) {
  uint64_t size = 0;
  lt_call_isolated(read_size, &size);
  return size;
}

// --- children --------------------------------------------------------------------------------------------------------

// Sums up the resource use of the recorder's own children.

/// Sums over the recorder's children that were waited for. Only one thread at a time waits for such a child; any thread
/// may read the sums.
static struct {
  // Sums, which need no order.
  _Atomic int64_t userMicroseconds, systemMicroseconds;
  _Atomic int64_t minorFaults, majorFaults, blocksIn, blocksOut, waits, switches;
  _Atomic int64_t largest; ///< resident size of the largest child, in KiB
} own;

static int64_t microseconds(struct timeval time) { return time.tv_sec * 1000000 + time.tv_usec; }

static struct timeval time_of(int64_t microseconds) {
  if (microseconds < 0) microseconds = 0;
  return (struct timeval){.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000};
}

static void take(long *sum, _Atomic int64_t *part) {
  *sum -= atomic_load(part);
  if (*sum < 0) *sum = 0;
}

void lt_child_usage_note(const struct rusage *usage) {
  // The kernel sums nanoseconds but reports whole microseconds. One microsecond is added, so that none of this time
  // remains in the host's sum.
  atomic_fetch_add(&own.userMicroseconds, microseconds(usage->ru_utime) + 1);
  atomic_fetch_add(&own.systemMicroseconds, microseconds(usage->ru_stime) + 1);
  atomic_fetch_add(&own.minorFaults, usage->ru_minflt);
  atomic_fetch_add(&own.majorFaults, usage->ru_majflt);
  atomic_fetch_add(&own.blocksIn, usage->ru_inblock);
  atomic_fetch_add(&own.blocksOut, usage->ru_oublock);
  atomic_fetch_add(&own.waits, usage->ru_nvcsw);
  atomic_fetch_add(&own.switches, usage->ru_nivcsw);
  if (usage->ru_maxrss > atomic_load(&own.largest)) atomic_store(&own.largest, usage->ru_maxrss);
}

long lt_reap(pid_t child, int options) {
  LT_CHECK(child > 0);
  int status;
  struct rusage usage;
  long result = lt_syscall6(SYS_wait4, child, (long)&status, __WALL | options, (long)&usage, 0, 0);
  if (result > 0) lt_child_usage_note(&usage);
  return result;
}

void lt_child_usage_hide(struct rusage *all) {
  all->ru_utime = time_of(microseconds(all->ru_utime) - atomic_load(&own.userMicroseconds));
  all->ru_stime = time_of(microseconds(all->ru_stime) - atomic_load(&own.systemMicroseconds));
  take(&all->ru_minflt, &own.minorFaults);
  take(&all->ru_majflt, &own.majorFaults);
  take(&all->ru_inblock, &own.blocksIn);
  take(&all->ru_oublock, &own.blocksOut);
  take(&all->ru_nvcsw, &own.waits);
  take(&all->ru_nivcsw, &own.switches);
  // Every process has minor faults. If none remain, the host had no children.
  if (all->ru_maxrss <= atomic_load(&own.largest) && !all->ru_minflt) all->ru_maxrss = 0;
}

void lt_child_usage_reset(void) {
  _Atomic int64_t *const sums[] = {&own.userMicroseconds, &own.systemMicroseconds, &own.minorFaults, &own.majorFaults,
                                   &own.blocksIn,         &own.blocksOut,          &own.waits,       &own.switches,
                                   &own.largest};
  for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++) atomic_store(sums[i], 0);
}
