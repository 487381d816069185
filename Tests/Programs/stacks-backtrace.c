// Writes the stack that the C compiler's own unwinder sees. Called from signal handlers, too: no allocation, no stdio.
#define _GNU_SOURCE
#include "stacks-backtrace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>
#include <unwind.h>

size_t stacks_next_size(void) {
  static atomic_size_t next = 70001;
  return atomic_fetch_add(&next, 1);
}

/// malloc, and the Swift runtime's allocation where there is one, by names that compilers know nothing of. Without
/// frames of their own.
__asm__(".text\n.weak swift_allocObject\n"
        ".globl stacks_allocate, stacks_allocate_object\n.type stacks_allocate,@function\n.type "
        "stacks_allocate_object,@function\n"
        "stacks_allocate: .cfi_startproc\njmp *malloc@GOTPCREL(%rip)\n.cfi_endproc\n"
        "stacks_allocate_object: .cfi_startproc\njmp *swift_allocObject@GOTPCREL(%rip)\n.cfi_endproc\n"
        ".size stacks_allocate_object,.-stacks_allocate_object\n");

__attribute__((noinline)) void stacks_point(size_t size) { __asm__ volatile("" : : "r"(size) : "memory"); }

struct line {
  char text[1 << 14];
  size_t length;
  int frames;
};

static void flush(struct line *line) {
  for (size_t done = 0; done < line->length;) {
    ssize_t n = write(STDOUT_FILENO, line->text + done, line->length - done);
    if (n < 0) _exit(99);
    done += (size_t)n;
  }
  line->length = 0;
}

static void put_number(struct line *line, uintptr_t value, unsigned base) {
  char digits[24];
  int n = 0;
  if (line->length + 32 > sizeof line->text) flush(line);
  do digits[n++] = "0123456789abcdef"[value % base];
  while (value /= base);
  while (n) line->text[line->length++] = digits[--n];
}

static _Unwind_Reason_Code put_frame(struct _Unwind_Context *context, void *argument) {
  struct line *line = argument;
  int isInterrupted = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &isInterrupted);
  // stacks_report itself; what lies beyond the outermost frame
  if (line->frames++ == 0 || address == 0) return _URC_NO_REASON;
  put_number(line, address, 16);
  if (isInterrupted) line->text[line->length++] = '!';
  line->text[line->length++] = ' ';
  return _URC_NO_REASON;
}

/// One line at a time; a handler that interrupts a line being written would wait for ever, so no program here does
/// that.
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void stacks_report(size_t size) {
  static struct line line;
  pthread_mutex_lock(&turn);
  line.length = 0;
  line.frames = 0;
  for (const char *c = "mark "; *c; c++) line.text[line.length++] = *c;
  put_number(&line, size, 10);
  line.text[line.length++] = ' ';
  _Unwind_Backtrace(put_frame, &line);
  line.text[line.length++] = '\n';
  flush(&line);
  pthread_mutex_unlock(&turn);
}
