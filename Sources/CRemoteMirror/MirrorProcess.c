// The child process that runs the remote mirror library, and the messages to and from it.
//
// Between fork and its end the child calls system calls, malloc, which glibc keeps usable in the child of a
// threaded process, the library, and the caller's function that reads memory.

#define _GNU_SOURCE
#include "EnumCases.h"
#include "MirrorLibrary.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  /// bytes of one read of memory that is not a region; metadata and descriptors are far smaller
  READ_LIMIT = 1 << 20,
  STRING_LIMIT = 1 << 16,  ///< bytes of a string in such memory
  NAME_LIMIT = 1 << 14,    ///< bytes of a name in an answer
  FIELD_LIMIT = 1 << 14,   ///< fields of one answer
  ARGUMENT_LIMIT = 64,     ///< generic arguments of one answer
  ANSWER_LIMIT = 16 << 20, ///< bytes of an answer
  MEMORY_LIMIT = 1 << 30,  ///< bytes that the child may use beyond what it began with
  STACK_LIMIT = 8 << 20,   ///< bytes of stack: types that contain themselves end here
  /// the first question makes the library index all names, which takes up to some seconds
  ANSWER_MILLISECONDS = 20000,
  CHILD_SOCKET = 3,
};

// ---------------------------------------------------------------------------------------------------------------------
// Memory, as the library asks for it.

