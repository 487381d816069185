// Inspects processes, and starts guardians.

#define _GNU_SOURCE
#include "guardian.h"

#include "stopped_thread.h"

#if LT_CAN_STOP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 64, LINE_SIZE = 512, FIRST_SPARE_DESCRIPTOR = 10, TURN_NANOSECONDS = 100000 };

int lt_check_traceable(pid_t process, pid_t *tracer) {
  char path[PATH_SIZE], line[LINE_SIZE];
  snprintf(path, sizeof path, "/proc/%d/status", process);
  FILE *status = fopen(path, "re");
  if (status == NULL) return errno == ENOENT ? LT_COPY_GONE : -errno;
  char state = 0;
  int group = process;
  bool hasMemory = false;
  while (fgets(line, sizeof line, status)) {
    sscanf(line, "State: %c", &state);
    sscanf(line, "Tgid: %d", &group);
    sscanf(line, "TracerPid: %d", tracer);
    if (strncmp(line, "VmSize:", 7) == 0) hasMemory = true;
  }
  fclose(status);
  if (group != process) return LT_COPY_GONE; // the number of a thread, not of a process
  if (state == 'Z' || state == 'X') return LT_COPY_ZOMBIE;
  if (!hasMemory) return LT_COPY_KERNEL_THREAD;
  return *tracer != 0 ? LT_COPY_TRACED : 0;
}

/// A thread's policy and priority.
struct scheduling {
  int policy;
  struct sched_param parameters;
};

/// Gives this process a realtime policy, if it is allowed to have one. A guardian needs a processor only for
/// microseconds at a time. But while it waits for a processor, the target stays stopped. A child inherits its parent's
/// policy, so the parent sets the policy before the fork. After the fork, the parent returns to `before`.
static bool come_first(struct scheduling *before) {
  // A higher priority is not enough. If groups of processes share the processors (sched_autogroup_enabled), a priority
  // counts only within the guardian's group. At a load of 54, a guardian with the highest priority waited for seconds
  // (Linux 6.18). A realtime policy counts system-wide.
  struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
  before->policy = sched_getscheduler(0);
  if (before->policy < 0 || sched_getparam(0, &before->parameters) != 0) return false;
  return sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
}

/// Asks for short time slices, since the scheduler grants these sooner. Any user may do so. Has no effect before Linux
/// 6.12.
static void ask_for_short_turns(void) {
  // The first version of sched_attr in linux/sched/types.h.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t priority;
    uint32_t realTimePriority;
    uint64_t turn, deadline, period;
  } scheduling = {.size = sizeof scheduling, .priority = getpriority(PRIO_PROCESS, 0), .turn = TURN_NANOSECONDS};
  syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

/// Turns the child into a guardian: leaves the parent's session, and keeps only three descriptors.
static void become_guardian(int control, int answer, int parent) {
  setsid();
  signal(SIGCHLD, SIG_DFL); // an ignored SIGCHLD would not wake the guardian
  prctl(PR_SET_NAME, "leaktrace-guard");
  if (sched_getscheduler(0) == SCHED_OTHER) ask_for_short_turns();
  int high[LT_GUARDIAN_DESCRIPTORS] = {fcntl(control, F_DUPFD, FIRST_SPARE_DESCRIPTOR),
                                       fcntl(answer, F_DUPFD, FIRST_SPARE_DESCRIPTOR),
                                       fcntl(parent, F_DUPFD, FIRST_SPARE_DESCRIPTOR)};
  for (int i = 0; i < LT_GUARDIAN_DESCRIPTORS; i++)
    if (high[i] < 0 || dup2(high[i], i) < 0) _exit(1);
  close_range(LT_GUARDIAN_DESCRIPTORS, ~0u, 0);
}

void *lt_guardian_exchange(size_t size) {
  void *exchange = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return exchange == MAP_FAILED ? NULL : exchange;
}

static int start(struct lt_guardian *guardian, int parent, void (*live)(void *exchange), void *exchange) {
  int control[2], answer[2];
  // A socket, since a write to it causes no signal (MSG_NOSIGNAL) if the guardian was killed.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0) return -errno;
  if (pipe2(answer, O_CLOEXEC) != 0) {
    int reason = -errno;
    close(control[0]);
    close(control[1]);
    return reason;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  struct scheduling scheduling;
  bool isFirst = come_first(&scheduling);
  guardian->process = fork();
  int reason = -errno;
  if (guardian->process == 0) {
    become_guardian(control[0], answer[1], parent);
    live(exchange);
    _exit(1);
  }
  if (isFirst) sched_setscheduler(0, scheduling.policy, &scheduling.parameters);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(control[0]);
  close(answer[1]);
  guardian->control = control[1];
  guardian->answer = answer[0];
  if (guardian->process > 0) return 0;
  close(control[1]);
  close(answer[0]);
  return reason;
}

int lt_guardian_start(struct lt_guardian *guardian, void (*live)(void *exchange), void *exchange) {
  int parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (parent < 0) return -errno;
  int result = start(guardian, parent, live, exchange);
  close(parent);
  return result;
}

bool lt_guardian_await(const struct lt_guardian *guardian, int *result) {
  ssize_t size;
  do size = read(guardian->answer, result, sizeof *result);
  while (size < 0 && errno == EINTR);
  return size == sizeof *result;
}

void lt_guardian_forget(struct lt_guardian *guardian) {
  close(guardian->control);
  close(guardian->answer);
  while (waitpid(guardian->process, NULL, 0) < 0 && errno == EINTR) {}
}

int lt_reason_of_refusal(pid_t process, pid_t *tracer) {
  *tracer = 0;
  return lt_check_traceable(process, tracer) == LT_COPY_TRACED ? LT_COPY_TRACED : LT_COPY_NOT_ALLOWED;
}

#endif
