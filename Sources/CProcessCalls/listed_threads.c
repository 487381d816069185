// Lists the threads of another process, and reads their states from the kernel's files. Uses no allocator.

#define _GNU_SOURCE
#include "listed_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  PATH_SIZE = 64,
  STANDING_SIZE = 128, // enough for the number, a name of 15 bytes, and the state
  STATUS_SIZE = 4096,
  CALL_SIZE = 32,
  MAX_NAMESPACES = 33, // MAX_PID_NS_LEVEL, and the first namespace
};

struct listed_entry { // getdents64(2)
  uint64_t inode;
  int64_t next;
  uint16_t length;
  uint8_t type;
  char name[];
};

int lt_listed_threads_open(struct lt_listed_threads *list, pid_t process) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "/proc/%d/task", process);
  list->error = 0;
  list->size = list->offset = 0;
  list->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (list->folder >= 0) return 0;
  return errno == ENOENT || errno == ESRCH ? LT_COPY_GONE : -errno;
}

void lt_listed_threads_rewind(struct lt_listed_threads *list) {
  list->size = list->offset = 0;
  if (lseek(list->folder, 0, SEEK_SET) != 0) list->error = LT_COPY_GONE;
}

pid_t lt_listed_threads_next(struct lt_listed_threads *list) {
  while (list->error == 0) {
    if (list->offset >= list->size) {
      list->offset = 0;
      list->size = syscall(SYS_getdents64, list->folder, list->listing, sizeof list->listing);
      if (list->size < 0) list->error = errno == ENOENT || errno == ESRCH ? LT_COPY_GONE : -errno;
      if (list->size <= 0) return 0;
    }
    const struct listed_entry *entry = (const struct listed_entry *)(list->listing + list->offset);
    list->offset += entry->length;
    pid_t thread = (pid_t)strtol(entry->name, NULL, 10);
    if (thread > 0) return thread;
  }
  return 0;
}

void lt_listed_threads_close(struct lt_listed_threads *list) { close(list->folder); }

/// Reads the beginning of a file as text. Returns its length; 0 if it cannot be read.
static size_t read_text(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return length > 0 ? (size_t)length : 0;
}

char lt_thread_state_letter(pid_t process, pid_t thread, char *name) {
  char path[PATH_SIZE], text[STANDING_SIZE];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
  if (read_text(path, text, sizeof text) == 0) return 0;
  // The name is in parentheses, and may itself contain parentheses.
  const char *begin = strchr(text, '('), *end = strrchr(text, ')');
  if (begin == NULL || end == NULL || end[1] != ' ') return 0;
  if (name) {
    size_t length = (size_t)(end - begin - 1);
    if (length >= LT_THREAD_NAME_SIZE) length = LT_THREAD_NAME_SIZE - 1;
    memcpy(name, begin + 1, length);
    name[length] = 0;
  }
  return end[2] == 'Z' || end[2] == 'X' ? 0 : end[2];
}

/// Reads the numbers of a process in the PID namespaces, from the caller's namespace inwards. Returns how many there
/// are.
static size_t numbers_of(pid_t process, pid_t *numbers, size_t most) {
  char path[PATH_SIZE], text[STATUS_SIZE];
  static const char line[] = "\nNSpid:";
  snprintf(path, sizeof path, "/proc/%d/status", process);
  if (read_text(path, text, sizeof text) == 0) return 0;
  const char *at = strstr(text, line);
  size_t count = 0;
  for (at = at ? at + sizeof line - 1 : NULL; at && *at == '\t' && count < most;) {
    char *end;
    numbers[count++] = (pid_t)strtol(at, &end, 10);
    at = end;
  }
  return count;
}

pid_t lt_number_in_parent(pid_t parent, pid_t child) {
  pid_t numbers[MAX_NAMESPACES];
  size_t depth = numbers_of(parent, numbers, MAX_NAMESPACES);
  size_t count = numbers_of(child, numbers, MAX_NAMESPACES);
  return depth > 0 && depth <= count ? numbers[depth - 1] : 0;
}

uint64_t lt_resident_bytes(pid_t process) {
  char path[PATH_SIZE], text[CALL_SIZE], *end;
  snprintf(path, sizeof path, "/proc/%d/statm", process);
  if (read_text(path, text, sizeof text) == 0) return 0;
  strtoull(text, &end, 10); // skip the number of mapped pages
  return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool lt_thread_is_filtered(pid_t thread) {
  char path[PATH_SIZE], text[STATUS_SIZE] = "";
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  static const char line[] = "\nSeccomp:\t";
  size_t length = read_text(path, text, sizeof text);
  const char *mode = strstr(text, line);
  // A kernel without filters has no such line. In a process with hundreds of groups, the line may come after the text
  // that was read. Then the answer is unknown.
  if (length == 0 || mode == NULL) return length == 0 || length == sizeof text - 1;
  return mode[sizeof line - 1] != '0';
}

long lt_thread_sleeping_call(pid_t thread) {
  char path[PATH_SIZE], text[CALL_SIZE], *end;
  snprintf(path, sizeof path, "/proc/%d/syscall", thread);
  if (read_text(path, text, sizeof text) == 0) return -1;
  long call = strtol(text, &end, 10);
  return end != text ? call : -1; // "running"
}
