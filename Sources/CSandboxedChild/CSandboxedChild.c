// The child process that answers questions, and the messages between it and its parent. A message is a length and that
// many bytes.

#define _GNU_SOURCE
#include "CSandboxedChild.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  CHILD_SOCKET = 3,
  FIRST_ANSWER_ROOM = 4096, ///< bytes; most answers are smaller
  SMALL_QUESTION = 4096,    ///< a question of at most this many bytes, including its length, is sent in one call
};

/// The length that means "no answer".
#define NO_ANSWER UINT32_MAX

// ---------------------------------------------------------------------------------------------------------------------
// Messages.

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

/// Sends the question in one call if possible, since each call wakes the child.
static bool send_question(int file, const void *question, uint32_t size) {
  char small[SMALL_QUESTION];
  if (size > sizeof small - sizeof size) return send_all(file, &size, sizeof size) && send_all(file, question, size);
  memcpy(small, &size, sizeof size);
  if (size > 0) memcpy(small + sizeof size, question, size);
  return send_all(file, small, sizeof size + size);
}

/// An answer that the child is composing. The bytes begin with the length.
struct lt_child_answer {
  char *bytes;
  size_t size, capacity, limit;
};

void lt_child_append(struct lt_child_answer *answer, const void *bytes, size_t size) {
  if (size > answer->limit - answer->size) _exit(1);
  if (answer->size + size > answer->capacity) {
    size_t capacity = answer->capacity ? answer->capacity : FIRST_ANSWER_ROOM;
    while (capacity < answer->size + size) capacity *= 2;
    char *grown = realloc(answer->bytes, capacity);
    if (!grown) _exit(1);
    answer->bytes = grown;
    answer->capacity = capacity;
  }
  if (size > 0) memcpy(answer->bytes + answer->size, bytes, size);
  answer->size += size;
}

// ---------------------------------------------------------------------------------------------------------------------
// The child.

static void limit_child(const struct lt_child_service *service) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (service->stackLimit > 0) {
    struct rlimit stack = {service->stackLimit, service->stackLimit};
    setrlimit(RLIMIT_STACK, &stack);
  }
  // The parent may be large; only the child's own growth counts.
  char text[64] = {0};
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    if (read(file, text, sizeof text - 1) > 0) {
      rlim_t bytes = strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + service->memoryLimit;
      struct rlimit memory = {bytes, bytes};
      setrlimit(RLIMIT_AS, &memory);
    }
    close(file);
  }
}

static void detach_child(int socket) {
  // The terminal's signals are for the parent: when the parent ends, the child ends, too. Crashes must be quick and
  // silent.
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGPIPE, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) signal(fatal[i], SIG_DFL);
  sigset_t nothing;
  sigemptyset(&nothing);
  sigprocmask(SIG_SETMASK, &nothing, NULL);
  if (socket != CHILD_SOCKET) dup2(socket, CHILD_SOCKET);
  // Close all other descriptors. Otherwise, a reader that waits for the end of one of the parent's pipes would also
  // wait for the child.
  if (syscall(SYS_close_range, CHILD_SOCKET + 1, ~0u, 0) != 0) {
    struct rlimit files = {1024, 1024};
    getrlimit(RLIMIT_NOFILE, &files);
    for (int file = CHILD_SOCKET + 1; file < (int)files.rlim_cur && file < 1 << 20; file++) close(file);
  }
  int null = open("/dev/null", O_RDWR);
  for (int file = 0; file < CHILD_SOCKET; file++) null >= 0 ? dup2(null, file) : close(file);
  if (null > CHILD_SOCKET) close(null);
}

static void (*child_prologue)(void);

void lt_child_set_prologue(void (*prologue)(void)) { child_prologue = prologue; }

static _Noreturn void run_child(int socket, const struct lt_child_service *service, void *context) {
  detach_child(socket);
  limit_child(service);
  if (child_prologue) child_prologue();
  if (service->begin && !(context = service->begin(context))) _exit(1);
  char *question = malloc((size_t)service->questionLimit + 1);
  uint32_t size;
  struct lt_child_answer answer = {.limit = sizeof size + service->answerLimit};
  while (question && read_all(CHILD_SOCKET, &size, sizeof size)) {
    if (size > service->questionLimit || !read_all(CHILD_SOCKET, question, size)) break;
    question[size] = 0;
    answer.size = 0;
    lt_child_append(&answer, &size, sizeof size);
    if (service->answer(context, question, size, &answer)) {
      size = (uint32_t)(answer.size - sizeof size);
    } else {
      size = NO_ANSWER;
      answer.size = sizeof size;
    }
    memcpy(answer.bytes, &size, sizeof size);
    if (!send_all(CHILD_SOCKET, answer.bytes, answer.size)) break;
  }
  _exit(0);
}

// ---------------------------------------------------------------------------------------------------------------------
// The parent.

/// Returns the allocator's free pages to the kernel, if there are many. A child begins as a copy of this process, and
/// the kernel then copies the tables of all pages.
static void give_back_free_memory(void) {
  enum { MANY = 16 << 20 };
  if (mallinfo2().fordblks > MANY) malloc_trim(0);
}

int lt_child_start(struct lt_child *child, const struct lt_child_service *service, void *context) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  give_back_free_memory();
  pid_t process = fork();
  if (process < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return error;
  }
  if (process == 0) run_child(ends[1], service, context);
  close(ends[1]);
  *child = (struct lt_child){.process = process, .socket = ends[0], .service = service};
  return 0;
}

void lt_child_stop(struct lt_child *child) {
  if (child->process == 0) return;
  kill(child->process, SIGKILL);
  while (waitpid(child->process, NULL, 0) < 0 && errno == EINTR) {}
  close(child->socket);
  *child = (struct lt_child){0};
}

static bool await_answer(const struct lt_child *child) {
  struct pollfd poll_for = {.fd = child->socket, .events = POLLIN};
  int count;
  do count = poll(&poll_for, 1, child->service->answerMilliseconds);
  while (count < 0 && errno == EINTR);
  return count > 0;
}

int lt_child_ask(struct lt_child *child, const void *question, size_t size, void **answer, size_t *answerSize) {
  *answer = NULL;
  *answerSize = 0;
  uint32_t length;
  if (child->process != 0 && size <= child->service->questionLimit &&
      send_question(child->socket, question, (uint32_t)size) && await_answer(child) &&
      read_all(child->socket, &length, sizeof length)) {
    if (length == NO_ANSWER) return 0;
    char *bytes = length <= child->service->answerLimit ? malloc((size_t)length + 1) : NULL;
    if (bytes && read_all(child->socket, bytes, length)) {
      bytes[length] = 0;
      *answer = bytes;
      *answerSize = length;
      return 0;
    }
    free(bytes);
  }
  lt_child_stop(child);
  return ECHILD;
}
