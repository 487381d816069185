// Runs the analysis for a test in another process, which is not traced.

#define _GNU_SOURCE
#include "CLeakTrace.h"

#include <stddef.h>

#if defined(__linux__) && !defined(CLEAKTRACE_NEVER)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *read_all(int descriptor) {
  size_t size = 0, capacity = 1 << 16;
  char *text = malloc(capacity);
  while (text) {
    ssize_t n = read(descriptor, text + size, capacity - size - 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    size += (size_t)n;
    if (capacity - size < 4096) {
      char *larger = realloc(text, capacity *= 2);
      if (!larger) free(text);
      text = larger;
    }
  }
  if (text) text[size] = 0;
  return text;
}

/// Returns the C library's own posix_spawn, not the recorder's.
static __typeof__(&posix_spawn) own_spawn(void) {
  void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void *found = library ? dlsym(library, "posix_spawn") : NULL;
  return found ? (__typeof__(&posix_spawn))found : posix_spawn;
}

bool cleaktrace_find_command(char *path, size_t size) {
  const char *library = cleaktrace_library_path();
  const char *slash = library ? strrchr(library, '/') : NULL;
  if (!slash) return false;
  static const char *const places[] = {"leaktrace", "../bin/leaktrace"};
  for (int i = 0; i < 2; i++) {
    int length = snprintf(path, size, "%.*s/%s", (int)(slash - library), library, places[i]);
    if (length > 0 && (size_t)length < size && access(path, X_OK) == 0) return true;
  }
  return false;
}

int cleaktrace_run(char *const arguments[], char **output) {
  *output = NULL;
  size_t count = 0, kept = 0;
  while (environ && environ[count]) count++;
  char **environment = calloc(count + 1, sizeof *environment);
  if (!environment) return -1;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "LEAKTRACE_", 10) != 0)
      environment[kept++] = environ[i];
  int ends[2], status = -1;
  if (pipe2(ends, O_CLOEXEC) != 0) {
    free(environment);
    return -1;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  pid_t process;
  int error = own_spawn()(&process, arguments[0], &actions, NULL, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  free(environment);
  if (!error) {
    *output = read_all(ends[0]);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  close(ends[0]);
  return status;
}

void cleaktrace_free(char *output) { free(output); }

#else

bool cleaktrace_find_command(char *path, size_t size) { return (void)path, (void)size, false; }
int cleaktrace_run(char *const arguments[], char **output) { return (void)arguments, *output = NULL, -1; }
void cleaktrace_free(char *output) { (void)output; }

#endif
