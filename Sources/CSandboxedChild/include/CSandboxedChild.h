// A child process that answers questions about data that may be damaged. Code that trusts its input aborts, crashes or
// runs away on such data. In a child with limits of memory, stack and time, that costs one answer.
//
// The child is a fork of the caller, and executes no other program. Between fork and its end it makes system calls, and
// calls the service's functions and malloc, which glibc keeps usable in the child of a threaded process.

#ifndef LEAKTRACE_SANDBOXED_CHILD_H
#define LEAKTRACE_SANDBOXED_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// An answer while the child puts it together.
struct lt_child_answer;

/// Adds bytes to an answer. Ends the child if the answer gets larger than the service's limit, or memory runs out.
void lt_child_append(struct lt_child_answer *answer, const void *bytes, size_t size);

/// The functions and the limits of a child. Must outlive the child.
struct lt_child_service {
  uint32_t questionLimit; ///< bytes of a question; a longer one ends the child
  uint32_t answerLimit;   ///< bytes of an answer
  size_t memoryLimit;     ///< bytes of memory beyond the child's first size
  size_t stackLimit;      ///< bytes of stack; 0: the parent's limit
  int answerMilliseconds; ///< time for one answer, the first included
  /// Called in the child before the first question. Returns the context of all answers, or NULL, which ends the child.
  /// `context` is the argument of `lt_child_start`. If the function is NULL, that argument is the context of all
  /// answers.
  void *(*begin)(void *context);
  /// Called in the child: false if there is no answer. The question has a zero behind it.
  bool (*answer)(void *context, const char *question, size_t size, struct lt_child_answer *answer);
};

/// A child process. All zero means none.
struct lt_child {
  pid_t process;
  int socket;
  const struct lt_child_service *service;
};

/// Makes each child that starts from now on call a function before anything else, once it has reset its signals. NULL:
/// none.
void lt_child_set_prologue(void (*prologue)(void));

/// Starts a child. Returns 0 or an errno. The child's only inherited descriptor is its end of a socket, and it ends
/// when the other end is closed. It has a copy of all memory as it is now, so the caller need not keep the data of
/// `context` for it.
int lt_child_start(struct lt_child *child, const struct lt_child_service *service, void *context);

/// Asks a question. 0 on success: `*answer` is for `free`, with a zero behind its `*answerSize` bytes, or NULL if there
/// is no answer. Otherwise the child could not cope, and has been ended; `lt_child_start` makes another.
int lt_child_ask(struct lt_child *child, const void *question, size_t size, void **answer, size_t *answerSize);

/// Ends the child, if there is one, and waits for it.
void lt_child_stop(struct lt_child *child);

#endif
