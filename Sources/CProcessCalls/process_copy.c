// The side of a copy's owner: looks at the target, starts the guardian, has its answers.

#define _GNU_SOURCE
#include "process_copy.h"

#include "copy_guardian.h"
#include "exit_call.h"

#if LT_CAN_STOP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  PATH_SIZE = 64,
  LINE_SIZE = 512,
  DEFAULT_STOP_MILLISECONDS = 100,
  FIRST_SPARE_DESCRIPTOR = 10,
  HIGHEST_PRIORITY = -20
};

/// A look before anything is touched. Processes are looked at again by the kernel when they are stopped.
static int look_at(pid_t process, pid_t *tracer, bool *isFiltered) {
  char path[PATH_SIZE], line[LINE_SIZE];
  snprintf(path, sizeof path, "/proc/%d/status", process);
  FILE *status = fopen(path, "re");
  if (status == NULL) return errno == ENOENT ? LT_COPY_GONE : -errno;
  char state = 0;
  int filtered = 0, group = process;
  bool hasMemory = false;
  while (fgets(line, sizeof line, status)) {
    sscanf(line, "State: %c", &state);
    sscanf(line, "Tgid: %d", &group);
    sscanf(line, "TracerPid: %d", tracer);
    sscanf(line, "Seccomp: %d", &filtered);
    if (strncmp(line, "VmSize:", 7) == 0) hasMemory = true;
  }
  fclose(status);
  if (group != process) return LT_COPY_GONE; // a thread's number
  if (state == 'Z' || state == 'X') return LT_COPY_ZOMBIE;
  if (!hasMemory) return LT_COPY_KERNEL_THREAD;
  if (*tracer != 0) return LT_COPY_TRACED;
  *isFiltered = filtered != 0;
  return 0;
}

/// In the child: keeps three descriptors, and no ties to the session it comes from.
static void become_guardian(int control, int answer, int parent) {
  setsid();
  signal(SIGCHLD, SIG_DFL); // not ignored: it wakes the guardian
  prctl(PR_SET_NAME, "leaktrace-guard");
  // The target stands still for as long as the guardian waits for a processor. Only root gets it.
  setpriority(PRIO_PROCESS, 0, HIGHEST_PRIORITY);
  int high[LT_GUARDIAN_DESCRIPTORS] = {fcntl(control, F_DUPFD, FIRST_SPARE_DESCRIPTOR),
                                       fcntl(answer, F_DUPFD, FIRST_SPARE_DESCRIPTOR),
                                       fcntl(parent, F_DUPFD, FIRST_SPARE_DESCRIPTOR)};
  for (int i = 0; i < LT_GUARDIAN_DESCRIPTORS; i++)
    if (high[i] < 0 || dup2(high[i], i) < 0) _exit(1);
  close_range(LT_GUARDIAN_DESCRIPTORS, ~0u, 0);
}

static bool read_answer(int from, int *result) {
  ssize_t size;
  do size = read(from, result, sizeof *result);
  while (size < 0 && errno == EINTR);
  return size == sizeof *result;
}

static void forget_guardian(struct lt_process_copy *copy) {
  close(copy->control);
  close(copy->answer);
  while (waitpid(copy->guardian, NULL, 0) < 0 && errno == EINTR) {}
  munmap(copy->exchange, sizeof(struct lt_copy_exchange));
  copy->exchange = NULL;
  copy->threads = NULL;
  copy->threadCount = 0;
}

static int start_guardian(struct lt_process_copy *copy, int parent) {
  int control[2], answer[2];
  // A socket, since a write to one whose guardian was killed need not send a signal.
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
  copy->guardian = fork();
  int reason = -errno;
  if (copy->guardian == 0) {
    become_guardian(control[0], answer[1], parent);
    lt_guard_copy(copy->exchange);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(control[0]);
  close(answer[1]);
  copy->control = control[1];
  copy->answer = answer[0];
  if (copy->guardian > 0) return 0;
  close(control[1]);
  close(answer[0]);
  return reason;
}

static int tracer_of(pid_t process, pid_t *tracer) {
  bool isFiltered;
  *tracer = 0;
  return look_at(process, tracer, &isFiltered) == LT_COPY_TRACED ? LT_COPY_TRACED : LT_COPY_NOT_ALLOWED;
}

int lt_process_copy_begin(pid_t process, const struct lt_copy_options *options, struct lt_process_copy *copy) {
  *copy = (struct lt_process_copy){.target = process};
  bool isFiltered;
  int result = look_at(process, &copy->tracer, &isFiltered);
  if (result != 0) return result;
  int parent = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (parent < 0) return -errno;
  struct lt_copy_exchange *exchange =
      mmap(NULL, sizeof *exchange, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (exchange == MAP_FAILED) {
    int reason = -errno;
    close(parent);
    return reason;
  }
  exchange->options = *options;
  if (options->stopMilliseconds == 0) exchange->options.stopMilliseconds = DEFAULT_STOP_MILLISECONDS;
  exchange->suspendsFilter = isFiltered && !options->allowFiltered;
  exchange->stopped.process = process;
  exchange->exitCall = lt_find_exit_call(process);
  copy->exchange = exchange;
  result = start_guardian(copy, parent);
  close(parent);
  if (result != 0) {
    munmap(exchange, sizeof *exchange);
    return result;
  }
  if (!read_answer(copy->answer, &result)) result = LT_COPY_LOST;
  if (result != 0) {
    copy->reason = exchange->reason;
    forget_guardian(copy);
    return result == LT_COPY_NOT_ALLOWED ? tracer_of(process, &copy->tracer) : result;
  }
  bool isHeld = options->mode == LT_COPY_MODE_HOLD;
  copy->memory = isHeld ? process : exchange->copy;
  copy->pauseNanoseconds = isHeld ? 0 : exchange->stopped.end - exchange->stopped.begin;
  copy->copyNanoseconds = exchange->copyNanoseconds;
  copy->threads = exchange->stopped.threads;
  copy->threadCount = exchange->stopped.count;
  return 0;
}

int lt_process_copy_end(struct lt_process_copy *copy) {
  if (copy->exchange == NULL) return 0;
  int result;
  if (send(copy->control, "", 1, MSG_NOSIGNAL) != 1 || !read_answer(copy->answer, &result)) result = LT_COPY_LOST;
  forget_guardian(copy);
  return result;
}

#else

int lt_process_copy_begin(pid_t process, const struct lt_copy_options *options, struct lt_process_copy *copy) {
  *copy = (struct lt_process_copy){.target = process};
  return LT_COPY_OTHER_MACHINE;
}

int lt_process_copy_end(struct lt_process_copy *copy) { return 0; }

#endif
