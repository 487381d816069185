//go:build cgo

package main

// #include <stdlib.h>
// #include <string.h>
// static int touch(void) {
//   char *text = malloc(100);
//   strcpy(text, "touched");
//   int length = (int)strlen(text);
//   free(text);
//   return length;
// }
import "C"

// Calls malloc.
func touch() int { return int(C.touch()) }
