// Works with goroutines, a child and a file, for SITUATION_SECONDS and once at least.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

func work(sizes chan int) {
	words := map[int]string{}
	size := 0
	for i := 0; i < 2000; i++ {
		words[i] = strings.Repeat("word ", 10) + strconv.Itoa(i)
	}
	for _, word := range words {
		size += len(word)
	}
	sizes <- size
}

func main() {
	begin := time.Now()
	seconds, _ := strconv.ParseFloat(os.Getenv("SITUATION_SECONDS"), 64)
	size, said := 0, ""
	for {
		size = touch()
		sizes := make(chan int)
		for i := 0; i < 8; i++ {
			go work(sizes)
		}
		for i := 0; i < 8; i++ {
			size += <-sizes
		}
		output, err := exec.Command("sh", "-c", "echo from a child").Output()
		if err != nil {
			panic(err)
		}
		said = strings.TrimSpace(string(output))
		if time.Since(begin).Seconds() >= seconds {
			break
		}
	}
	os.WriteFile("written", []byte("written\n"), 0o644)
	fmt.Println(size, said)
	os.Exit(7)
}
