// The child process that unwinds stacks. It reads another process's memory, the bytes of a core file, or the words of a
// heap image.

#define _GNU_SOURCE
#include "CUnwinder.h"

#include "processor.h"

#include <errno.h>

uint16_t lt_unwinder_machine(void) { return LT_OWN_MACHINE; }

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { ANSWER_MILLISECONDS = 120000 }; // for a child that hangs; otherwise the number of reads is the limit

#define MEMORY_LIMIT ((size_t)256 << 20)
#define STACK_LIMIT ((size_t)8 << 20)

static size_t read_kept(void *context, uint64_t address, void *into, size_t size) {
  const struct lt_unwinder_input *input = context;
  size_t low = 0, high = input->memoryCount;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (input->memory[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  size_t done = 0;
  for (; low < input->memoryCount && done < size; low++) {
    const struct lt_unwinder_memory *piece = &input->memory[low];
    if (piece->start > address + done) break;
    uint64_t offset = address + done - piece->start;
    uint64_t count = piece->end - piece->start - offset;
    if (count > size - done) count = size - done;
    memcpy((uint8_t *)into + done, piece->bytes + offset, count);
    done += count;
  }
  return done;
}

static size_t read_process(void *context, uint64_t address, void *into, size_t size) {
  const struct lt_unwinder_input *input = context;
  struct iovec local = {into, size}, remote = {(void *)address, size};
  ssize_t count = process_vm_readv(input->process, &local, 1, &remote, 1, 0);
  return count > 0 ? (size_t)count : 0;
}

static bool find_image(void *context, uint64_t address, struct lt_unwind_code *code) {
  const struct lt_unwinder_input *input = context;
  size_t low = 0, high = input->imageCount;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (input->images[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  if (low == input->imageCount || input->images[low].start > address) return false;
  *code = input->images[low];
  return true;
}

static void *begin(void *context) {
  struct lt_unwinder_input *input = malloc(sizeof *input);
  if (!input) return NULL;
  *input = *(const struct lt_unwinder_input *)context;
  return lt_stack_unwinder_make(&(struct lt_unwind_source){
      .read = input->process ? read_process : read_kept,
      .find = find_image,
      .context = input,
      .isOneStack = true,
  });
}

static bool answer(void *context, const char *question, size_t size, struct lt_child_answer *answer) {
  struct lt_unwind_registers thread;
  if (size != sizeof thread) return false;
  memcpy(&thread, question, sizeof thread);
  static struct lt_unwound_frame frames[LT_UNWINDER_MAX_FRAMES];
  size_t count;
  enum lt_unwind_end end = lt_unwind_stack(context, &thread, frames, LT_UNWINDER_MAX_FRAMES, &count);
  struct lt_unwinder_answer head = {.end = end, .count = (uint32_t)count};
  lt_child_append(answer, &head, sizeof head);
  lt_child_append(answer, frames, count * sizeof *frames);
  return true;
}

int lt_unwinder_start(struct lt_child *child, const struct lt_unwinder_input *input) {
  if (input->machine != LT_OWN_MACHINE) return ENOSYS;
  static const struct lt_child_service service = {
      .questionLimit = sizeof(struct lt_unwind_registers),
      .answerLimit = sizeof(struct lt_unwinder_answer) + LT_UNWINDER_MAX_FRAMES * sizeof(struct lt_unwound_frame),
      .memoryLimit = MEMORY_LIMIT,
      .stackLimit = STACK_LIMIT,
      .answerMilliseconds = ANSWER_MILLISECONDS,
      .begin = begin,
      .answer = answer,
  };
  return lt_child_start(child, &service, (void *)input);
}

#else

int lt_unwinder_start(struct lt_child *child, const struct lt_unwinder_input *input) {
  (void)child, (void)input;
  return ENOSYS;
}

#endif
