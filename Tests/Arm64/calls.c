// Acts on the program `waits` as leaktrace acts on other processes: stops it, reads registers and stacks, copies it,
// has a thread create another one, and has threads load libraries and call functions. Afterwards `waits` must not have
// noticed anything. Prints a line for each step, and ends with 1 if a step failed.
//
// Usage: calls WAITS VISITED [RECORDER TRACE]
//   WAITS      the program
//   VISITED    the library of visited.c; its name must begin like the recorder's name
//   RECORDER   libleaktrace.so, to attach and detach; it writes TRACE

#define _GNU_SOURCE
#include "CProcessCalls.h"
#include "thread_frames.h"
#include "waits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  HOLDS = 20,
  COPIES = 20,
  VISITS = 20,
  FIRST_MILLISECONDS = 500,
  BETWEEN_MILLISECONDS = 7,
  WAIT_MILLISECONDS = 20000,
  CALL_MILLISECONDS = 20000,
  TEXT_SIZE = 4096,
};

static const char *const names[WAIT_KINDS] = {WAIT_NAMES};
static unsigned failures;

static void step(bool isRight, const char *text) {
  printf("%s: %s\n", isRight ? "right" : "WRONG", text);
  fflush(stdout);
  failures += !isRight;
}

static void pause_for(unsigned milliseconds) {
  struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  nanosleep(&time, NULL);
}

// --- the program -----------------------------------------------------------------------------------------------------

struct program {
  pid_t process;
  int input, output;
};

static bool start(struct program *program, const char *path) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) return false;
  program->process = fork();
  if (program->process == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execl(path, path, (char *)NULL);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  program->input = input[1];
  program->output = output[0];
  return program->process > 0;
}

static bool ends_undisturbed(const struct program *program) {
  char text[TEXT_SIZE] = "";
  size_t size = 0;
  close(program->input);
  for (ssize_t more; size < sizeof text - 1 && (more = read(program->output, text + size, sizeof text - 1 - size)) > 0;)
    size += (size_t)more;
  int status = 0;
  waitpid(program->process, &status, 0);
  printf("      status %x, output %s", (unsigned)status, text);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 && strcmp(text, "undisturbed\n") == 0;
}

// --- registers and stacks --------------------------------------------------------------------------------------------

/// Observations of the threads with one kind of wait.
struct kind {
  struct lt_remote_function function;
  unsigned stacks, whole, inCall, computing;
};

static bool find_functions(const struct lt_remote_images *images, struct kind *kinds) {
  for (size_t i = 0; i < WAIT_KINDS; i++) {
    char name[TEXT_SIZE];
    snprintf(name, sizeof name, "wait_%s", names[i]);
    bool isFound = false;
    for (size_t k = 0; k < images->count && !isFound; k++)
      isFound =
          images->images[k].isExecutable && lt_remote_function(images, &images->images[k], name, &kinds[i].function);
    if (!isFound) return false;
  }
  return true;
}

static void note_thread(struct lt_unwinding *unwinding, const struct lt_copied_thread *thread, struct kind *kinds) {
  static struct lt_thread_frames frames;
  lt_thread_frames(unwinding, thread, &frames);
  for (size_t i = 0; i < frames.count; i++) {
    for (size_t k = 0; k < WAIT_KINDS; k++) {
      struct kind *kind = &kinds[k];
      if (frames.addresses[i] < kind->function.start || frames.addresses[i] >= kind->function.end) continue;
      kind->stacks++;
      kind->whole += frames.isComplete;
      kind->inCall += thread->state == LT_THREAD_IN_CALL;
      kind->computing += thread->state == LT_THREAD_COMPUTING;
      return;
    }
  }
}

