// Situations of confinement: control groups, namespaces, mounts, and rules about calls and files.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "situations.h"

// Headers of older distributions lack it. Without it, the situation is not possible.
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static bool write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool isWritten = write(file, text, strlen(text)) == (ssize_t)strlen(text);
  close(file);
  return isWritten;
}

// --- control groups --------------------------------------------------------------------------------------------------

/// Makes a control group of the first hierarchy and enters it. False where that is not possible.
static bool enter_group(const char *controller, char *path, size_t size) {
  snprintf(path, size, "/sys/fs/cgroup/%s/leaktrace-situation-%d", controller, (int)getpid());
  char file[256], number[16];
  if (mkdir(path, 0755) != 0) return false;
  snprintf(file, sizeof file, "%s/cgroup.procs", path);
  snprintf(number, sizeof number, "%d", (int)getpid());
  return write_text(file, number);
}
static void leave_group(const char *controller, const char *path) {
  char file[256], number[16];
  snprintf(file, sizeof file, "/sys/fs/cgroup/%s/cgroup.procs", controller);
  snprintf(number, sizeof number, "%d", (int)getpid());
  write_text(file, number);
  for (int i = 0; i < 100 && rmdir(path) != 0; i++) nap(20);
}
SITUATION(group_process_limit, "the control group allows no more processes") {
  char path[128], file[256];
  if (!enter_group("pids", path, sizeof path)) return 77;
  snprintf(file, sizeof file, "%s/pids.max", path);
  MUST(write_text(file, "1"));
  do {
    allocate(100);
    snapshot();
    pthread_t thread;
    MUST(pthread_create(&thread, NULL, allocate_some, NULL) == EAGAIN);
    nap(10);
  } while (goes_on());
  leave_group("pids", path);
  puts("refused");
  return 0;
}
SITUATION(group_frozen, "the control group freezes the process again and again") {
  char path[128], file[256];
  if (!enter_group("freezer", path, sizeof path)) return 77;
  snprintf(file, sizeof file, "%s/freezer.state", path);
  int ends[2];
  MUST(pipe2(ends, O_CLOEXEC) == 0);
  pid_t freezer = fork();
  if (freezer == 0) {
    // Out of the group, so that it can thaw its parent.
    char number[16];
    snprintf(number, sizeof number, "%d", (int)getpid());
    if (!write_text("/sys/fs/cgroup/freezer/cgroup.procs", number)) _exit(1);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    for (char byte; read(ends[0], &byte, 1) != 0;) {
      if (!write_text(file, "FROZEN")) _exit(2);
      nap(30);
      if (!write_text(file, "THAWED")) _exit(3);
      nap(20);
    }
    _exit(0);
  }
  static volatile int isOver;
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, churn, (void *)&isOver) == 0);
  double begin = seconds_now();
  do {
    nap(10);
    snapshot();
  } while (goes_on() || seconds_now() - begin < 0.3);
  isOver = 1;
  pthread_join(thread, NULL);
  close(ends[1]);
  await("the freezer", freezer);
  leave_group("freezer", path);
  return 0;
}
SITUATION(group_memory_limit, "the control group's memory is nearly used up") {
  enum { MEGABYTES = 40, WRITTEN = 8 };
  char path[128], file[256];
  if (!enter_group("memory", path, sizeof path)) return 77;
  snprintf(file, sizeof file, "%s/memory.limit_in_bytes", path);
  MUST(write_text(file, "64M"));
  char *blocks[MEGABYTES];
  for (int i = 0; i < MEGABYTES; i++) {
    MUST((blocks[i] = malloc(1 << 20)));
    memset(blocks[i], i + 1, 1 << 20);
  }
  do {
    snapshot();
    // A copy of the process shares these pages until they are written.
    for (int i = 0; i < WRITTEN; i++) memset(blocks[i], i + 2, 1 << 20);
    nap(20);
  } while (goes_on());
  for (int i = 0; i < MEGABYTES; i++) MUST(blocks[i][4711] == i + (i < WRITTEN ? 2 : 1));
  for (int i = 0; i < MEGABYTES; i++) free(blocks[i]);
  leave_group("memory", path);
  puts("kept");
  return 0;
}

// --- namespaces and mounts -------------------------------------------------------------------------------------------

static bool has_own_mounts(void) {
  return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}
