// Situations of a guest, by name: each program of this kind is run as `PROGRAM NAME`, and lists its situations with
// `--list`.

#ifndef SITUATIONS_H
#define SITUATIONS_H

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Headers of 2020 do not have it.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

struct situation {
  const char *name, *text;
  int (*run)(void);
};

/// Defines a situation; the body returns the exit status.
#define SITUATION(name, text)                                                                                       \
  static int name(void);                                                                                            \
  static const struct situation name##_entry = {#name, text, name};                                                 \
  static const struct situation *const name##_pointer __attribute__((used, section("situations"))) = &name##_entry; \
  static int name(void)

extern const struct situation *const __start_situations[], *const __stop_situations[];

static inline void fail(int line, const char *text) {
  dprintf(2, "line %d: %s: %m\n", line, text);
  _exit(99);
}
/// Says which call failed, and ends.
#define MUST(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

/// Calls the allocator.
static inline void allocate(int count) {
  for (int i = 0; i < count; i++) free(malloc(16 + (size_t)i % 300));
}
/// As a thread's function.
static inline void *allocate_some(void *unused) {
  for (int i = 0; i < 500; i++) {
    void *block = malloc(100);
    if (!block) return (void *)1;
    free(block);
  }
  return unused;
}
/// Allocates until the flag is set.
static inline void *churn(void *flag) {
  while (!*(volatile int *)flag) allocate(10);
  return NULL;
}
/// Takes a heap image where the process is recorded: its number, or −errno.
static inline int snapshot(void) {
  int (*take)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "leaktrace_snapshot");
  return take ? take("asked by the program") : 0;
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
/// True until SITUATION_SECONDS have passed since the first call. Without that variable, a situation runs once.
static inline bool goes_on(void) {
  static double begin;
  const char *seconds = getenv("SITUATION_SECONDS");
  if (begin == 0) begin = seconds_now();
  return seconds && seconds_now() - begin < atof(seconds);
}
static inline void nap(long milliseconds) {
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {}
}
/// Takes heap images while the situation goes on.
static inline int take_images(void) {
  do {
    snapshot();
    allocate(1000);
    nap(20);
  } while (goes_on());
  return 0;
}
/// Asks the visitor to inspect or record this process instead of the program's first one.
static inline void visit(pid_t process) {
  FILE *file = fopen("visit.new", "we");
  MUST(file && fprintf(file, "%d", (int)process) > 0 && fclose(file) == 0 && rename("visit.new", "visit") == 0);
}

static inline void say_end(const char *text, int status) {
  if (WIFEXITED(status)) dprintf(1, "%s ended with %d\n", text, WEXITSTATUS(status));
  else dprintf(1, "%s ended by signal %d\n", text, WTERMSIG(status));
}
/// Waits for a child, and says how it ended.
static inline int await(const char *text, pid_t child) {
  int status = 0;
  MUST(child > 0 && waitpid(child, &status, 0) == child);
  say_end(text, status);
  return status;
}

#ifndef SITUATIONS_UNREPORTED
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

/// Writes the resources that the process holds at its end to the file that SITUATION_REPORT names: descriptors,
/// children, mapped files, and its address space.
static inline void report(const char *path) {
  FILE *to = fopen(path, "we");
  if (!to) return;
  DIR *directory = opendir("/proc/self/fd");
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    char link[64], target[PATH_MAX];
    if (*entry->d_name == '.' || atoi(entry->d_name) == dirfd(directory) || atoi(entry->d_name) == fileno(to)) continue;
    snprintf(link, sizeof link, "/proc/self/fd/%.20s", entry->d_name);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = 0;
    fprintf(to, "descriptor %s %s\n", entry->d_name, target);
  }
  if (directory) closedir(directory);
  char line[PATH_MAX + 128];
  FILE *file = fopen("/proc/self/task/self/children", "re");
  if (!file) {
    snprintf(line, sizeof line, "/proc/self/task/%d/children", (int)getpid());
    file = fopen(line, "re");
  }
  if (file && fgets(line, sizeof line, file)) fprintf(to, "children %s\n", line);
  if (file) fclose(file);
  file = fopen("/proc/self/maps", "re");
  while (file && fgets(line, sizeof line, file)) {
    char rights[8] = "", name[PATH_MAX] = "";
    unsigned long start = 0, end = 0;
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095[^\n]", &start, &end, rights, name) < 3) continue;
    fprintf(to, "mapping %s %lu %s\n", rights, (end - start) / 1024, name);
  }
  if (file) fclose(file);
  fclose(to);
}
#endif

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "--list";
  for (const struct situation *const *s = __start_situations; s < __stop_situations; s++) {
    if (strcmp(name, "--list") == 0) printf("%s\t%s\n", (*s)->name, (*s)->text);
    else if (strcmp(name, (*s)->name) == 0) {
      int status = (*s)->run();
#ifndef SITUATIONS_UNREPORTED
      const char *path = getenv("SITUATION_REPORT");
      if (path) report(path);
#endif
      return status;
    }
  }
  return strcmp(name, "--list") == 0 ? 0 : 64;
}

#endif
