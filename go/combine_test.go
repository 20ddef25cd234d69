package zariz

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"runtime"
	"testing"
	"time"
)

// slowPower is a request of some tenths of a second, with the memory that it has.
func slowPower(t *testing.T) (r *request, memory [2][]byte) {
	n := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), maxBits), big.NewInt(1))
	modulus, err := NewModulus(n)
	if err != nil {
		t.Fatal(err)
	}
	r, err = modulus.toRaise(new(big.Int).Rsh(n, 1), new(big.Int).Rsh(n, 3*maxBits/4))
	if err != nil {
		t.Fatal(err)
	}
	return r, [2][]byte{r.buffer, r.output}
}

// until waits until a condition holds, which the combiner's mutex guards.
func (c *combiner) until(t *testing.T, holds func() bool) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Microsecond) {
		c.mutex.Lock()
		isSo := holds()
		c.mutex.Unlock()
		if isSo {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a minute has passed")
		}
	}
}

// A combiner that seems to compute: requests wait, until the test makes the first one lead.
func TestContextsEndTheWait(t *testing.T) {
	if !Available() {
		t.Skip("without the engine, nothing waits")
	}
	c := &combiner{kind: power, share: 1, limit: 1, leaders: 1}
	do := func(r *request) (cancel func(), result chan error) {
		ctx, cancel := context.WithCancel(context.Background())
		result = make(chan error, 1)
		go func() { result <- c.do(ctx, r) }()
		c.until(t, func() bool { return len(c.waiting) > 0 && c.waiting[len(c.waiting)-1] == r })
		return cancel, result
	}
	isWiped := func(memory [2][]byte) bool {
		return len(bytes.Trim(memory[0], "\x00")) == 0 && len(bytes.Trim(memory[1], "\x00")) == 0
	}

	leader, leaderMemory := slowPower(t)
	cancelLeader, leaderResult := do(leader)
	inQueue, inQueueMemory := slowPower(t)
	cancelInQueue, inQueueResult := do(inQueue)
	taken, takenMemory := slowPower(t)
	cancelTaken, takenResult := do(taken)

	// In the queue.
	cancelInQueue()
	if err := <-inQueueResult; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(c.waiting) != 2 || c.present != 2 || !isWiped(inQueueMemory) {
		t.Error("a request that was given up still waits, or its memory is not wiped")
	}

	// A goroutine that is told to lead does so, even if its context has ended: the other relies on it.
	c.mutex.Lock()
	c.waiting = c.waiting[1:]
	leader.place = leads
	c.gathering++
	cancelLeader()
	time.Sleep(time.Millisecond)
	c.mutex.Unlock()
	leader.wake <- true

	// In a batch: the goroutine returns at once, and the leader wipes the request.
	c.until(t, func() bool { return taken.place == inBatch })
	cancelTaken()
	if err := <-takenResult; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case <-leaderResult:
		t.Error("the cancelled goroutine waited for the end of the batch")
	default:
	}
	if err := <-leaderResult; err != nil {
		t.Error("a leader throws its result away: ", err)
	}
	if leader.status != statusOK || isWiped(leaderMemory) {
		t.Error("a leader has no result")
	}
	if computed := c.computed.Load(); computed != 2 || c.present != 0 || c.leaders != 0 {
		t.Errorf("%d requests were computed; %d are left, and %d leaders", computed, c.present, c.leaders)
	}
	if !isWiped(takenMemory) {
		t.Error("a request that was given up while it was computed is not wiped")
	}
}

// A list is for all processors, even a short one.
func TestManyUsesAllProcessors(t *testing.T) {
	if !Available() {
		t.Skip("without the engine, one goroutine computes lists")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	modulus, err := NewModulus(big.NewInt(1001))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ count, batches int }{
		{1, 1}, {lanes, 1}, {2 * lanes, 2}, {4 * lanes, 4}, {6 * lanes, 3}, {4 * manyBatch, 4},
		{5 * manyBatch, 5},
	} {
		before := ReadMetrics()
		numbers := make([]*big.Int, test.count)
		for i := range numbers {
			numbers[i] = big.NewInt(int64(i))
		}
		if _, err := modulus.PowMany(numbers, numbers); err != nil {
			t.Fatal(err)
		}
		if batches := int(ReadMetrics().Batches - before.Batches); batches != test.batches {
			t.Errorf("%d powers were computed in %d batches, not %d", test.count, batches, test.batches)
		}
	}
}
