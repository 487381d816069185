// Hooks of the functions that count inside a Swift runtime, interposed by name.

#ifndef LEAKTRACE_SWIFT_RELATIVES_H
#define LEAKTRACE_SWIFT_RELATIVES_H

/// Finds what the hooks are to call. To be called whenever images that define such functions came or went: until it was, and after the other, each call is
/// led to its caller's runtime. Calls dl_iterate_phdr.
void lt_swift_relatives_settle(void);
/// An image has gone, and nobody looks which.
void lt_swift_relatives_unsettle(void);

#endif
