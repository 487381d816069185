// The threads of another process, read from the kernel's files.

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

/// The number of a child in its parent's namespace, which may differ from the caller's. 0 if it is not known.
pid_t lt_number_in_parent(pid_t parent, pid_t child);

/// Resident bytes of a process's memory. 0 if they are not known.
uint64_t lt_resident_bytes(pid_t process);

/// True if a filter limits the system calls of this one thread, or if that is not known.
bool lt_thread_is_filtered(pid_t thread);

/// The number of the system call that a thread sleeps in; −1 if it does not sleep, or if the call is not known.
long lt_thread_sleeping_call(pid_t thread);

#endif
