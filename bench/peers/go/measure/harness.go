// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A body does its operation about n times and returns how often it did. What it prepares comes
// before it calls start.
type body func(n int, start func()) int

type row struct {
	name string
	body body
}

// cpu is the processor time of this process, garbage collection and all.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measure returns the nanoseconds of an operation, after shorter runs that warm up.
func measure(body body, atLeast time.Duration) float64 {
	for n := 1; ; {
		var began time.Duration
		operations := body(n, func() { began = cpu() })
		took := cpu() - began
		if took >= atLeast {
			return float64(took) / float64(operations)
		}
		if took > atLeast/100 {
			n = int(1.4*float64(n)*float64(atLeast)/float64(took)) + 1
		} else {
			n *= 2
		}
	}
}

// usage: bench_go --list | bench_go FAMILY SECONDS
func main() {
	runtime.GOMAXPROCS(1)
	if len(os.Args) == 2 && os.Args[1] == "--list" {
		for _, row := range rows {
			fmt.Println(row.name)
		}
		return
	}
	if len(os.Args) != 3 {
		log.Fatal("usage: bench_go --list | bench_go FAMILY SECONDS")
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range rows {
		if !strings.HasPrefix(row.name, os.Args[1]+"/") {
			continue
		}
		value := measure(row.body, time.Duration(seconds*float64(time.Second)))
		json.NewEncoder(os.Stdout).Encode(map[string]any{
			"name": row.name, "value": value, "unit": "ns"})
	}
}
