package main

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// measure runs a server with zariz and one with crypto/rsa on processor 0, and their clients on processor 1.
// Rounds of both take turns; the table has medians.
func measure(arguments []string) error {
	flags := flag.NewFlagSet("measure", flag.ExitOnError)
	rounds := flags.Int("rounds", 5, "how often each is measured")
	seconds := flags.Float64("seconds", 2, "how long each time")
	connections := flags.Int("connections", 64, "how many clients ask at once for the highest rate")
	flags.Parse(arguments)
	folder, err := os.MkdirTemp("", "issuer")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "key.pem")
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		return err
	}
	var servers [2]*server
	for i, more := range [][]string{nil, {"-crypto-rsa"}} {
		if servers[i], err = start(path, more...); err != nil {
			return err
		}
		defer servers[i].stop()
	}
	runtime.GOMAXPROCS(1)
	onProcessor("1", os.Getpid())
	length := time.Duration(*seconds * float64(time.Second))

	var highest [2]float64
	fmt.Printf("RSA-2048, %d connections, highest rate:\n", *connections)
	of := [2][]result{}
	for range *rounds {
		for i, server := range servers {
			of[i] = append(of[i], server.closed(*connections, length))
		}
	}
	for i, server := range servers {
		highest[i] = median(of[i], func(r result) float64 { return r.rate })
		used := median(of[i], func(r result) float64 { return r.processor })
		fmt.Printf("  %-12s %7.0f requests/s, %4.0f µs of processor time each\n", server.name, highest[i], used)
	}
	fmt.Printf("  zariz: %.2f times as many\n", highest[0]/highest[1])

	fmt.Println("arrivals at random times, whether or not earlier ones are answered:")
	for _, rate := range []float64{0.5 * highest[1], 0.7 * highest[1], 0.5 * highest[0], 0.7 * highest[0]} {
		of := [2][]result{}
		for range *rounds {
			for i, server := range servers {
				if rate < highest[i]*0.95 {
					of[i] = append(of[i], server.open(rate, length))
				}
			}
		}
		for i, server := range servers {
			if of[i] == nil {
				fmt.Printf("  %6.0f/s %-12s cannot\n", rate, server.name)
				continue
			}
			fmt.Printf("  %6.0f/s %-12s p50 %8.2f ms, p99 %8.2f ms\n", rate, server.name,
				median(of[i], func(r result) float64 { return r.p50 }), median(of[i], func(r result) float64 { return r.p99 }))
		}
	}
	return nil
}

// server is a process that serves.
type server struct {
	name, address string
	command       *exec.Cmd
	client        *http.Client
	failures      atomic.Int64
}

func start(path string, more ...string) (*server, error) {
	command := exec.Command(os.Args[0], append([]string{"serve", "-key", path, "-listen", "127.0.0.1:0"}, more...)...)
	command.Env = append(os.Environ(), "GOMAXPROCS=1")
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, command.Wait())
	}
	address, name, _ := strings.Cut(strings.TrimSpace(line), " with ")
	onProcessor("0", command.Process.Pid)
	transport := &http.Transport{MaxIdleConnsPerHost: 1024}
	return &server{name: name, address: address, command: command,
		client: &http.Client{Transport: transport, Timeout: time.Minute}}, nil
}

func (s *server) stop() {
	s.command.Process.Signal(syscall.SIGTERM)
	s.command.Wait()
}

// onProcessor binds the threads of a process to a processor, where that is possible.
func onProcessor(processor string, pid int) {
	exec.Command("taskset", "-a", "-c", "-p", processor, fmt.Sprint(pid)).Run()
}

func (s *server) request() {
	response, err := s.client.Post(s.address+"/token", "application/json", strings.NewReader(`{"sub":"alice"}`))
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
	}
	if err != nil && s.failures.Add(1) == 1 {
		fmt.Fprintln(os.Stderr, s.name, "failed:", err)
	}
}

// result is one measurement: requests per second, and milliseconds; processor time of the server in µs.
type result struct{ rate, p50, p99, processor float64 }

// closed runs so many clients, each of which asks again when it has its answer.
func (s *server) closed(clients int, length time.Duration) result {
	var count atomic.Int64
	var group sync.WaitGroup
	used, began := s.processorTime(), time.Now()
	for range clients {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Since(began) < length {
				s.request()
				count.Add(1)
			}
		}()
	}
	group.Wait()
	n := float64(count.Load())
	return result{rate: n / time.Since(began).Seconds(), processor: (s.processorTime() - used) / n}
}

// open sends requests at random times, and measures each from the time when it was due.
func (s *server) open(rate float64, length time.Duration) result {
	var mutex sync.Mutex
	var times []time.Duration
	var group sync.WaitGroup
	began := time.Now()
	for due := began; due.Sub(began) < length; {
		due = due.Add(time.Duration(mathrand.ExpFloat64() / rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		group.Add(1)
		go func() {
			defer group.Done()
			s.request()
			mutex.Lock()
			defer mutex.Unlock()
			times = append(times, time.Since(due))
		}()
	}
	group.Wait()
	slices.Sort(times)
	at := func(share float64) float64 {
		return times[min(len(times)-1, int(share*float64(len(times))))].Seconds() * 1000
	}
	return result{p50: at(0.5), p99: at(0.99)}
}

// processorTime is the processor time that the server has used, in µs.
func (s *server) processorTime() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
	var user, system float64
	fmt.Sscan(fields[12], &user)
	fmt.Sscan(fields[13], &system)
	return (user + system) * 10_000 // hundredths of a second
}

func median(results []result, of func(result) float64) float64 {
	values := make([]float64, len(results))
	for i, r := range results {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
