// Starts guardians. A guardian is a process that traces another process for its owner, and that outlives the owner if
// needed.

#ifndef LEAKTRACE_GUARDIAN_H
#define LEAKTRACE_GUARDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// The guardian's descriptors; it has no others.
enum { LT_GUARDIAN_CONTROL = 0, LT_GUARDIAN_ANSWER = 1, LT_GUARDIAN_PARENT = 2, LT_GUARDIAN_DESCRIPTORS = 3 };

/// A guardian, as its owner sees it.
struct lt_guardian {
  pid_t process;
  int control, answer;
};

/// Checks whether a process may be traced, before it is changed in any way. Returns 0, one of lt_copy_error or −errno.
/// Sets `tracer` to the process that traces it, or to 0. The kernel checks again when the process is stopped.
int lt_check_traceable(pid_t process, pid_t *tracer);

/// Returns zeroed memory that a guardian can share with its owner; NULL with `errno` set if there is none.
void *lt_guardian_exchange(size_t size);

/// Starts a guardian, which has its own session and only the three descriptors. It calls `live` with the exchange;
/// `live` must not return. Returns 0 or −errno.
int lt_guardian_start(struct lt_guardian *guardian, void (*live)(void *exchange), void *exchange);

/// Waits for the guardian's next answer. Returns false if the guardian has ended.
bool lt_guardian_await(const struct lt_guardian *guardian, int *result);

/// Closes the connection to the guardian, and waits until the guardian has ended.
void lt_guardian_forget(struct lt_guardian *guardian);

/// Returns why the kernel did not allow tracing a process. The result is LT_COPY_TRACED or LT_COPY_NOT_ALLOWED. With
/// LT_COPY_TRACED, `tracer` is set to the process that traces it.
int lt_reason_of_refusal(pid_t process, pid_t *tracer);

#endif
