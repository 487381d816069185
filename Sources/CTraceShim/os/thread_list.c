#include "os/thread_list.h"

#include "check.h"
#include "os/number_text.h"
#include "os/os.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

/// An entry as getdents64 writes it (linux/fs/readdir.c, struct linux_dirent64).
struct directory_entry {
  uint64_t inode;
  int64_t next;
  uint16_t length;
  uint8_t type;
  char name[];
};

char *lt_put_task_path(char *p, pid_t process) {
  memcpy(p, "/proc/", 6);
  p = lt_put_decimal(p + 6, (uint64_t)process);
  memcpy(p, "/task", 6);
  return p + 5;
}

int lt_thread_list_open(struct lt_thread_list *list, pid_t process) {
  char path[LT_THREAD_PATH_SIZE];
  lt_put_task_path(path, process);
  LT_CHECK(strnlen(path, sizeof path) < sizeof path);
  list->descriptor = lt_open(path, O_RDONLY | O_DIRECTORY, 0);
  list->size = list->at = 0;
  return list->descriptor < 0 ? list->descriptor : 0;
}

uint32_t lt_thread_list_next(struct lt_thread_list *list) {
  for (;;) {
    LT_CHECK(list->descriptor >= 0 && list->size <= (long)sizeof list->entries);
    if (list->at >= list->size) {
      list->size = lt_syscall(SYS_getdents64, list->descriptor, list->entries, sizeof list->entries);
      list->at = 0;
      if (list->size <= 0) return 0;
    }
    const struct directory_entry *entry = (const void *)(list->entries + list->at);
    list->at += entry->length;
    uint32_t thread = 0;
    for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++) thread = thread * 10 + (uint32_t)(*c - '0');
    if (thread != 0) return thread; // not "." and ".."
  }
}

void lt_thread_list_close(struct lt_thread_list *list) { lt_close(list->descriptor); }

long lt_read_thread_file(pid_t process, uint32_t thread, const char *name, char *text, size_t size) {
  char path[LT_THREAD_PATH_SIZE], *p = lt_put_task_path(path, process);
  LT_CHECK(size > 0);
  *p++ = '/';
  p = lt_put_decimal(p, thread);
  *p++ = '/';
  memcpy(p, name, strlen(name) + 1);
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return descriptor;
  long n = lt_read(descriptor, text, size - 1);
  lt_close(descriptor);
  text[n > 0 ? n : 0] = 0;
  return n;
}
