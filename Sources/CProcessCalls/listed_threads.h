// Lists the threads of another process, and reads their states from the kernel's files.

#ifndef LEAKTRACE_LISTED_THREADS_H
#define LEAKTRACE_LISTED_THREADS_H

#include "process_copy.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { LT_LISTED_THREADS_SIZE = 16384 };

/// The state of reading a list of threads. Uses no allocator.
struct lt_listed_threads {
  int folder;
  int error; ///< LT_COPY_GONE or −errno after an error; otherwise 0
  long size, offset;
  _Alignas(8) char listing[LT_LISTED_THREADS_SIZE];
};

/// Opens the list of a process's threads. Returns 0, LT_COPY_GONE or −errno. If it returns 0, call
/// lt_listed_threads_close later.
int lt_listed_threads_open(struct lt_listed_threads *list, pid_t process);

/// Starts again at the beginning of the list.
void lt_listed_threads_rewind(struct lt_listed_threads *list);

/// Returns the next thread, oldest first. Returns 0 at the end, and if `error` is set.
pid_t lt_listed_threads_next(struct lt_listed_threads *list);

void lt_listed_threads_close(struct lt_listed_threads *list);

/// Returns the state of a thread as a letter of proc(5). R: runs or waits for a processor. S: sleeps. D: sleeps and
/// cannot be interrupted by a signal. T: is stopped. Returns 0 if the thread has ended. `name` has LT_THREAD_NAME_SIZE
/// bytes, or is NULL.
char lt_thread_state_letter(pid_t process, pid_t thread, char *name);

/// Returns the number of a child process in its parent's PID namespace, which may differ from the caller's namespace.
/// Returns 0 if the number is unknown.
pid_t lt_number_in_parent(pid_t parent, pid_t child);

/// Returns the resident bytes of a process's memory; 0 if they are unknown.
uint64_t lt_resident_bytes(pid_t process);

/// True if a seccomp filter limits the system calls of this thread, or if that is unknown.
bool lt_thread_is_filtered(pid_t thread);

/// Returns the number of the system call where a thread sleeps. Returns −1 if the thread does not sleep, or if the call
/// is unknown.
long lt_thread_sleeping_call(pid_t thread);

#endif
