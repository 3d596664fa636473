// SPDX-License-Identifier: Apache-2.0

// The rows of Go, on one processor.
package main

import (
	"math/rand"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	batch  = 1_000
	timers = 100_000
)

var rows = []row{
	{"yield/go/2", yieldAmong(2)},
	{"yield/go/1000", yieldAmong(1_000)},
	{"yield/go/10000", yieldAmong(10_000)},
	{"spawn_finish/go/1000", spawnFinish},
	{"spawn_await/go", spawnAwait},
	{"channel_round_trip/go", channelRoundTrip},
	{"channel_message/go/128", channelMessage},
	{"cancelled_timers/go", cancelledTimers},
}

// Goroutines do not take turns strictly: the yields are counted.
func yieldAmong(count int) body {
	return func(n int, start func()) int {
		var done atomic.Bool
		var others sync.WaitGroup
		yields := 0
		for i := 1; i < count; i++ {
			others.Add(1)
			go func() {
				defer others.Done()
				for !done.Load() {
					yields++
					runtime.Gosched()
				}
			}()
		}
		for yields < 10*count {
			yields++
			runtime.Gosched()
		}
		yields = 0
		start()
		for yields < n {
			yields++
			runtime.Gosched()
		}
		measured := yields
		done.Store(true)
		others.Wait()
		return measured
	}
}

// A batch runs when its spawner yields, as those of the others do.
func spawnFinish(n int, start func()) int {
	spawned, ended := 0, 0
	body := func() { ended++ }
	start()
	for ended < n {
		for i := 0; i < batch; i++ {
			go body()
		}
		for spawned += batch; ended < spawned; {
			runtime.Gosched()
		}
	}
	return ended
}

func spawnAwait(n int, start func()) int {
	done := make(chan struct{})
	ended := 0
	body := func() {
		ended++
		done <- struct{}{}
	}
	start()
	for ended < n {
		go body()
		<-done
	}
	return ended
}

func channelRoundTrip(n int, start func()) int {
	there, back := make(chan int), make(chan int)
	go func() {
		for value := range there {
			back <- value
		}
	}()
	start()
	for value := 0; value < n; {
		there <- value
		value = <-back + 1
	}
	close(there)
	return n
}

func channelMessage(n int, start func()) int {
	channel := make(chan int, 128)
	go func() {
		for value := 0; value < n; value++ {
			channel <- value
		}
		close(channel)
	}()
	start()
	received := 0
	for range channel {
		received++
	}
	return received
}

func cancelledTimers(n int, start func()) int {
	armed := make([]*time.Timer, timers)
	cancelled := 0
	start()
	for cancelled < n {
		for i := range armed {
			span := time.Hour + time.Duration(rand.Int63n(int64(time.Second)))
			armed[i] = time.AfterFunc(span, func() {})
		}
		for _, timer := range armed {
			timer.Stop()
		}
		cancelled += timers
	}
	return cancelled
}
