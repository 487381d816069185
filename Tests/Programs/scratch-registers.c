// Allocates, and looks whether the recorder leaves the block's address in a register that no call preserves and that
// has no result. Prints the numbers of such registers.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void *(*allocator)(size_t, size_t);

#ifdef __x86_64__
enum { FIRST = 10, COUNT = 2 };

/// Calls an allocator, and stores r10 and r11 as they are after the call. The function's frame may lie in the red zone.
static void *call(allocator allocate, uint64_t scratch[COUNT]) {
  void *block;
  __asm__ volatile("sub $128, %%rsp\n\tcall *%3\n\tadd $128, %%rsp\n\tmov %%r10, %1\n\tmov %%r11, %2"
                   : "=a"(block), "=&r"(scratch[0]), "=&r"(scratch[1])
                   : "r"(allocate), "D"((size_t)70), "S"((size_t)8)
                   : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  return block;
}
#else
enum { FIRST = 9, COUNT = 7 };

/// Calls an allocator, and stores x9 to x15 as they are after the call.
static void *call(allocator allocate, uint64_t scratch[COUNT]) {
  register size_t number __asm__("x0") = 70, size __asm__("x1") = 8;
  __asm__ volatile("mov x20, %2\n\tblr %1\n\tstp x9, x10, [x20]\n\tstp x11, x12, [x20, #16]\n\t"
                   "stp x13, x14, [x20, #32]\n\tstr x15, [x20, #48]"
                   : "+r"(number)
                   : "r"(allocate), "r"(scratch), "r"(size)
                   : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                     "x17", "x20", "x30", "memory", "cc");
  return (void *)number;
}
#endif

int main(void) {
  allocator volatile allocate = calloc;
  unsigned found = 0;
  for (int i = 0; i < 200; i++) {
    uint64_t scratch[COUNT];
    void *block = call(allocate, scratch);
    for (int k = 0; k < COUNT; k++) found |= (unsigned)(scratch[k] == (uint64_t)block) << k;
    if (i % 3) free(block);
  }
  for (int k = 0; k < COUNT; k++)
    if (found >> k & 1) printf("%d\n", FIRST + k);
  puts("done");
}