static void *image_and_allocate(void *unused) {
  snapshot();
  return allocate_some(unused);
}
static int among_threads(void) {
  static volatile int isOver;
  pthread_t thread, other;
  MUST(pthread_create(&thread, NULL, churn, (void *)&isOver) == 0);
  do {
    allocate(1000);
    snapshot();
    MUST(pthread_create(&other, NULL, image_and_allocate, NULL) == 0);
    MUST(pthread_join(other, NULL) == 0);
    nap(20);
  } while (goes_on());
  isOver = 1;
  pthread_join(thread, NULL);
  puts("went on");
  return 0;
}
SITUATION(proc_unmounted, "the process has no /proc") {
  if (!has_own_mounts() || umount2("/proc", MNT_DETACH) != 0) return 77;
  return among_threads();
}
SITUATION(proc_hidden, "/proc shows a user's processes to that user alone") {
  if (!has_own_mounts() || mount("proc", "/proc", "proc", 0, "hidepid=2") != 0) return 77;
  MUST(setgid(65534) == 0 && setuid(65534) == 0);
  return among_threads();
}
SITUATION(temporary_not_executable, "nothing in /tmp may be executed or written") {
  if (!has_own_mounts() || mount("none", "/tmp", "tmpfs", MS_NOEXEC | MS_RDONLY, NULL) != 0) return 77;
  return among_threads();
}
SITUATION(time_namespace, "a child has a monotonic clock of its own") {
  if (unshare(CLONE_NEWTIME) != 0) return 77;
  if (!write_text("/proc/self/timens_offsets", "monotonic 1000000 0\nboottime 1000000 0\n")) return 77;
  pid_t child = fork();
  if (child == 0) exit(among_threads());
  visit(child);
  await("the child", child);
  return 0;
}
SITUATION(alone_in_its_memory, "a process of one thread never finds a second one, nor another user of its memory") {
  int failures = 0;
  double begin = seconds_now();
  do {
    for (int i = 0; i < 2000; i++) {
      failures += unshare(CLONE_VM) != 0;
      free(malloc(100));
    }
    snapshot();
  } while (goes_on() || seconds_now() - begin < 0.2);
  printf("%d failures\n", failures);
  return 0;
}
SITUATION(user_namespace_of_child, "children enter user namespaces of their own while images are taken") {
  int failures = 0;
  do {
    for (int i = 0; i < 20; i++) {
      pid_t child = fork();
      if (child == 0) _exit(unshare(CLONE_NEWUSER) != 0);
      int status;
      MUST(waitpid(child, &status, 0) == child);
      failures += status != 0;
    }
    snapshot();
  } while (goes_on());
  printf("%d failures\n", failures);
  return 0;
}

// --- confinement -----------------------------------------------------------------------------------------------------

/// Allows no file to be opened by the calling thread. False where the kernel has no Landlock.
static bool confine(void) {
#ifdef SYS_landlock_create_ruleset
  struct landlock_ruleset_attr attributes = {
      .handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                           LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_REG};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (rules < 0) return false;
  MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0);
  close(rules);
  return true;
#else
  return false;
#endif
}
SITUATION(landlock, "the process may open no file any more (Landlock)") {
  if (!confine()) return 77;
  return among_threads();
}
static void *confine_and_image(void *unused) {
  if (!confine()) return (void *)1;
  for (int i = 0; i < 5; i++) {
    snapshot();
    allocate(1000);
  }
  return unused;
}
SITUATION(landlock_of_one_thread, "one thread may open no file (Landlock), and asks for images") {
  static volatile int isOver;
  pthread_t thread, other;
  void *result;
  MUST(pthread_create(&thread, NULL, churn, (void *)&isOver) == 0);
  do {
    MUST(pthread_create(&other, NULL, confine_and_image, NULL) == 0);
    MUST(pthread_join(other, &result) == 0);
  } while (goes_on());
  isOver = 1;
  pthread_join(thread, NULL);
  puts(result ? "refused" : "went on");
  return 0;
}

static int listener;
/// Lets the kernel make each call that it asks about.
static void *supervise(void *unused) {
  struct seccomp_notif question;
  for (;;) {
    memset(&question, 0, sizeof question);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) {
      if (errno == EINTR || errno == ENOENT) continue;
      return unused;
    }
    struct seccomp_notif_resp answer = {.id = question.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}
static void *confine_supervised(void *unused) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  pthread_barrier_wait(unused);
  if (listener < 0) return (void *)1;
  do {
    FILE *file = fopen("/dev/null", "re");
    MUST(file && fclose(file) == 0);
    allocate(1000);
    snapshot();
    nap(20);
  } while (goes_on());
  return NULL;
}
SITUATION(supervised_calls, "a thread of the process decides about another's calls of open (SECCOMP_RET_USER_NOTIF)") {
  pthread_t thread, supervisor;
  pthread_barrier_t begun;
  void *result;
  pthread_barrier_init(&begun, NULL, 2);
  MUST(pthread_create(&thread, NULL, confine_supervised, &begun) == 0);
  pthread_barrier_wait(&begun);
  MUST(pthread_create(&supervisor, NULL, supervise, NULL) == 0);
  pthread_join(thread, &result);
  puts(result ? "refused" : "opened");
  return 0;
}
SITUATION(memory_locked, "all memory is locked, now and later, while threads begin and end") {
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 77;
  return among_threads();
}
