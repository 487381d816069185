// A child process that answers questions about data that may be damaged. Code that trusts what it reads aborts, crashes
// or runs away on such data: in a child with limits of memory, stack and time, that costs one answer.
//
// The child is a fork of the caller without another program. Between fork and its end it calls system calls, malloc,
// which glibc keeps usable in the child of a threaded process, and the functions of the service.

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

/// Everything that a child does, and may use up. Must outlive the child.
struct lt_child_service {
  uint32_t questionLimit; ///< bytes of a question; a longer one ends the child
  uint32_t answerLimit;   ///< bytes of an answer
  size_t memoryLimit;     ///< bytes of memory beyond what the child began with
  size_t stackLimit;      ///< bytes of stack; 0: the parent's limit
  int answerMilliseconds; ///< time for one answer, the first included
  /// Called in the child before the first question: returns the context of all answers, or NULL, which ends the child.
  /// `context` is that of `lt_child_start`. A NULL function: that context is taken.
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

/// Has each child that starts from now on call a function before anything else, once it has reset its signals. NULL:
/// none.
void lt_child_set_prologue(void (*prologue)(void));

/// Starts a child. 0, or an errno. The child holds no descriptor of its parent's but its end of a socket, and ends when
/// the other is closed. It sees all memory as it is now: nothing that `context` leads to needs to be kept for it.
int lt_child_start(struct lt_child *child, const struct lt_child_service *service, void *context);

/// Asks a question. 0 on success: `*answer` is for `free`, with a zero behind its `*answerSize` bytes, or NULL if there
/// is no answer. Otherwise the child could not cope, and has been ended; `lt_child_start` makes another.
int lt_child_ask(struct lt_child *child, const void *question, size_t size, void **answer, size_t *answerSize);

/// Ends the child, if there is one, and waits for it.
void lt_child_stop(struct lt_child *child);

#endif
