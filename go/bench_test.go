package zariz_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/zariz"
)

// processorTime is the processor time that this process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// timeOf is the processor time of one operation, by so many goroutines.
func timeOf(goroutines, count int, operation func()) time.Duration {
	began := processorTime()
	var group sync.WaitGroup
	for range goroutines {
		group.Add(1)
		go func() {
			defer group.Done()
			for range max(1, count/goroutines) {
				operation()
			}
		}()
	}
	group.Wait()
	return (processorTime() - began) / time.Duration(max(1, count/goroutines)*goroutines)
}

// TestRates prints how many times as fast as crypto/rsa zariz is, on one processor: ZARIZ_RATES=1 go test
// -count=1 -run TestRates -v. Rounds of both take turns; ratios are medians.
func TestRates(t *testing.T) {
	if os.Getenv("ZARIZ_RATES") == "" {
		t.Skip("it measures, for about a minute: set ZARIZ_RATES=1")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	fmt.Printf("%s, %s; ns of processor time, medians\n", zariz.Engine(), runtime.Version())
	fmt.Printf("%-24s %10s %12s %12s %6s\n", "", "goroutines", "zariz", "crypto/rsa", "times")
	digest := make([]byte, 32)
	for _, bits := range []int{2048, 3072, 4096} {
		std, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		key := must(zariz.FromRSA(std))
		public := must(zariz.NewPublicKey(&std.PublicKey))
		signature := must(key.Sign(nil, digest, crypto.SHA256))
		signWith := func(signer crypto.Signer) func() {
			return func() {
				if _, err := signer.Sign(nil, digest, crypto.SHA256); err != nil {
					panic(err)
				}
			}
		}
		compare(fmt.Sprintf("sign RSA-%d", bits), time.Duration(bits/2048*bits/2048)*25*time.Millisecond,
			signWith(key), signWith(std))
		compare(fmt.Sprintf("verify RSA-%d", bits), 10*time.Millisecond,
			func() {
				if err := public.Verify(digest, signature, crypto.SHA256); err != nil {
					panic(err)
				}
			},
			func() {
				if err := rsa.VerifyPKCS1v15(&std.PublicKey, crypto.SHA256, digest, signature); err != nil {
					panic(err)
				}
			})
	}
}

func compare(name string, round time.Duration, ours, theirs func()) {
	const rounds = 21
	one := timeOf(1, 20, theirs)
	for _, goroutines := range []int{1, 64} {
		count := max(goroutines, int(round/one)/goroutines*goroutines)
		var times [2][]time.Duration
		var ratios []float64
		for range rounds {
			ours, theirs := timeOf(goroutines, count, ours), timeOf(goroutines, count, theirs)
			times[0], times[1] = append(times[0], ours), append(times[1], theirs)
			ratios = append(ratios, float64(theirs)/float64(ours))
		}
		slices.Sort(times[0])
		slices.Sort(times[1])
		slices.Sort(ratios)
		fmt.Printf("%-24s %10d %12d %12d %6.2f\n", name, goroutines, times[0][rounds/2], times[1][rounds/2],
			ratios[rounds/2])
	}
}
