// Hooks of counting functions inside a Swift runtime, interposed by name.

#ifndef LEAKTRACE_SWIFT_RELATIVES_H
#define LEAKTRACE_SWIFT_RELATIVES_H

/// Finds the functions that the hooks call. Must be called whenever images that define such functions were loaded or
/// unloaded. Before that, and after lt_swift_relatives_unsettle, each call is resolved to its caller's runtime. Calls
/// dl_iterate_phdr.
void lt_swift_relatives_settle(void);
/// Notes that an image was unloaded, when it is not known which.
void lt_swift_relatives_unsettle(void);

#endif
