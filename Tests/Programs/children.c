// Starts child processes in the way that is asked for, allocating in parent and child, and prints what became of them.
// Usage: children fork|fork-exec|vfork|vfork-fails|spawn|spawn-clean|system|popen|many-forks|fork-threads|grandchildren
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *echo[] = {"echo", "from the child", NULL};

static void allocate(int count) {
  for (int i = 0; i < count; i++) free(malloc(64 + (size_t)i % 100));
}

static void await(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) perror("waitpid");
  printf("child ended with status %x\n", (unsigned)status);
}

// Threads that allocate while another forks: a fixed amount for each fork, however long it takes. Otherwise the number
// of events would depend on how busy the machine is.
enum { FORKS = 30, BLOCKS_PER_FORK = 1000 };
static atomic_int announced, begun; // forks; turns of threads
static void *allocateBesideForks(void *unused) {
  for (int seen = 0; seen < FORKS;) {
    if (announced == seen) {
      usleep(100);
      continue;
    }
    seen = announced;
    begun++;
    allocate(BLOCKS_PER_FORK);
  }
  return unused;
}
/// Announces a fork, and returns when a thread allocates, or has just done so.
static void awaitAllocations(void) {
  int before = begun;
  announced++;
  while (begun == before) usleep(10);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const char *way = argv[1];
  allocate(1000);
  void *block = malloc(500);
  fflush(stdout);
  pid_t child = -1;
  if (strcmp(way, "fork") == 0) {
    child = fork();
    if (child == 0) {
      allocate(1000);
      free(block); // of the parent's, as the child knows it
      printf("in the child\n");
      exit(3);
    }
  } else if (strcmp(way, "fork-exec") == 0) {
    child = fork();
    if (child == 0) {
      allocate(10);
      execv("/bin/echo", echo);
      _exit(4);
    }
  } else if (strcmp(way, "vfork") == 0) {
    child = vfork();
    if (child == 0) {
      execv("/bin/echo", echo);
      _exit(5);
    }
  } else if (strcmp(way, "vfork-fails") == 0) {
    child = vfork();
    if (child == 0) {
      execv("/nonexistent/program", echo);
      _exit(6);
    }
  } else if (strcmp(way, "spawn") == 0) {
    if (posix_spawn(&child, "/bin/echo", NULL, NULL, echo, environ) != 0) return 7;
  } else if (strcmp(way, "spawn-clean") == 0) {
    // The child gets none of this process's variables.
    char *clean[] = {"LANG=C", NULL};
    if (posix_spawn(&child, "/bin/echo", NULL, NULL, echo, clean) != 0) return 7;
  } else if (strcmp(way, "system") == 0) {
    printf("system: %x\n", (unsigned)system("echo from the shell; exit 8"));
  } else if (strcmp(way, "popen") == 0) {
    FILE *pipe = popen("echo through the pipe", "r");
    char line[100] = "";
    if (fgets(line, sizeof line, pipe) == NULL) return 9;
    printf("read: %s", line);
    printf("pclose: %x\n", (unsigned)pclose(pipe));
  } else if (strcmp(way, "many-forks") == 0) {
    for (int i = 0; i < 50; i++) {
      pid_t one = fork();
      if (one == 0) {
        allocate(i + 1);
        _exit(i);
      }
      await(one);
    }
  } else if (strcmp(way, "fork-threads") == 0) {
    // The child has only the thread that forked; the others' locks must not be left held.
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, allocateBesideForks, NULL);
    for (int i = 0; i < FORKS; i++) {
      awaitAllocations();
      pid_t one = fork();
      if (one == 0) {
        allocate(100);
        _exit(i);
      }
      await(one);
    }
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  } else if (strcmp(way, "grandchildren") == 0) {
    child = fork();
    if (child == 0) {
      pid_t grandchild = fork();
      if (grandchild == 0) execv("/bin/echo", echo);
      await(grandchild);
      exit(0);
    }
  } else {
    return 2;
  }
  if (child > 0) await(child);
  free(block);
  printf("done\n");
  return 0;
}
