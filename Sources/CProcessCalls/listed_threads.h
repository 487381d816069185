// The threads of another process, as the kernel's files tell of them.

#ifndef LEAKTRACE_LISTED_THREADS_H
#define LEAKTRACE_LISTED_THREADS_H

#include "process_copy.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LT_LISTED_THREADS_SIZE = 16384 };

/// A reading of the list. No memory is taken from an allocator.
struct lt_listed_threads {
  int folder;
  int error; ///< LT_COPY_GONE or −errno, once there is one
  long size, offset;
  _Alignas(8) char listing[LT_LISTED_THREADS_SIZE];
};

/// 0, LT_COPY_GONE or −errno. The list is closed by lt_listed_threads_close after 0.
int lt_listed_threads_open(struct lt_listed_threads *list, pid_t process);

/// Reads it from its beginning again.
void lt_listed_threads_rewind(struct lt_listed_threads *list);

/// The next thread, oldest first. 0 at the end, and when `error` is set.
pid_t lt_listed_threads_next(struct lt_listed_threads *list);

void lt_listed_threads_close(struct lt_listed_threads *list);

/// The state of a thread by proc(5)'s letter: R runs or waits for a processor, S sleeps, D sleeps where no signal
/// reaches it, T is stopped. 0 if it has ended. `name`, of LT_THREAD_NAME_SIZE bytes, may be NULL.
char lt_thread_standing(pid_t process, pid_t thread, char *name);

/// The number of a child as its parent knows it, whose namespace may be another than the caller's. 0 if it cannot be
/// told.
pid_t lt_number_in_parent(pid_t parent, pid_t child);

/// Bytes of a process's memory that are resident. 0 if that cannot be told.
uint64_t lt_resident_bytes(pid_t process);

/// True if a filter limits the system calls of this one thread, or if that cannot be told.
bool lt_thread_is_filtered(pid_t thread);

/// The number of the system call in which a thread sleeps; −1 if it does not, or if that cannot be told.
long lt_thread_sleeping_call(pid_t thread);

#endif
