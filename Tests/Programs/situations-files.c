// Situations of files, descriptors and directories.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "situations.h"

enum { ENOUGH = 60000 }; // to fill several buffers

SITUATION(close_loop, "all descriptors above 2 are closed one by one") {
  allocate(100);
  for (int i = 3; i < 4096; i++) close(i);
  allocate(ENOUGH);
  return 0;
}
SITUATION(close_range_call, "all descriptors above 2 are closed by close_range") {
  allocate(100);
  MUST(syscall(SYS_close_range, 3, ~0u, 0) == 0);
  allocate(ENOUGH);
  return 0;
}
SITUATION(close_standard, "the three standard descriptors are closed, and files get their numbers") {
  char path[] = "/tmp/situation-XXXXXX";
  int file = mkstemp(path);
  MUST(file >= 0 && unlink(path) == 0);
  int out = fcntl(1, F_DUPFD_CLOEXEC, 50);
  for (int i = 0; i < 3; i++) close(i);
  for (int i = 0; i < 3; i++) MUST(dup(file) == i);
  allocate(ENOUGH);
  snapshot();
  struct stat info;
  MUST(fstat(0, &info) == 0);
  dprintf(out, "%ld bytes\n", (long)info.st_size);
  return 0;
}
SITUATION(descriptors_closed_all, "not one descriptor is open while the process allocates") {
  allocate(100);
  for (int i = 0; i < 4096; i++) close(i);
  allocate(ENOUGH);
  return 4;
}
SITUATION(descriptors_lowest, "new descriptors get the lowest numbers, in order") {
  allocate(ENOUGH);
  for (int i = 0; i < 5; i++) {
    printf("%d ", open("/dev/null", O_RDONLY));
    allocate(ENOUGH);
  }
  puts("");
  return 0;
}
SITUATION(descriptors_exhausted, "the process has as many descriptors open as it may") {
  struct rlimit limit = {64, 64};
  MUST(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  allocate(100);
  int last = -1, one;
  while ((one = open("/dev/null", O_RDONLY)) >= 0) last = one;
  printf("%d %d\n", last, errno);
  allocate(ENOUGH);
  snapshot();
  for (int i = 3; i <= last; i++) close(i);
  return 0;
}
SITUATION(descriptor_limit_none, "the process may open no descriptor any more") {
  allocate(100);
  struct rlimit none = {0, 0};
  MUST(setrlimit(RLIMIT_NOFILE, &none) == 0);
  allocate(ENOUGH);
  puts("allocated");
  return 0;
}

static atomic_int isDone;
static int victim;
static void *take_descriptors(void *unused) {
  // Of numbers that it does not own it makes its own file, as a program does that closes all and opens others.
  while (!isDone)
    for (int i = 900; i < 1024; i++) {
      close(i);
      dup2(victim, i);
    }
  return unused;
}
static void *allocate_much(void *unused) {
  allocate(400000);
  return unused;
}
SITUATION(
    descriptors_taken,
    "a thread makes its own file of descriptors that it does not own while others allocate; the file stays as it was") {
  char path[] = "/tmp/situation-XXXXXX", content[64] = "";
  victim = mkstemp(path);
  MUST(victim >= 0 && unlink(path) == 0 && write(victim, "content", 7) == 7);
  pthread_t taker, others[3];
  MUST(pthread_create(&taker, NULL, take_descriptors, NULL) == 0);
  for (int i = 0; i < 3; i++) MUST(pthread_create(&others[i], NULL, allocate_much, NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(others[i], NULL);
  isDone = 1;
  pthread_join(taker, NULL);
  struct stat info;
  MUST(fstat(victim, &info) == 0 && pread(victim, content, sizeof content - 1, 0) >= 7);
  printf("%ld bytes: %.7s\n", (long)info.st_size, content);
  for (int i = 900; i < 1024; i++) close(i);
  return 0;
}

static int file_size_limit(rlim_t bytes, int handler) {
  struct rlimit limit = {bytes, bytes};
  if (handler) signal(SIGXFSZ, SIG_IGN);
  allocate(100);
  MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  allocate(ENOUGH);
  snapshot();
  puts("allocated");
  return 0;
}
SITUATION(file_size_none, "the process may write no file (RLIMIT_FSIZE of 0)") { return file_size_limit(0, 0); }
SITUATION(file_size_none_ignored, "the process may write no file, and ignores the signal") {
  return file_size_limit(0, 1);
}
SITUATION(file_size_little, "the process may write files of 64 KiB at most") { return file_size_limit(64 << 10, 0); }
SITUATION(file_size_signal, "the process gets SIGXFSZ for a file of its own, and ends by it") {
  struct rlimit limit = {4096, 4096};
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  char path[] = "/tmp/situation-XXXXXX", page[4096] = "";
  int file = mkstemp(path);
  MUST(file >= 0 && unlink(path) == 0);
  allocate(100);
  MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (int i = 0; i < 3; i++) MUST(write(file, page, sizeof page) > 0);
  return 9;
}

SITUATION(directory_changed, "the process changes its working directory") {
  for (int i = 0; i < 20; i++) {
    MUST(chdir(i % 2 ? "/" : "/usr") == 0);
    allocate(ENOUGH / 10);
  }
  return 0;
}
SITUATION(directory_removed, "the working directory is removed") {
  char path[] = "/tmp/situation-XXXXXX", buffer[64];
  MUST(mkdtemp(path) && chdir(path) == 0 && rmdir(path) == 0);
  allocate(ENOUGH);
  MUST(getcwd(buffer, sizeof buffer) == NULL && errno == ENOENT);
  snapshot();
  return 0;
}
SITUATION(root_changed, "the process gets another root directory") {
  char path[] = "/tmp/situation-XXXXXX";
  MUST(mkdtemp(path));
  allocate(100);
  int old = open("/", O_RDONLY | O_DIRECTORY);
  MUST(chroot(path) == 0 && chdir("/") == 0);
  allocate(ENOUGH);
  snapshot();
  MUST(fchdir(old) == 0 && chroot(".") == 0 && rmdir(path) == 0);
  close(old);
  return 0;
}
SITUATION(root_changed_threads, "threads begin to allocate after the root directory changed") {
  char path[] = "/tmp/situation-XXXXXX";
  MUST(mkdtemp(path));
  int old = open("/", O_RDONLY | O_DIRECTORY);
  MUST(chroot(path) == 0 && chdir("/") == 0);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) MUST(pthread_create(&threads[i], NULL, allocate_much, NULL) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  MUST(fchdir(old) == 0 && chroot(".") == 0 && rmdir(path) == 0);
  close(old);
  return 0;
}
SITUATION(user_changed, "the process goes on as another user") {
  allocate(100);
  MUST(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
  allocate(ENOUGH);
  snapshot();
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, allocate_much, NULL) == 0);
  pthread_join(thread, NULL);
  return 0;
}
SITUATION(mask_changed, "files are made with the mode that the process chose") {
  umask(0);
  allocate(ENOUGH);
  snapshot();
  char path[] = "/tmp/situation-XXXXXX";
  MUST(mkdtemp(path));
  char file[64];
  snprintf(file, sizeof file, "%s/f", path);
  int descriptor = open(file, O_CREAT | O_WRONLY, 0666);
  struct stat info;
  MUST(fstat(descriptor, &info) == 0);
  printf("%o %o\n", (unsigned)info.st_mode & 0777, (unsigned)umask(0));
  close(descriptor);
  unlink(file);
  rmdir(path);
  return 0;
}
SITUATION(files_unshared, "a thread has a descriptor table of its own, which it empties") {
  allocate(100);
  MUST(unshare(CLONE_FILES) == 0);
  for (int i = 3; i < 2048; i++) close(i);
  allocate(ENOUGH);
  snapshot();
  return 0;
}
SITUATION(pipe_broken, "output goes into a pipe that nobody reads; SIGPIPE ends the process") {
  int ends[2];
  MUST(pipe(ends) == 0);
  close(ends[0]);
  allocate(ENOUGH);
  MUST(write(ends[1], "x", 1) == 1);
  return 9;
}
SITUATION(error_output_closed, "standard error is closed") {
  close(2);
  allocate(ENOUGH);
  snapshot();
  puts("allocated");
  return 0;
}
SITUATION(error_output_full, "standard error is a device that is full") {
  int full = open("/dev/full", O_WRONLY);
  MUST(full >= 0 && dup2(full, 2) == 2);
  close(full);
  allocate(ENOUGH);
  snapshot();
  puts("allocated");
  return 0;
}
SITUATION(peer_sees_end,
          "the other end of a connection sees at once that it was closed, though an image is being written") {
  int pair[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  void *blocks[2000];
  for (int i = 0; i < 2000; i++) blocks[i] = calloc(1, 10000);
  snapshot();
  close(pair[0]);
  char c;
  printf("%ld\n", (long)read(pair[1], &c, 1));
  for (int i = 0; i < 2000; i++) free(blocks[i]);
  return 0;
}
SITUATION(epoll_and_events, "epoll, an event descriptor and a pipe work together") {
  int set = epoll_create1(EPOLL_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
  struct epoll_event wanted = {.events = EPOLLIN}, got;
  MUST(set >= 0 && event >= 0 && epoll_ctl(set, EPOLL_CTL_ADD, event, &wanted) == 0);
  for (int i = 0; i < 100; i++) {
    uint64_t one = 1;
    MUST(write(event, &one, 8) == 8);
    allocate(500);
    MUST(epoll_wait(set, &got, 1, 1000) == 1 && read(event, &one, 8) == 8);
  }
  close(set);
  close(event);
  return 0;
}
SITUATION(locks, "locks on files are the process's own") {
  char path[] = "/tmp/situation-XXXXXX";
  int file = mkstemp(path);
  MUST(file >= 0 && unlink(path) == 0);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  MUST(fcntl(file, F_SETLK, &lock) == 0);
  allocate(ENOUGH);
  snapshot();
  pid_t child = fork();
  if (child == 0) {
    struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(file, F_GETLK, &asked);
    _exit(asked.l_type == F_WRLCK && asked.l_pid == getppid() ? 3 : 4);
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  printf("%d\n", WEXITSTATUS(status));
  close(file);
  return 0;
}
SITUATION(shared_memory, "memory is shared with a child by a file") {
  int file = memfd_create("shared", MFD_CLOEXEC);
  MUST(file >= 0 && ftruncate(file, 4096) == 0);
  int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  MUST(word != MAP_FAILED);
  pid_t child = fork();
  if (child == 0) {
    allocate(1000);
    *word = 42;
    _exit(0);
  }
  MUST(waitpid(child, NULL, 0) == child);
  snapshot();
  printf("%d\n", *word);
  munmap(word, 4096);
  close(file);
  return 0;
}
SITUATION(descriptors_passed, "a descriptor is sent to a child") {
  int pair[2], ends[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && pipe(ends) == 0);
  pid_t child = fork();
  char control[CMSG_SPACE(sizeof(int))] = "", byte = 'x';
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (child == 0) {
    allocate(1000);
    MUST(recvmsg(pair[1], &message, 0) == 1);
    MUST(write(*(int *)CMSG_DATA(CMSG_FIRSTHDR(&message)), "passed", 6) == 6);
    _exit(0);
  }
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof(int));
  *(int *)CMSG_DATA(head) = ends[1];
  MUST(sendmsg(pair[0], &message, 0) == 1);
  char text[8] = "";
  MUST(read(ends[0], text, 6) == 6 && waitpid(child, NULL, 0) == child);
  puts(text);
  for (int i = 0; i < 2; i++) close(pair[i]), close(ends[i]);
  return 0;
}
SITUATION(directory_listing, "a directory that the process made holds what it put there") {
  char path[] = "/tmp/situation-XXXXXX", name[64];
  MUST(mkdtemp(path) && chdir(path) == 0);
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "file-%d", i);
    close(open(name, O_CREAT | O_WRONLY, 0600));
    allocate(500);
  }
  snapshot();
  int count = 0;
  DIR *directory = opendir(".");
  MUST(directory);
  for (struct dirent *entry; (entry = readdir(directory));)
    if (*entry->d_name != '.') count++, unlink(entry->d_name);
  closedir(directory);
  MUST(chdir("/") == 0 && rmdir(path) == 0);
  printf("%d\n", count);
  return 0;
}
