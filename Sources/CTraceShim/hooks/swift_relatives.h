// Hooks of the functions that count inside a Swift runtime, interposed by name.

#ifndef LEAKTRACE_SWIFT_RELATIVES_H
#define LEAKTRACE_SWIFT_RELATIVES_H

/// Finds the functions that the hooks are to call. To be called whenever images that define such functions came or
/// went: before it, and after lt_swift_relatives_unsettle, each call is led to its caller's runtime. Calls
/// dl_iterate_phdr.
void lt_swift_relatives_settle(void);
/// Notes that an image has gone, when nobody looks for which.
void lt_swift_relatives_unsettle(void);

#endif
