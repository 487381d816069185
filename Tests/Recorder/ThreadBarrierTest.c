// The memory barrier in all threads: it uses the kernel's call, but never below a filter of system calls.

#include "os/fd_isolated_task.h"
#include "os/os.h"
#include "os/thread_barrier.h"

#include "RecorderTest.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool kernel_has_barrier(void) {
  long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return commands > 0 && commands & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
}

static void do_nothing(void *unused) { (void)unused; }

TEST(barrier_by_kernel, "A barrier in all threads registers the process, and then uses the kernel's call") {
  // An emulator of system calls may lack the task that looks for a filter, or may have registered itself.
  if (!kernel_has_barrier() || !lt_call_isolated(do_nothing, NULL)) return;
  long before = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  EXPECT(before == 0 || errno == EPERM);
  lt_order_threads();
  EXPECT(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
}

/// Makes the kernel end this process at a call of membarrier. False if the kernel refuses the filter.
static bool forbid_barrier(void) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

TEST(barrier_below_filter, "Below a filter of system calls, a barrier in all threads waits, and makes no such call") {
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    if (!forbid_barrier()) _exit(0);
    uint64_t before = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    lt_order_threads();
    _exit(lt_clock_nanoseconds(CLOCK_MONOTONIC) - before < LT_HELD_NANOSECONDS);
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
}
