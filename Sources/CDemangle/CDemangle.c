// Offers the demanglers as the service of a child process. The demanglers take no locks, so they may be called after a
// fork.

#define _GNU_SOURCE
#include "CDemangle.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// libswiftCore and libstdc++ export these functions, but have no header for them.
char *swift_demangle(const char *name, size_t length, char *output, size_t *outputSize, uint32_t flags);
char *__cxa_demangle(const char *name, char *output, size_t *outputSize, int *status);

enum {
  MEMORY_LIMIT = 256 << 20,   ///< bytes
  ANSWER_MILLISECONDS = 3000, ///< a real name takes several microseconds
};

char *lt_demangle(const char *name, size_t length) {
  if (length >= 2 && name[0] == '_' && (name[1] == 'Z' || (length > 4 && !memcmp(name, "___Z", 4)))) {
    char *terminated = strndup(name, length);
    if (!terminated) return NULL;
    int status = 0;
    char *result = __cxa_demangle(terminated, NULL, NULL, &status);
    free(terminated);
    return result;
  }
  return swift_demangle(name, length, NULL, NULL, 0);
}

/// Answers with the demangled name. There is no answer if the demangled name is too long.
static bool answer(void *context, const char *name, size_t length, struct lt_child_answer *answer) {
  (void)context;
  char *result = lt_demangle(name, length);
  size_t size = result ? strlen(result) : 0;
  bool answered = result && size <= LT_DEMANGLER_NAME_LIMIT;
  if (answered) lt_child_append(answer, result, size);
  free(result);
  return answered;
}

int lt_demangler_start(struct lt_child *child) {
  static const struct lt_child_service service = {
      .questionLimit = LT_DEMANGLER_NAME_LIMIT,
      .answerLimit = LT_DEMANGLER_NAME_LIMIT,
      .memoryLimit = MEMORY_LIMIT,
      .answerMilliseconds = ANSWER_MILLISECONDS,
      .answer = answer,
  };
  return lt_child_start(child, &service, NULL);
}
