// A memory barrier in all threads of the process, so that hooks need none.

#include "os/thread_barrier.h"

#include "arch/arch.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static void look_for_filter(void *isFiltered) {
  static const char wanted[] = "\nSeccomp:\t0\n";
  enum { TEXT_SIZE = 4096 };
  char text[TEXT_SIZE];
  // The task has the filters of the thread that started it.
  int descriptor = lt_open("/proc/thread-self/status", O_RDONLY, 0);
  if (descriptor < 0) return;
  long size = lt_read(descriptor, text, sizeof text - 1);
  lt_close(descriptor);
  text[size > 0 ? size : 0] = 0;
  *(bool *)isFiltered = !strstr(text, wanted);
}

/// True if a filter of system calls may be in effect. Such a filter may end the process at an unexpected call.
static bool may_be_filtered(void) {
  bool isFiltered = true;
  lt_call_isolated(look_for_filter, &isFiltered);
  return isFiltered;
}

/// Makes all threads execute a barrier. False if the kernel refuses.
static bool cause_barriers(void) {
  long error = lt_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  if (error != -EPERM) return error == 0;
  // The process must register once.
  return lt_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
         lt_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool lt_order_threads_at_once(void) {
  // The kernel promises an order between other threads and this call. This thread's own accesses need the fence.
  atomic_thread_fence(memory_order_seq_cst);
  return !may_be_filtered() && cause_barriers();
}

void lt_order_threads(void) {
  if (lt_order_threads_at_once()) return;
  uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC), now = begin;
  // A signal handler may end a sleep early.
  for (; now - begin < LT_HELD_NANOSECONDS; now = lt_clock_nanoseconds(CLOCK_MONOTONIC))
    lt_sleep(LT_HELD_NANOSECONDS - (now - begin));
}
