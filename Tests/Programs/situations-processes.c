// Situations of processes: children, programs that replace others, namespaces, ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "situations.h"

extern char **environ;

/// Address space in kilobytes and number of mappings.
static void measure(long *kilobytes, long *mappings) {
  char line[512];
  *mappings = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  MUST(file);
  while (fgets(line, sizeof line, file)) ++*mappings;
  fclose(file);
  file = fopen("/proc/self/statm", "r");
  MUST(file && fscanf(file, "%ld", kilobytes) == 1);
  *kilobytes *= sysconf(_SC_PAGESIZE) / 1024;
  fclose(file);
}

static void start_true_by_vfork(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", NULL);
    _exit(9);
  }
  int status;
  MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

SITUATION(vfork_exec_many, "80 children of vfork run a program each; the parent's memory stays as large as it was") {
  allocate(10);
  for (int i = 0; i < 10; i++) start_true_by_vfork();
  long before, mappingsBefore, after, mappingsAfter;
  measure(&before, &mappingsBefore);
  for (int i = 0; i < 80; i++) start_true_by_vfork();
  measure(&after, &mappingsAfter);
  printf("grew: %d\n", after - before > 1024 || mappingsAfter - mappingsBefore > 20);
  return 0;
}

static void *vfork_in_thread(void *unused) {
  for (int i = 0; i < 3; i++) start_true_by_vfork();
  return unused;
}
SITUATION(vfork_exec_threads,
          "threads that come and go run programs by vfork; the parent's memory stays as large as it was") {
  long before = 0, mappingsBefore = 0, after, mappingsAfter;
  for (int round = 0; round < 8; round++) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) MUST(pthread_create(&threads[i], NULL, vfork_in_thread, NULL) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    if (round == 1) measure(&before, &mappingsBefore);
  }
  measure(&after, &mappingsAfter);
  printf("grew: %d\n", after - before > 1500 || mappingsAfter - mappingsBefore > 30);
  return 0;
}

SITUATION(vfork_exec_fails, "a child of vfork finds no program to run") {
  for (int i = 0; i < 20; i++) {
    pid_t child = vfork();
    if (child == 0) {
      execl("/nonexistent/program", "program", NULL);
      _exit(7);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  }
  puts("all ended with 7");
  return 0;
}

SITUATION(vfork_first_allocation, "a child of vfork allocates before its parent ever did") {
  pid_t child = vfork();
  if (child == 0) {
    void *block = malloc(100);
    free(block);
    _exit(block ? 3 : 4);
  }
  await("child", child);
  allocate(1000);
  return 0;
}

SITUATION(fork_exit, "a child of fork allocates and ends by exit") {
  pid_t child = fork();
  if (child == 0) {
    allocate(1000);
    exit(3);
  }
  await("child", child);
  return 0;
}

SITUATION(fork_200, "200 children at once") {
  pid_t children[200];
  for (int i = 0; i < 200; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      allocate(i);
      _exit(i % 100);
    }
    MUST(children[i] > 0);
  }
  int sum = 0, status;
  for (int i = 0; i < 200; i++) MUST(waitpid(children[i], &status, 0) == children[i]), sum += WEXITSTATUS(status);
  printf("sum %d\n", sum);
  return 0;
}

SITUATION(fork_generations, "twelve generations of children") {
  for (int depth = 0; depth < 12; depth++) {
    allocate(50);
    pid_t child = fork();
    MUST(child >= 0);
    if (child > 0) {
      int status;
      MUST(waitpid(child, &status, 0) == child);
      _exit(depth == 0 ? (say_end("the last", status), 0) : WEXITSTATUS(status));
    }
  }
  _exit(12);
}

SITUATION(raw_fork, "a child made by the bare system call allocates") {
  allocate(100);
  long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    allocate(1000);
    _exit(5);
  }
  await("child", (pid_t)child);
  return 0;
}

static int run_clone(void *unused) {
  (void)unused;
  allocate(300);
  return 6;
}
SITUATION(clone_function, "a child made by clone with a stack of its own allocates") {
  allocate(100);
  char *stack = malloc(1 << 20);
  MUST(stack);
  await("child", clone(run_clone, stack + (1 << 20), SIGCHLD, NULL));
  free(stack);
  return 0;
}