/// Stops the program repeatedly. Recognises each kind of wait by the frames of its thread.
static void hold(pid_t process) {
  static struct kind kinds[WAIT_KINDS];
  struct lt_remote_images images;
  bool isRead = lt_remote_images_read(process, &images) && find_functions(&images, kinds);
  step(isRead, "the program's functions are found in its memory");
  struct lt_unwinding *unwinding = lt_unwinding_begin(&images);
  unsigned held = 0, unmet = 0, resumed = 0;
  for (unsigned i = 0; isRead && i < HOLDS; i++) {
    struct lt_process_copy copy;
    struct lt_copy_options options = {.mode = LT_COPY_MODE_HOLD};
    int result = lt_process_copy_begin(process, &options, &copy);
    if (result != 0) {
      printf("      hold: %d\n", result);
      continue;
    }
    held++;
    lt_unwinding_forget(unwinding);
    for (size_t k = 0; k < copy.threadCount; k++) {
      if (copy.threads[k].state == LT_THREAD_NOT_MET) unmet++;
      else note_thread(unwinding, &copy.threads[k], kinds);
    }
    resumed += lt_process_copy_end(&copy) == 0;
    pause_for(BETWEEN_MILLISECONDS);
  }
  printf("      %u held, %u resumed, %u threads not met\n", held, resumed, unmet);
  step(held == HOLDS && resumed == HOLDS, "the program is held and resumed");
  for (size_t k = 0; k < WAIT_KINDS; k++) {
    const struct kind *kind = &kinds[k];
    printf("      %-12s %2u stacks, %2u whole, %2u in a call, %2u computing\n", names[k], kind->stacks, kind->whole,
           kind->inCall, kind->computing);
    bool computes = k == WAIT_COMPUTE || k == WAIT_REGISTERS;
    bool isUnwound = kind->stacks >= HOLDS / 2 && kind->whole == kind->stacks;
    step(isUnwound && (computes ? kind->computing : kind->inCall) >= HOLDS / 4, names[k]);
  }
  lt_unwinding_end(unwinding);
  lt_remote_images_free(&images);
}

// --- copies and threads ----------------------------------------------------------------------------------------------

static void copy_often(pid_t process) {
  unsigned made = 0, ended = 0, same = 0;
  struct lt_remote_images images;
  lt_remote_images_read(process, &images);
  uint64_t place = images.count > 0 ? images.images[0].start : 0;
  uint64_t longest = 0;
  for (unsigned i = 0; i < COPIES; i++) {
    struct lt_process_copy copy;
    struct lt_copy_options options = {.mode = LT_COPY_MODE_COPY};
    int result = lt_process_copy_begin(process, &options, &copy);
    if (result != 0) {
      printf("      copy: %d, reason %d\n", result, copy.reason);
      continue;
    }
    made++;
    char there[64] = "", here[64] = "x";
    same += copy.memory != process && lt_read_process(copy.memory, place, there, sizeof there) == sizeof there &&
            lt_read_process(process, place, here, sizeof here) == sizeof here && memcmp(there, here, sizeof here) == 0;
    if (copy.pauseNanoseconds > longest) longest = copy.pauseNanoseconds;
    int end = lt_process_copy_end(&copy);
    if (end != 0) printf("      end of a copy: %d\n", end);
    ended += end == 0;
    pause_for(BETWEEN_MILLISECONDS);
  }
  lt_remote_images_free(&images);
  printf("      %u copies, %u with the program's memory, %u reaped; longest pause %.1f ms\n", made, same, ended,
         (double)longest / 1e6);
  step(made == COPIES && same == COPIES && ended == COPIES, "the program is copied");
}

// --- calls of functions ----------------------------------------------------------------------------------------------

