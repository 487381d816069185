#ifndef LEAKTRACE_SHIM_H
#define LEAKTRACE_SHIM_H
#endif