SITUATION(fork_frees_parents, "a child frees its parent's blocks, and the parent does the same") {
  void *blocks[500];
  for (int i = 0; i < 500; i++) blocks[i] = malloc(64);
  pid_t child = fork();
  for (int i = 0; i < 500; i++) free(blocks[i]);
  if (child == 0) _exit(0);
  await("child", child);
  return 0;
}

SITUATION(fork_with_threads, "a process of four busy threads makes 50 children, which allocate") {
  volatile int stop = 0;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) MUST(pthread_create(&threads[i], NULL, churn, (void *)&stop) == 0);
  int sum = 0;
  for (int i = 0; i < 50; i++) {
    pid_t child = fork();
    if (child == 0) {
      allocate(100);
      _exit(1);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child);
    sum += WEXITSTATUS(status);
  }
  stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("sum %d\n", sum);
  return 0;
}

static int handlersRun;
static void count_handler(void) { free(malloc(40)), handlersRun++; }
SITUATION(fork_handlers, "handlers of fork allocate") {
  MUST(pthread_atfork(count_handler, count_handler, count_handler) == 0);
  pid_t child = fork();
  if (child == 0) _exit(handlersRun);
  await("child", child);
  printf("%d\n", handlersRun);
  return 0;
}

SITUATION(double_fork, "a grandchild outlives its parent and is adopted") {
  int ends[2];
  MUST(pipe(ends) == 0);
  MUST(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      char c;
      close(ends[1]);
      MUST(read(ends[0], &c, 1) == 0);
      allocate(100);
      _exit(8);
    }
    _exit(2);
  }
  close(ends[0]);
  await("child", child);
  close(ends[1]);
  int status;
  MUST(wait(&status) > 0);
  say_end("grandchild", status);
  MUST(wait(&status) == -1 && errno == ECHILD);
  return 0;
}

SITUATION(daemon_call, "the process becomes a daemon") {
  int ends[2];
  MUST(pipe(ends) == 0);
  pid_t child = fork();
  if (child == 0) {
    MUST(daemon(1, 1) == 0);
    allocate(100);
    MUST(write(ends[1], "d", 1) == 1);
    _exit(0);
  }
  close(ends[1]);
  char c = 0;
  long n = read(ends[0], &c, 1);
  printf("%ld %c\n", n, c);
  await("parent of the daemon", child);
  return 0;
}

SITUATION(posix_spawn_50, "50 programs are started by posix_spawn") {
  char *arguments[] = {"true", NULL};
  for (int i = 0; i < 50; i++) {
    pid_t child;
    int status;
    MUST(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0);
    MUST(waitpid(child, &status, 0) == child && status == 0);
  }
  return 0;
}

SITUATION(posix_spawn_missing, "posix_spawn finds no program") {
  char *arguments[] = {"x", NULL};
  pid_t child;
  printf("%d\n", posix_spawn(&child, "/nonexistent", NULL, NULL, arguments, environ));
  printf("%d\n", posix_spawnp(&child, "no-such-program-anywhere", NULL, NULL, arguments, environ));
  return 0;
}

SITUATION(system_and_popen, "a shell is started by system and popen") {
  fflush(stdout);
  printf("system %x\n", (unsigned)system("exit 3"));
  FILE *pipe = popen("echo hello; exit 4", "r");
  char line[64] = "";
  MUST(pipe && fgets(line, sizeof line, pipe));
  printf("%s", line);
  printf("pclose %x\n", (unsigned)pclose(pipe));
  return 0;
}

SITUATION(exec_self, "the program replaces itself ten times") {
  const char *text = getenv("ROUND");
  int round = text ? atoi(text) : 0;
  allocate(100);
  if (round == 10) {
    puts("ten");
    return 0;
  }
  char value[16];
  snprintf(value, sizeof value, "%d", round + 1);
  setenv("ROUND", value, 1);
  execl("/proc/self/exe", "situations-processes", "exec_self", NULL);
  return 9;
}

static void *replace_program(void *unused) {
  (void)unused;
  execl("/bin/echo", "echo", "by a thread", NULL);
  return NULL;
}
SITUATION(exec_in_thread, "a thread other than the first replaces the program") {
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, replace_program, NULL) == 0);
  pthread_join(thread, NULL);
  return 9;
}

