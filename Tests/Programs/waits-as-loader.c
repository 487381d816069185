// Stands for the loader of a program, and waits for ever: the program has begun, and has no C library yet. It has none
// itself.

static const struct { long seconds, nanoseconds; } rest = {1, 0};

// Its stack is not aligned as a function expects, so it uses none.
void _start(void) {
  for (;;) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(35 /* nanosleep */), "D"(&rest), "S"(0) : "rcx", "r11", "memory");
  }
}
