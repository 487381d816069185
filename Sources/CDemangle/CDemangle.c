// The child process that demangles, and how it is talked to.
//
// Between fork and its end the child calls only what is safe in the child of a threaded process: system calls, malloc,
// which glibc keeps usable there, and the two demanglers, which take no locks.

#define _GNU_SOURCE
#include "CDemangle.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Exported by libswiftCore and libstdc++ without a header.
char *swift_demangle(const char *name, size_t length, char *output, size_t *outputSize, uint32_t flags);
char *__cxa_demangle(const char *name, char *output, size_t *outputSize, int *status);

enum {
  NAME_LIMIT = 1 << 20,       ///< bytes of a name, and of what it demangles to
  MEMORY_LIMIT = 256 << 20,   ///< bytes that the child may use beyond what it began with
  ANSWER_MILLISECONDS = 3000, ///< a real name takes some microseconds
  CHILD_SOCKET = 3,
};

/// Stands for "not mangled" in the place of an answer's length.
#define NO_ANSWER UINT32_MAX

char *lt_demangle(const char *name, size_t length) {
  if (length >= 2 && name[0] == '_' && (name[1] == 'Z' || (length > 4 && !memcmp(name, "___Z", 4)))) {
    char *terminated = strndup(name, length);
    if (!terminated) return NULL;
    int status = 0;
    char *result = __cxa_demangle(terminated, NULL, NULL, &status);
    free(terminated);
    return result;
  }
  return swift_demangle(name, length, NULL, NULL, 0);
}

static bool read_all(int file, void *buffer, size_t size) {
  char *at = buffer;
  while (size > 0) {
    ssize_t count = read(file, at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= (size_t)count;
  }
  return true;
}

static bool send_all(int file, const void *buffer, size_t size) {
  const char *at = buffer;
  while (size > 0) {
    ssize_t count = send(file, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= (size_t)count;
  }
  return true;
}

/// A length and that many bytes, in one call where possible.
static bool send_text(int file, const char *text, uint32_t length) {
  char small[4096];
  if (length > sizeof small - sizeof length)
    return send_all(file, &length, sizeof length) && send_all(file, text, length);
  memcpy(small, &length, sizeof length);
  memcpy(small + sizeof length, text, length);
  return send_all(file, small, sizeof length + length);
}

static void limit_child(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // The parent may be large; only what is added counts.
  char text[64] = {0};
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    if (read(file, text, sizeof text - 1) > 0) {
      rlim_t bytes = strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_LIMIT;
      struct rlimit memory = {bytes, bytes};
      setrlimit(RLIMIT_AS, &memory);
    }
    close(file);
  }
}

static void detach_child(int socket) {
  // The terminal's signals are for the parent, whose end the child notices. Crashes are to be quick and silent.
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGPIPE, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) signal(fatal[i], SIG_DFL);
  sigset_t nothing;
  sigemptyset(&nothing);
  sigprocmask(SIG_SETMASK, &nothing, NULL);
  if (socket != CHILD_SOCKET) dup2(socket, CHILD_SOCKET);
  // Whoever waits for the end of a pipe that the parent writes must not wait for the child too.
  if (syscall(SYS_close_range, CHILD_SOCKET + 1, ~0u, 0) != 0) {
    struct rlimit files = {1024, 1024};
    getrlimit(RLIMIT_NOFILE, &files);
    for (int file = CHILD_SOCKET + 1; file < (int)files.rlim_cur && file < 1 << 20; file++) close(file);
  }
  int null = open("/dev/null", O_RDWR);
  for (int file = 0; file < CHILD_SOCKET; file++) null >= 0 ? dup2(null, file) : close(file);
  if (null > CHILD_SOCKET) close(null);
}

static _Noreturn void run_child(int socket) {
  detach_child(socket);
  limit_child();
  char *name = malloc(NAME_LIMIT + 1);
  uint32_t length;
  while (name && read_all(CHILD_SOCKET, &length, sizeof length)) {
    if (length > NAME_LIMIT || !read_all(CHILD_SOCKET, name, length)) break;
    name[length] = 0;
    char *result = lt_demangle(name, length);
    size_t size = result ? strlen(result) : 0;
    uint32_t none = NO_ANSWER;
    bool sent = result && size <= NAME_LIMIT ? send_text(CHILD_SOCKET, result, (uint32_t)size)
                                             : send_all(CHILD_SOCKET, &none, sizeof none);
    free(result);
    if (!sent) break;
  }
  _exit(0);
}

int lt_demangler_start(struct lt_demangler_process *child) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  pid_t process = fork();
  if (process < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return error;
  }
  if (process == 0) run_child(ends[1]);
  close(ends[1]);
  child->process = process;
  child->socket = ends[0];
  return 0;
}

void lt_demangler_stop(struct lt_demangler_process *child) {
  if (child->process == 0) return;
  kill(child->process, SIGKILL);
  while (waitpid(child->process, NULL, 0) < 0 && errno == EINTR) {}
  close(child->socket);
  *child = (struct lt_demangler_process){0};
}

static bool await_answer(int socket) {
  struct pollfd poll_for = {.fd = socket, .events = POLLIN};
  int count;
  do count = poll(&poll_for, 1, ANSWER_MILLISECONDS);
  while (count < 0 && errno == EINTR);
  return count > 0;
}

int lt_demangler_ask(struct lt_demangler_process *child, const char *name, size_t length, char **result) {
  *result = NULL;
  if (length > NAME_LIMIT) return 0;
  uint32_t size;
  if (child->process != 0 && send_text(child->socket, name, (uint32_t)length) && await_answer(child->socket) &&
      read_all(child->socket, &size, sizeof size)) {
    if (size == NO_ANSWER) return 0;
    char *text = size <= NAME_LIMIT ? malloc((size_t)size + 1) : NULL;
    if (text && read_all(child->socket, text, size)) {
      text[size] = 0;
      *result = text;
      return 0;
    }
    free(text);
  }
  lt_demangler_stop(child);
  return ECHILD;
}
