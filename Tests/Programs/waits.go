// A program in Go that waits until it is killed.

package main

import "time"

func main() { time.Sleep(time.Hour) }