SITUATION(exec_fails, "exec finds no program, and the process goes on") {
  for (int i = 0; i < 20; i++) {
    MUST(execl("/nonexistent", "x", NULL) == -1 && errno == ENOENT);
    MUST(execlp("no-such-program-anywhere", "x", NULL) == -1 && errno == ENOENT);
    MUST(execl("/etc/passwd", "x", NULL) == -1 && errno == EACCES);
    allocate(50);
  }
  puts("still here");
  return 0;
}

SITUATION(exec_empty_environment, "the program that follows is given no environment") {
  char *arguments[] = {"env", NULL}, *none[] = {NULL};
  execve("/usr/bin/env", arguments, none);
  return 9;
}

SITUATION(exec_environment, "the program that follows prints its environment") {
  char *arguments[] = {"env", NULL}, *some[] = {"A=1", "LD_LIBRARY_PATH=/nowhere", "B=2", NULL};
  execve("/usr/bin/env", arguments, some);
  return 9;
}

SITUATION(exec_script, "a script follows") {
  char path[] = "/tmp/situation-XXXXXX";
  int file = mkstemp(path);
  MUST(file >= 0 && dprintf(file, "#!/bin/sh\necho from the script $1\nrm -f \"$0\"\nexit 5\n") > 0 &&
       fchmodat(AT_FDCWD, path, 0700, 0) == 0);
  close(file);
  execl(path, "script", "argument", NULL);
  return 9;
}

SITUATION(fexecve_call, "a program follows that is named by a descriptor") {
  int file = open("/bin/echo", O_RDONLY | O_CLOEXEC);
  char *arguments[] = {"echo", "by descriptor", NULL};
  MUST(file >= 0);
  fexecve(file, arguments, environ);
  return 9;
}

SITUATION(exec_descriptors, "the program that follows sees the descriptors that were left open") {
  MUST(dup2(1, 57) == 57);
  execl("/bin/sh", "sh", "-c", "ls /proc/self/fd | sort -n | tr '\\n' ' '", NULL);
  return 9;
}

SITUATION(wait_any, "wait finds the program's own children and no others") {
  allocate(100);
  snapshot();
  for (int i = 0; i < 3; i++)
    if (fork() == 0) _exit(i);
  int sum = 0, status;
  for (int i = 0; i < 3; i++) MUST(wait(&status) > 0), sum += WEXITSTATUS(status);
  snapshot();
  MUST(wait(&status) == -1 && errno == ECHILD);
  printf("%d\n", sum);
  return 0;
}

SITUATION(wait_all_kinds, "wait for children of any kind finds the program's own alone") {
  allocate(100);
  snapshot();
  int status;
  long result = waitpid(-1, &status, __WALL);
  printf("%ld %d\n", result, result < 0 ? errno : 0);
  return 0;
}

SITUATION(wait_id_peek, "waitid sees no child while heap images are written") {
  allocate(100);
  for (int i = 0; i < 5; i++) {
    snapshot();
    siginfo_t information;
    MUST(waitid(P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD);
  }
  puts("none");
  return 0;
}

static volatile sig_atomic_t childSignals;
static void on_child(int number) { (void)number, childSignals++; }
SITUATION(child_signal, "SIGCHLD comes for the program's own children alone") {
  struct sigaction action = {.sa_handler = on_child};
  MUST(sigaction(SIGCHLD, &action, NULL) == 0);
  for (int i = 0; i < 5; i++) {
    snapshot();
    await("child", fork() ?: (_exit(i), 0));
  }
  printf("%d\n", childSignals);
  return 0;
}

SITUATION(child_ignored, "children are not waited for") {
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 5; i++) {
    snapshot();
    if (fork() == 0) _exit(0);
  }
  int status;
  MUST(wait(&status) == -1 && errno == ECHILD);
  puts("none left");
  return 0;
}

SITUATION(no_more_processes, "the process may start no others") {
  struct rlimit none = {0, 0};
  MUST(setuid(65534) == 0 && setrlimit(RLIMIT_NPROC, &none) == 0);
  pid_t child = fork();
  if (child == 0) _exit(0);
  printf("%d\n", child < 0 ? errno : 0);
  allocate(1000);
  snapshot();
  return 0;
}
