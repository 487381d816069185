// Calls the allocator with a stack pointer that is not a multiple of 16, as code written in assembly does that knows it
// to be harmless, and each distance in turn.
#include <stdio.h>
#include <stdlib.h>

/// `function(a, b)` with the stack pointer moved by `distance` bytes.
static void *call(void *function, size_t a, size_t b, size_t distance) {
  void *result;
  __asm__ volatile("movq %%rsp, %%rbx\n"
                   "andq $-16, %%rsp\n"
                   "subq %[distance], %%rsp\n"
                   "callq *%[function]\n"
                   "movq %%rbx, %%rsp\n"
                   : "=a"(result), "+D"(a), "+S"(b)
                   : [function] "r"(function), [distance] "r"(distance)
                   : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

int main(void) {
  size_t sum = 0;
  for (int round = 0; round < 2000; round++) {
    size_t distance = 128 + 8 * ((size_t)round % 2);
    void *block = call((void *)malloc, 57, 0, distance);
    void *other = call((void *)calloc, 3, 19, distance);
    block = call((void *)realloc, (size_t)block, 570, distance);
    if (!block || !other) return 1;
    sum += *(unsigned char *)other;
    call((void *)free, (size_t)block, 0, distance);
    call((void *)free, (size_t)other, 0, distance);
  }
  printf("%zu\n", sum);
  return 0;
}
