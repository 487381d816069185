// A 32-bit program without a C library, which waits until it is killed.

void _start(void) {
  // pause(2)
  for (;;) __asm__ volatile("int $0x80" ::"a"(29));
}
