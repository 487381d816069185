// Keeps sums of the resource use of the recorder's own children.

#include "os/child_usage.h"

#include "check.h"
#include "os/os.h"

#include <stdatomic.h>
#include <sys/wait.h>

/// Sums over the children that were waited for. Only one thread waits for the recorder's at a time; any may ask.
static struct {
  _Atomic int64_t userMicroseconds, systemMicroseconds;
  _Atomic int64_t minorFaults, majorFaults, blocksIn, blocksOut, waits, switches;
  _Atomic int64_t largest; ///< resident size of the largest, in KiB
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
  // The kernel adds nanoseconds and reports whole microseconds. Rounding up leaves no rest.
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
  // Every process has minor faults: without any, none is the host's.
  if (all->ru_maxrss <= atomic_load(&own.largest) && !all->ru_minflt) all->ru_maxrss = 0;
}

void lt_child_usage_reset(void) {
  _Atomic int64_t *const sums[] = {&own.userMicroseconds, &own.systemMicroseconds, &own.minorFaults, &own.majorFaults,
                                   &own.blocksIn,         &own.blocksOut,          &own.waits,       &own.switches,
                                   &own.largest};
  for (unsigned i = 0; i < sizeof sums / sizeof *sums; i++) atomic_store(sums[i], 0);
}
