// A process that traces another for this one, and outlives it where that is needed.

#ifndef LEAKTRACE_GUARDIAN_H
#define LEAKTRACE_GUARDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// Descriptors of the guardian; it has no others.
enum { LT_GUARDIAN_CONTROL = 0, LT_GUARDIAN_ANSWER = 1, LT_GUARDIAN_PARENT = 2, LT_GUARDIAN_DESCRIPTORS = 3 };

/// Its owner's side.
struct lt_guardian {
  pid_t process;
  int control, answer;
};

/// Looks at a process before anything is touched: one of lt_copy_error, or −errno. The kernel looks again when it is
/// stopped.
int lt_look_at_process(pid_t process, pid_t *tracer);

/// Memory that a guardian shares with its owner, of zeros. NULL with `errno` set.
void *lt_guardian_exchange(size_t size);

/// Starts a guardian, which is in a session of its own and has the three descriptors. `live` gets the exchange, and
/// does not return. 0 or −errno.
int lt_guardian_start(struct lt_guardian *guardian, void (*live)(void *exchange), void *exchange);

/// Waits for its next answer. False if it has ended.
bool lt_guardian_await(const struct lt_guardian *guardian, int *result);

/// Waits for its end.
void lt_guardian_forget(struct lt_guardian *guardian);

/// The process that traces another, for LT_COPY_TRACED, or LT_COPY_NOT_ALLOWED.
int lt_reason_of_refusal(pid_t process, pid_t *tracer);

#endif
