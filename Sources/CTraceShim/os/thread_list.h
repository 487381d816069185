// The threads of a process, as the kernel lists them. Uses only the caller's memory, and neither errno nor other
// thread-local memory.

#ifndef LEAKTRACE_THREAD_LIST_H
#define LEAKTRACE_THREAD_LIST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lt_thread_list {
  int descriptor;
  long size, at; ///< of the entries in the buffer, and the next one's offset
  _Alignas(8) char entries[4096];
};

/// Opens the list. Returns 0, or −errno; then there is nothing to close.
int lt_thread_list_open(struct lt_thread_list *list, pid_t process);
/// Returns the next thread's number; 0 after the last. Threads that begin or end during the reading may be listed or
/// not.
uint32_t lt_thread_list_next(struct lt_thread_list *list);
void lt_thread_list_close(struct lt_thread_list *list);

/// Reads the beginning of one of the kernel's files about a thread, such as "stat", as text. Returns its length, or
/// −errno.
long lt_read_thread_file(pid_t process, uint32_t thread, const char *name, char *text, size_t size);

/// Most bytes of the path of a file about a thread, such as "/proc/123/task/456/stat".
enum { LT_THREAD_PATH_SIZE = 80 };
/// Writes the path of the directory of a process's threads, and a zero after it. Returns the address of that zero.
char *lt_put_task_path(char *p, pid_t process);

#endif
