// Functions in assembly that call functions of the recorder in ways that C cannot express. A macro defines each one
// next to the function that it calls.

#ifndef LEAKTRACE_X86_64_ENTRIES_H
#define LEAKTRACE_X86_64_ENTRIES_H

/// Bytes from one entry of LT_DEFINE_INITIALIZER_ENTRIES to the next.
enum { LT_INITIALIZER_ENTRY_SIZE = 16 };

/// Defines `count` adjacent entries from `entries` on, which the loader may call as an image's initialisers. Each calls
/// `reached` with an address inside the entry. It ends by calling the initialiser that `reached` returns, with the
/// loader's arguments, as if the loader had called it; NULL: none.
#define LT_DEFINE_INITIALIZER_ENTRIES(entries, count, reached)           \
  extern const uint8_t entries[] __attribute__((visibility("hidden")));  \
  __asm__(".text\n"                                                      \
          ".p2align 4\n"                                                 \
          ".hidden " #entries "\n"                                       \
          ".globl " #entries "\n" #entries ":\n"                         \
          ".rept " #count "\n"                                           \
          "  .p2align 4\n"                                               \
          "  leaq (%rip), %rax\n"                                        \
          "  jmp " #entries "_common\n"                                  \
          ".endr\n"                                                      \
          ".p2align 4\n"                                                 \
          ".type " #entries "_common, @function\n" #entries "_common:\n" \
          "  .cfi_startproc\n"                                           \
          "  pushq %rdi\n"                                               \
          "  .cfi_adjust_cfa_offset 8\n"                                 \
          "  pushq %rsi\n"                                               \
          "  .cfi_adjust_cfa_offset 8\n"                                 \
          "  pushq %rdx\n"                                               \
          "  .cfi_adjust_cfa_offset 8\n"                                 \
          "  movq %rax, %rdi\n"                                          \
          "  call " #reached "\n"                                        \
          "  popq %rdx\n"                                                \
          "  .cfi_adjust_cfa_offset -8\n"                                \
          "  popq %rsi\n"                                                \
          "  .cfi_adjust_cfa_offset -8\n"                                \
          "  popq %rdi\n"                                                \
          "  .cfi_adjust_cfa_offset -8\n"                                \
          "  testq %rax, %rax\n"                                         \
          "  jz 1f\n"                                                    \
          "  jmp *%rax\n"                                                \
          "1: ret\n"                                                     \
          "  .cfi_endproc\n"                                             \
          ".size " #entries "_common, .-" #entries "_common\n")

/// Defines `name`, which calls `function` and preserves all registers: for a caller that relies on a callee that
/// changes none.
#define LT_DEFINE_UNNOTICED_CALL(name, function)                                                                     \
  void name(void) __attribute__((visibility("hidden")));                                                             \
  __asm__(".text\n"                                                                                                  \
          ".p2align 4\n"                                                                                             \
          ".hidden " #name "\n"                                                                                      \
          ".globl " #name "\n"                                                                                       \
          ".type " #name ", @function\n" #name ":\n"                                                                 \
          "  .cfi_startproc\n"                                                                                       \
          "  pushq %rbp\n"                                                                                           \
          "  .cfi_def_cfa_offset 16\n"                                                                               \
          "  .cfi_offset 6, -16\n"                                                                                   \
          "  movq %rsp, %rbp\n"                                                                                      \
          "  .cfi_def_cfa_register 6\n"                                                                              \
          "  pushq %rax\n  pushq %rcx\n  pushq %rdx\n  pushq %rsi\n  pushq %rdi\n  pushq %r8\n  pushq %r9\n  pushq " \
          "%r10\n  pushq %r11\n"                                                                                     \
          "  andq $-16, %rsp\n"                                                                                      \
          "  call " #function "\n"                                                                                   \
          "  leaq -72(%rbp), %rsp\n"                                                                                 \
          "  popq %r11\n  popq %r10\n  popq %r9\n  popq %r8\n  popq %rdi\n  popq %rsi\n  popq %rdx\n  popq %rcx\n  " \
          "popq %rax\n"                                                                                              \
          "  popq %rbp\n"                                                                                            \
          "  .cfi_def_cfa 7, 8\n"                                                                                    \
          "  ret\n"                                                                                                  \
          "  .cfi_endproc\n"                                                                                         \
          ".size " #name ", .-" #name "\n")

/// Defines `name`, which replaces a retain that the runtime's adapter calls. It calls `counted` if the reference was a
/// pointer before the adapter cleared its marks. The adapter keeps the whole reference in rbx.
#define LT_DEFINE_RETAIN_FROM_ADAPTER(name, counted) \
  void *name(void *object);                          \
  __asm__(".text\n"                                  \
          ".hidden " #name "\n"                      \
          ".globl " #name "\n"                       \
          ".type " #name ", @function\n" #name ":\n" \
          "  .cfi_startproc\n"                       \
          "  movq %rdi, %rax\n"                      \
          "  testq %rbx, %rbx\n"                     \
          "  jg " #counted "\n"                      \
          "  ret\n"                                  \
          "  .cfi_endproc\n"                         \
          ".size " #name ", .-" #name "\n")

#endif
