// Situations of a guest, by name: each program of this kind is run as `PROGRAM NAME`, and lists its situations with `--list`.

#ifndef SITUATIONS_H
#define SITUATIONS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct situation { const char *name, *text; int (*run)(void); };

/// Defines a situation; the body returns the exit status.
#define SITUATION(name, text)                                                                                              \
  static int name(void);                                                                                                   \
  static const struct situation name##_entry = {#name, text, name};                                                        \
  static const struct situation *const name##_pointer __attribute__((used, section("situations"))) = &name##_entry;        \
  static int name(void)

extern const struct situation *const __start_situations[], *const __stop_situations[];

static inline void fail(int line, const char *text) {
  dprintf(2, "line %d: %s: %m\n", line, text);
  _exit(99);
}
/// Says which call failed, and ends.
#define MUST(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "--list";
  for (const struct situation *const *s = __start_situations; s < __stop_situations; s++) {
    if (strcmp(name, "--list") == 0) printf("%s\t%s\n", (*s)->name, (*s)->text);
    else if (strcmp(name, (*s)->name) == 0) return (*s)->run();
  }
  return strcmp(name, "--list") == 0 ? 0 : 64;
}

#endif
