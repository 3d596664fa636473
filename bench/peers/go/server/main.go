// SPDX-License-Identifier: Apache-2.0

// The echo server in Go: one goroutine a connection.
package main

import (
	"fmt"
	"log"
	"net"
	"runtime"
	"time"
)

const secondsMax = 120

func echo(peer net.Conn) {
	defer peer.Close()
	buffer := make([]byte, 1024)
	for {
		size, err := peer.Read(buffer)
		if err != nil {
			return
		}
		if _, err := peer.Write(buffer[:size]); err != nil {
			return
		}
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	time.AfterFunc(secondsMax*time.Second, func() { log.Fatal("nobody has ended this server") })
	listener, err := net.Listen("tcp4", "127.0.0.1:0") // No delay is Go's default.
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		peer, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go echo(peer)
	}
}