static const struct lt_mirror_region *region_of(const struct lt_mirror_memory *memory, uint64_t address) {
  size_t low = 0, high = memory->regionCount;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memory->regions[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return NULL;
  const struct lt_mirror_region *region = &memory->regions[low - 1];
  return address - region->address < region->size ? region : NULL;
}

static const void *read_bytes(void *context, uint64_t address, uint64_t size, void **token) {
  const struct lt_mirror_memory *memory = context;
  *token = NULL;
  const void *made = mirror_probe_bytes(address, size);
  if (made) return made;
  const struct lt_mirror_region *region = region_of(memory, address);
  if (region && size <= region->size - (address - region->address))
    return (const char *)region->bytes + (address - region->address);
  if (size > READ_LIMIT) return NULL;
  // The library reads structures where they lie, and one word further than some of them are.
  void *bytes = calloc(1, size + 16);
  if (!bytes) return NULL;
  if (size > 0 && !memory->read(memory->context, address, bytes, size)) {
    free(bytes);
    return NULL;
  }
  *token = bytes;
  return bytes;
}

static void free_bytes(void *context, const void *bytes, void *token) {
  (void)context;
  (void)bytes;
  free(token);
}

static uint64_t string_length(void *context, uint64_t address) {
  const struct lt_mirror_memory *memory = context;
  const struct lt_mirror_region *region = region_of(memory, address);
  if (region) {
    const char *start = (const char *)region->bytes + (address - region->address);
    uint64_t limit = region->size - (address - region->address);
    const char *end = memchr(start, 0, limit);
    return end ? (uint64_t)(end - start) : 0;
  }
  // In small aligned pieces, so as not to run past the end of known memory.
  char piece[64];
  for (uint64_t length = 0; length < STRING_LIMIT;) {
    uint64_t count = sizeof piece - (address + length) % sizeof piece;
    if (!memory->read(memory->context, address + length, piece, count)) return 0;
    const char *end = memchr(piece, 0, count);
    if (end) return length + (uint64_t)(end - piece);
    length += count;
  }
  return 0;
}

static uint64_t symbol_address(void *context, const char *name, uint64_t length) {
  (void)context;
  (void)name;
  (void)length;
  return 0;
}

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

struct question {
  uint64_t subject;
  uint32_t about;
  uint32_t reserved;
};

struct message {
  char *bytes;
  size_t size, capacity;
};

static void append(struct message *message, const void *bytes, size_t size) {
  if (message->size + size > message->capacity) {
    size_t capacity = message->capacity ? message->capacity : 4096;
    while (capacity < message->size + size) capacity *= 2;
    char *grown = capacity <= ANSWER_LIMIT ? realloc(message->bytes, capacity) : NULL;
    if (!grown) _exit(1);
    message->bytes = grown;
    message->capacity = capacity;
  }
  if (size > 0) memcpy(message->bytes + message->size, bytes, size);
  message->size += size;
}

// ---------------------------------------------------------------------------------------------------------------------
// Answers.

struct mirror {
  const struct lt_mirror_library *functions;
  void *context;
};

static struct mirror_child_info field_at(struct mirror mirror, const struct question *question, uint64_t type,
                                         unsigned index) {
  switch (question->about) {
    case LT_MIRROR_OF_METADATA: return mirror.functions->childOfMetadata(mirror.context, question->subject, index);
    case LT_MIRROR_OF_INSTANCE: return mirror.functions->childOfInstance(mirror.context, question->subject, index);
    default: return mirror.functions->childOfType(mirror.context, type, index);
  }
}

static bool has_fields(int kind) {
  switch (kind) {
    case LT_MIRROR_TUPLE:
    case LT_MIRROR_STRUCT:
    case LT_MIRROR_NO_PAYLOAD_ENUM:
    case LT_MIRROR_SINGLE_PAYLOAD_ENUM:
    case LT_MIRROR_MULTI_PAYLOAD_ENUM:
    case LT_MIRROR_THICK_FUNCTION:
    case LT_MIRROR_OPAQUE_EXISTENTIAL:
    case LT_MIRROR_CLASS_EXISTENTIAL:
    case LT_MIRROR_ERROR_EXISTENTIAL:
    case LT_MIRROR_EXISTENTIAL_METATYPE:
    case LT_MIRROR_CLASS_INSTANCE:
    case LT_MIRROR_CLOSURE_CONTEXT: return true;
    default: return false;
  }
}

static void append_field(struct message *message, struct mirror mirror, const struct mirror_child_info *info) {
  char *typeName = info->type ? mirror.functions->copyName(mirror.context, info->type) : NULL;
  struct lt_mirror_field field = {
      .offset = info->offset,
      .kind = (uint32_t)info->kind,
      .type = info->type,
      .nameSize = info->name ? (uint32_t)strnlen(info->name, NAME_LIMIT) : 0,
      .typeNameSize = typeName ? (uint32_t)strnlen(typeName, NAME_LIMIT) : 0,
  };
  append(message, &field, sizeof field);
  append(message, info->name, field.nameSize);
  append(message, typeName, field.typeNameSize);
  free(typeName);
}

static void answer_cases(struct message *message, struct mirror mirror, uint64_t type) {
  struct mirror_cases cases;
  mirror_find_cases(mirror.functions, mirror.context, type, &cases);
  append(message, &cases.head, sizeof cases.head);
  append(message, cases.bits, cases.head.bitCount * sizeof *cases.bits);
  append(message, cases.table, cases.head.tableCount * sizeof *cases.table);
}

static void answer(struct message *message, struct mirror mirror, const struct question *question) {
  const struct lt_mirror_library *functions = mirror.functions;
  struct mirror_type_info info = {0};
  uint64_t type = 0;
  switch (question->about) {
    case LT_MIRROR_OF_METADATA:
      type = functions->typeForMetadata(mirror.context, question->subject);
      info = functions->infoForMetadata(mirror.context, question->subject);
      break;
    case LT_MIRROR_OF_INSTANCE: info = functions->infoForInstance(mirror.context, question->subject); break;
    case LT_MIRROR_OF_TYPE:
      type = question->subject;
      info = functions->infoForType(mirror.context, type);
      break;
    case LT_MIRROR_OF_VALUE_METADATA:
      type = functions->typeForMetadata(mirror.context, question->subject);
      if (type) info = functions->infoForType(mirror.context, type);
      break;
    default: _exit(1);
  }
  unsigned fieldCount = has_fields(info.kind) ? info.fieldCount : 0;
  if (fieldCount > FIELD_LIMIT) _exit(1);
  unsigned argumentCount = type ? functions->argumentCount(type) : 0;
  if (argumentCount > ARGUMENT_LIMIT) argumentCount = ARGUMENT_LIMIT;
  char *name = type ? functions->copyName(mirror.context, type) : NULL;
  struct lt_mirror_answer head = {
      .kind = (uint32_t)info.kind,
      .size = info.size,
      .alignment = info.alignment,
      .stride = info.stride,
      .type = type,
      .nameSize = name ? (uint32_t)strnlen(name, NAME_LIMIT) : 0,
      .argumentCount = argumentCount,
      .fieldCount = fieldCount,
  };
  append(message, &head, sizeof head);
  append(message, name, head.nameSize);
  free(name);
  for (unsigned i = 0; i < argumentCount; i++) {
    uint64_t argument = functions->argument(type, i);
    append(message, &argument, sizeof argument);
  }
  for (unsigned i = 0; i < fieldCount; i++) {
    struct mirror_child_info field = field_at(mirror, question, type, i);
    append_field(message, mirror, &field);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The child.

static void limit_child(void) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct rlimit stack = {STACK_LIMIT, STACK_LIMIT};
  setrlimit(RLIMIT_STACK, &stack);
  // The parent may be large; only the child's own growth counts.
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
  // A reader that waits for the end of the parent's pipe must not wait for the child too.
  if (syscall(SYS_close_range, CHILD_SOCKET + 1, ~0u, 0) != 0) {
    struct rlimit files = {1024, 1024};
    getrlimit(RLIMIT_NOFILE, &files);
    for (int file = CHILD_SOCKET + 1; file < (int)files.rlim_cur && file < 1 << 20; file++) close(file);
  }
  int null = open("/dev/null", O_RDWR);
  for (int file = 0; file < CHILD_SOCKET; file++) null >= 0 ? dup2(null, file) : close(file);
  if (null > CHILD_SOCKET) close(null);
}

static _Noreturn void run_child(int socket, const struct lt_mirror_library *library,
                                const struct lt_mirror_memory *memory, const uint64_t *images, size_t imageCount) {
  detach_child(socket);
  limit_child();
  struct mirror mirror = {
      library, library->create((void *)memory, sizeof(void *), free_bytes, read_bytes, string_length, symbol_address)};
  if (!mirror.context) _exit(1);
  for (size_t i = 0; i < imageCount; i++) library->addImage(mirror.context, images[i]);
  struct question question;
  struct message message = {0};
  while (read_all(CHILD_SOCKET, &question, sizeof question)) {
    uint32_t size = 0;
    message.size = 0;
    append(&message, &size, sizeof size);
    if (question.about == LT_MIRROR_CASES_OF_TYPE) answer_cases(&message, mirror, question.subject);
    else answer(&message, mirror, &question);
    size = (uint32_t)(message.size - sizeof size);
    memcpy(message.bytes, &size, sizeof size);
    if (!send_all(CHILD_SOCKET, message.bytes, message.size)) break;
  }
  _exit(0);
}

// ---------------------------------------------------------------------------------------------------------------------
// The parent.

int lt_mirror_start(struct lt_mirror_process *child, const struct lt_mirror_library *library,
                    const struct lt_mirror_memory *memory, const uint64_t *images, size_t imageCount) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  pid_t process = fork();
  if (process < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return error;
  }
  if (process == 0) run_child(ends[1], library, memory, images, imageCount);
  close(ends[1]);
  child->process = process;
  child->socket = ends[0];
  return 0;
}

void lt_mirror_stop(struct lt_mirror_process *child) {
  if (child->process == 0) return;
  kill(child->process, SIGKILL);
  while (waitpid(child->process, NULL, 0) < 0 && errno == EINTR) {}
  close(child->socket);
  *child = (struct lt_mirror_process){0};
}

static bool await_answer(int socket) {
  struct pollfd poll_for = {.fd = socket, .events = POLLIN};
  int count;
  do count = poll(&poll_for, 1, ANSWER_MILLISECONDS);
  while (count < 0 && errno == EINTR);
  return count > 0;
}

int lt_mirror_ask(struct lt_mirror_process *child, uint32_t about, uint64_t subject, void **answer, size_t *size) {
  *answer = NULL;
  *size = 0;
  struct question question = {.subject = subject, .about = about};
  uint32_t length;
  if (child->process != 0 && send_all(child->socket, &question, sizeof question) && await_answer(child->socket) &&
      read_all(child->socket, &length, sizeof length) && length <= ANSWER_LIMIT) {
    char *bytes = malloc(length ? length : 1);
    if (bytes && read_all(child->socket, bytes, length)) {
      *answer = bytes;
      *size = length;
      return 0;
    }
    free(bytes);
  }
  lt_mirror_stop(child);
  return ECHILD;
}
