// Demanglers that the linked libraries export without a header.

#ifndef LEAKTRACE_DEMANGLE_H
#define LEAKTRACE_DEMANGLE_H

#include <stddef.h>
#include <stdint.h>

/// The Swift runtime's demangler (libswiftCore). Returns a malloc'd string when `output` is NULL, or NULL if `name` is no Swift symbol.
char *swift_demangle(const char *name, size_t length, char *output, size_t *outputSize, uint32_t flags);

/// The C++ ABI's demangler (libstdc++). Returns a malloc'd string when `output` is NULL; status 0 on success.
char *__cxa_demangle(const char *name, char *output, size_t *outputSize, int *status);

#endif
