// Uses only the other process's memory, since its files may not be accessible.

#include "thread_frames.h"

#include "process_memory.h"

#include <stdlib.h>
#include <string.h>

struct lt_unwinding {
  const struct lt_remote_images *images;
  struct lt_stack_unwinder *unwinder;
  struct lt_unwound_frame frames[LT_MAX_FRAMES];
};

static size_t read_memory(void *context, uint64_t address, void *into, size_t size) {
  return lt_read_process(((struct lt_unwinding *)context)->images->process, address, into, size);
}

static bool find_code(void *context, uint64_t address, struct lt_unwind_code *code) {
  const struct lt_remote_image *image = lt_remote_image_at(((struct lt_unwinding *)context)->images, address);
  if (image == NULL || image->unwindHeader == 0) return false;
  *code = (struct lt_unwind_code){.start = image->start, .end = image->end, .table = image->unwindHeader};
  return true;
}

struct lt_unwinding *lt_unwinding_begin(const struct lt_remote_images *images) {
  struct lt_unwinding *unwinding = calloc(1, sizeof *unwinding);
  if (unwinding == NULL) return NULL;
  unwinding->images = images;
  // A thread in the recorder is on a stack of the recorder, and its outer frames are on the thread's own stack. So a
  // caller's frame may be at a lower address.
  unwinding->unwinder = lt_stack_unwinder_make(
      &(struct lt_unwind_source){.read = read_memory, .find = find_code, .context = unwinding, .isOneStack = false});
  if (unwinding->unwinder == NULL) {
    free(unwinding);
    return NULL;
  }
  return unwinding;
}

void lt_unwinding_forget(struct lt_unwinding *unwinding) { lt_stack_unwinder_forget(unwinding->unwinder); }

void lt_unwinding_end(struct lt_unwinding *unwinding) {
  if (unwinding == NULL) return;
  lt_stack_unwinder_free(unwinding->unwinder);
  free(unwinding);
}

void lt_thread_frames(struct lt_unwinding *unwinding, const struct lt_copied_thread *thread,
                      struct lt_thread_frames *frames) {
  struct lt_unwind_registers registers = {.known = LT_UNWIND_ALL_KNOWN};
  _Static_assert(LT_GENERAL_REGISTERS < LT_UNWIND_REGISTERS, "the program counter follows the general registers");
  memcpy(registers.values, thread->general, sizeof thread->general);
  registers.values[LT_GENERAL_REGISTERS] = thread->programCounter;
  enum lt_unwind_end end =
      lt_unwind_stack(unwinding->unwinder, &registers, unwinding->frames, LT_MAX_FRAMES, &frames->count);
  frames->isComplete = end == LT_UNWIND_COMPLETE;
  frames->hasSignalFrame = false;
  frames->lastStack = thread->stackPointer;
  for (size_t i = 0; i < frames->count; i++) {
    const struct lt_unwound_frame *frame = &unwinding->frames[i];
    // A signal interrupted the thread in this frame.
    if (i > 0 && frame->isExact) frames->hasSignalFrame = true;
    frames->lastStack = frame->stackPointer;
    frames->addresses[i] = frame->isExact ? frame->address : frame->address - 1;
  }
}
