// A child process that answers questions about data that may be damaged. With such data, code that trusts its input may
// abort, crash or never end. In a child with limits for memory, stack and time, such a failure loses only one answer.
//
// The child is a fork of the caller, and executes no other program. It makes system calls, and calls the service's
// functions and malloc. glibc keeps malloc usable in the child of a process with threads.

#ifndef LEAKTRACE_SANDBOXED_CHILD_H
#define LEAKTRACE_SANDBOXED_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// An answer that the child is composing.
struct lt_child_answer;

/// Appends bytes to an answer. Ends the child if the answer becomes larger than the service's limit, or if memory runs
/// out.
void lt_child_append(struct lt_child_answer *answer, const void *bytes, size_t size);

/// The functions and the limits of a child. Must outlive the child.
struct lt_child_service {
  uint32_t questionLimit; ///< the most bytes of a question; a longer question ends the child
  uint32_t answerLimit;   ///< the most bytes of an answer
  size_t memoryLimit;     ///< the most bytes of memory beyond the child's size at its start
  size_t stackLimit;      ///< the most bytes of stack; 0 means the parent's limit
  int answerMilliseconds; ///< the longest time for an answer, also for the first one
  /// Called in the child before the first question. Returns the context for all answers, or NULL, which ends the child.
  /// `context` is the argument of `lt_child_start`. If this function is NULL, that argument is the context for all
  /// answers.
  void *(*begin)(void *context);
  /// Called in the child for each question. Returns false if there is no answer. A zero byte follows the question.
  bool (*answer)(void *context, const char *question, size_t size, struct lt_child_answer *answer);
};

/// A child process. If all fields are zero, there is none.
struct lt_child {
  pid_t process;
  int socket;
  const struct lt_child_service *service;
};

/// Sets a function that each later child calls first, after it has reset its signals. NULL means none.
void lt_child_set_prologue(void (*prologue)(void));

/// Starts a child. Returns 0 or an errno. The child's only inherited descriptor is its end of a socket, and the child
/// ends when the other end is closed. The child has a copy of all memory, so the data of `context` is not needed after
/// the call.
int lt_child_start(struct lt_child *child, const struct lt_child_service *service, void *context);

/// Asks a question. Returns 0 if the child has replied. Then `*answer` is NULL if there is no answer. Otherwise it has
/// `*answerSize` bytes and a zero byte after them, and the caller frees it with `free`. Returns an errno if the child
/// failed and was ended; `lt_child_start` starts another child.
int lt_child_ask(struct lt_child *child, const void *question, size_t size, void **answer, size_t *answerSize);

/// Ends the child, if there is one, and waits for it.
void lt_child_stop(struct lt_child *child);

#endif