static int call(pid_t process, const char *library, const char *function, const char *argument,
                struct lt_library_call_outcome *outcome) {
  struct lt_library_call call = {.libraries = {library},
                                 .function = function,
                                 .argument = argument,
                                 .waitMilliseconds = WAIT_MILLISECONDS,
                                 .callMilliseconds = CALL_MILLISECONDS};
  int result = lt_call_in_library(process, &call, outcome);
  if (result != 0) {
    const struct lt_call_obstacles *o = &outcome->obstacles;
    printf(
        "      %s: %d, tries %u, text %s; loader %u fork %u exit %u unmet %u allocator %u handler %u library %u room "
        "%u unknown %u\n",
        function, result, outcome->tries, outcome->text, o->inLoader, o->inFork, o->atExit, o->notStopped,
        o->inAllocator, o->inHandler, o->inLibrary, o->withoutRoom, o->unknown);
  }
  return result;
}

static void visit(pid_t process, const char *library) {
  struct lt_library_call_outcome outcome;
  unsigned right = 0;
  for (unsigned i = 0; i < VISITS; i++) {
    right += call(process, library, "visit_briefly", "ab", &outcome) == 0 && outcome.result == 'a' + 'b';
    pause_for(BETWEEN_MILLISECONDS);
  }
  printf("      %u calls with the right result\n", right);
  step(right == VISITS, "threads load a library and call a function");
}

/// Asks for a library that does not exist. The loader's reason comes from the process.
static void ask(pid_t process) {
  struct lt_library_call_outcome outcome;
  int result = call(process, "/no/such/library.so", "visit_briefly", "", &outcome);
  step(result == LT_CALL_NOT_LOADED && strstr(outcome.text, "/no/such/library.so"), "the loader says why it fails");
}

/// Kills the guardian in the middle of a call. The thread must return to its own work without it.
static void abandon(pid_t process, const char *library) {
  pid_t owner = fork();
  if (owner == 0) {
    struct lt_library_call_outcome outcome;
    _exit(call(process, library, "visit_slowly", "x", &outcome) == LT_COPY_LOST ? 0 : 1);
  }
  pause_for(500);
  char command[TEXT_SIZE];
  snprintf(command, sizeof command, "/proc/%d/task/%d/children", owner, owner);
  FILE *children = fopen(command, "re");
  int guardian = 0;
  if (children) {
    if (fscanf(children, "%d", &guardian) != 1) guardian = 0;
    fclose(children);
  }
  bool isKilled = guardian > 0 && kill(guardian, SIGKILL) == 0;
  int status = 1;
  waitpid(owner, &status, 0);
  pause_for(1500);
  step(isKilled && status == 0, "a guardian is killed during a call");
}

static void attach(pid_t process, const char *recorder, const char *trace) {
  char settings[TEXT_SIZE];
  struct lt_library_call_outcome outcome;
  snprintf(settings, sizeof settings, "LEAKTRACE_OUTPUT=%s\nLEAKTRACE_QUIET=1", trace);
  int result = call(process, recorder, "leaktrace_attach_visited", settings, &outcome);
  printf("      attach: %d, outcome %d, pause %.1f ms\n", result, outcome.result,
         (double)outcome.pauseNanoseconds / 1e6);
  step(result == 0 && outcome.result == 0, "the recorder is attached");
  pause_for(500);
  result = call(process, NULL, "leaktrace_detach_visited", "", &outcome);
  printf("      detach: %d, outcome %d\n", result, outcome.result);
  step(result == 0 && outcome.result == 0, "the recorder is detached");
}

int main(int count, char **arguments) {
  if (count != 3 && count != 5) return 64;
  signal(SIGPIPE, SIG_IGN);
  struct program program;
  if (!start(&program, arguments[1])) return 1;
  pause_for(FIRST_MILLISECONDS);
  hold(program.process);
  copy_often(program.process);
  ask(program.process);
  visit(program.process, arguments[2]);
  abandon(program.process, arguments[2]);
  step(ends_undisturbed(&program), "the program did not notice anything");
  if (count == 5) {
    if (!start(&program, arguments[1])) return 1;
    pause_for(FIRST_MILLISECONDS);
    attach(program.process, arguments[3], arguments[4]);
    step(ends_undisturbed(&program), "the attached program did not notice anything");
  }
  printf("%u failures\n", failures);
  return failures ? 1 : 0;
}
