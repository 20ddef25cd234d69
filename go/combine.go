package zariz

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Requests of goroutines share batches. A goroutine that finds fewer batches under way than there are
// processors leads: it takes waiting requests with its own, computes them by one call of C, and wakes their
// goroutines. Then it hands the lead to a goroutine that has come meanwhile. Only leaders hold a thread.
// There is no timer, but before a leader computes, it yields to goroutines that are ready (see gather).

// kind says which requests can be in one batch.
type kind int

const (
	private kind = iota
	public
	power
	kinds
)

// operation is what is done with a private key.
type operation int

const (
	sign operation = iota
	decrypt
	number // input^d mod n
	operations
)

// request is one operation, and the goroutine that waits for it.
type request struct {
	operation operation
	algorithm uint32
	owner     *handle // the key or modulus, held until the request is computed
	input     []byte  // digest, ciphertext, number; the base of a power
	other     []byte  // label, signature; the exponent of a power
	output    []byte  // as long as a result can be; then cut to the length of the result
	status    int32

	// Who has it, and whether its goroutine gave up while others computed it: then the leader recycles it. The
	// combiner's mutex guards both.
	place     place
	abandoned bool
	// Gets true if the goroutine must lead, or false when the result is there.
	wake chan bool
	// A copy of the inputs: a caller that gave up may change its own.
	buffer []byte
}

// place says who has a request.
type place int

const (
	inList  place = iota
	leads         // its own goroutine, which leads or is about to learn that it must
	inBatch       // the leader of a batch
	done          // its own goroutine, which has its result or is about to learn so
)

var requests = sync.Pool{New: func() any { return &request{wake: make(chan bool, 1)} }}

func newRequest(operation operation, algorithm uint32, owner *handle, input, other []byte,
	size int) *request {
	r := requests.Get().(*request)
	r.operation, r.algorithm, r.owner = operation, algorithm, owner
	// Grown first, because what append leaves behind is not wiped.
	r.buffer = append(append(slices.Grow(r.buffer[:0], len(input)+len(other)), input...), other...)
	r.input, r.other = r.buffer[:len(input)], r.buffer[len(input):]
	r.output = nil
	if size > 0 {
		r.output = make([]byte, size)
	}
	return r
}

// recycle wipes a request that nobody else holds, and keeps it for reuse.
func recycle(r *request) {
	clear(r.buffer)
	r.owner, r.output, r.abandoned = nil, nil, false
	requests.Put(r)
}

// combiner combines requests of one kind.
type combiner struct {
	kind kind
	// It uses at most one in so many processors.
	share int

	mutex   sync.Mutex
	waiting []*request
	// How many goroutines lead, how many of these still gather requests, and how many may lead.
	leaders, gathering, limit int
	// How many requests wait or are computed: now, and usually.
	present, usual int
	// How long a leader waits for the usual number of requests.
	patience time.Duration
	// No leader yields before this time: the last yield gained nothing.
	noYieldBefore time.Time

	computed, batches, inLargest atomic.Uint64
}

// Operations with longer numbers have combiners of their own, with half of the processors, so that others
// need not wait for them.
const longBits = 4096

var combiners = func() (all [kinds][2]combiner) {
	for kind := range kinds {
		for long := range all[kind] {
			all[kind][long].kind, all[kind][long].share = kind, long+1
		}
	}
	return
}()

func combinerOf(kind kind, bits int) *combiner {
	if bits > longBits {
		return &combiners[kind][1]
	}
	return &combiners[kind][0]
}

// maxBatch is the most requests of a batch. More gain nothing, and the first would wait longer.
var maxBatch = max(16, 2*lanes)

// do computes a request together with those of other goroutines. If there is no error, the request has its
// output and status, and the caller recycles it.
func (c *combiner) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		r.owner.release()
		recycle(r)
		return err
	}
	c.mutex.Lock()
	c.present++
	if c.leaders == 0 || c.leaders < c.limit {
		c.leaders++
		c.gathering++
		r.place = leads
		c.mutex.Unlock()
		c.lead(r)
		return nil
	}
	r.place = inList
	c.waiting = append(c.waiting, r)
	c.mutex.Unlock()

	var mustLead bool
	select {
	case mustLead = <-r.wake:
	case <-ctx.Done():
		if c.leave(r) {
			return ctx.Err()
		}
		mustLead = <-r.wake
	}
	if mustLead {
		c.lead(r)
	}
	return nil
}

// leave gives a request up, unless its goroutine must lead, because others rely on it, or has its result.
func (c *combiner) leave(r *request) bool {
	c.mutex.Lock()
	place := r.place
	switch place {
	case inList:
		i := slices.Index(c.waiting, r)
		c.waiting = slices.Delete(c.waiting, i, i+1)
		c.present--
	case inBatch:
		r.abandoned = true
	}
	c.mutex.Unlock()
	if place == inList {
		r.owner.release()
		recycle(r)
	}
	return place == inList || place == inBatch
}

// lead computes a batch that begins with its own request, and then hands the lead over.
func (c *combiner) lead(own *request) {
	c.mutex.Lock()
	c.gather()
	// Leaders that gather at the same time share what waits. None takes more than its share of all requests,
	// rounded up to full lanes: otherwise one leader would compute most of them while the others compute few,
	// again and again.
	share := (c.present + max(1, c.limit) - 1) / max(1, c.limit)
	share = min((share+lanes-1)/lanes*lanes, maxBatch)
	count := min((len(c.waiting)+c.gathering-1)/c.gathering, share-1)
	c.gathering--
	batch := make([]*request, 1, 64)
	batch[0] = own
	for _, r := range c.waiting[:count] {
		r.place = inBatch
		batch = append(batch, r)
	}
	c.waiting = slices.Delete(c.waiting, 0, count)
	c.mutex.Unlock()

	began := time.Now()
	c.compute(batch)
	took := time.Since(began)

	limit := max(1, runtime.GOMAXPROCS(0)/c.share)
	c.mutex.Lock()
	c.limit, c.patience = limit, min(took/8, 50*time.Microsecond)
	c.present -= len(batch)
	if len(c.waiting) > 0 && c.leaders <= limit {
		next := c.waiting[0]
		c.waiting = slices.Delete(c.waiting, 0, 1)
		next.place = leads
		c.gathering++
		next.wake <- true
	} else {
		c.leaders--
	}
	for _, r := range batch[1:] {
		r.place = done
	}
	c.mutex.Unlock()
	for _, r := range batch[1:] {
		if r.abandoned {
			clear(r.output)
			recycle(r)
		} else {
			r.wake <- false
		}
	}
}

// gather lets ready goroutines bring their requests. Otherwise they would run after the batch has ended, and
// each would find nothing under way and compute only its own request. gather yields once, and then again
// while there are fewer requests than usual for each leader, but at most for an eighth of the time of a
// batch, and 50 µs. After a batch, idle processors take its goroutines one by one, and the first would lead
// before the others are there.
//
// But a ready goroutine may have other work, and keep the processor for ten milliseconds. If the others took
// more than half a millisecond, plus half a millisecond for each request that they brought, no leader yields
// for sixteen times as long. The mutex is locked, except while it yields.
func (c *combiner) gather() {
	c.usual = max(c.present, c.usual-(c.usual-c.present+7)/8)
	wanted := min(maxBatch, (c.usual+max(1, c.limit)-1)/max(1, c.limit))
	began := time.Now()
	if began.Before(c.noYieldBefore) || len(c.waiting)+1 >= maxBatch {
		return
	}
	waited, before := time.Duration(0), len(c.waiting)
	for first := true; first || len(c.waiting)+1 < wanted && waited < c.patience; first = false {
		c.mutex.Unlock()
		runtime.Gosched()
		waited = time.Since(began)
		c.mutex.Lock()
	}
	brought := max(0, len(c.waiting)-before)
	if waited > time.Duration(1+brought)*500*time.Microsecond {
		c.noYieldBefore = began.Add(17 * waited)
	}
}

// compute computes a batch, and releases its keys and moduli.
func (c *combiner) compute(batch []*request) {
	engineCompute(c.kind, batch)
	for _, r := range batch {
		r.owner.release()
	}
	size := uint64(len(batch))
	c.computed.Add(size)
	c.batches.Add(1)
	for old := c.inLargest.Load(); old < size && !c.inLargest.CompareAndSwap(old, size); {
		old = c.inLargest.Load()
	}
}

// many holds the requests of one goroutine, by combiner, and a function that takes each result.
type many map[*combiner]*struct {
	requests []*request
	results  []func()
}

func (m *many) add(kind kind, bits int, r *request, result func()) {
	if *m == nil {
		*m = many{}
	}
	c := combinerOf(kind, bits)
	if (*m)[c] == nil {
		(*m)[c] = new(struct {
			requests []*request
			results  []func()
		})
	}
	(*m)[c].requests = append((*m)[c].requests, r)
	(*m)[c].results = append((*m)[c].results, result)
}

// manyBatch is how many of them are computed by one call of C at most; fewer, if processors would be idle.
const manyBatch = 64

// compute computes all requests, on all processors.
func (m *many) compute() {
	for c, these := range *m {
		processors := max(1, runtime.GOMAXPROCS(0)/c.share)
		each := (len(these.requests) + processors - 1) / processors
		each = min((each+lanes-1)/lanes*lanes, manyBatch)
		chunks := slices.Collect(slices.Chunk(these.requests, each))
		var next atomic.Int64
		var group sync.WaitGroup
		work := func() {
			for i := next.Add(1) - 1; int(i) < len(chunks); i = next.Add(1) - 1 {
				c.compute(chunks[i])
			}
		}
		for range min(len(chunks), processors) - 1 {
			group.Add(1)
			go func() {
				defer group.Done()
				work()
			}()
		}
		work()
		group.Wait()
		for i, r := range these.requests {
			these.results[i]()
			recycle(r)
		}
	}
}

// Metrics counts what the engine computed for this process.
type Metrics struct {
	// Operations that were computed.
	Operations uint64
	// Batches in which they were computed: about as many, if requests rarely come at the same time.
	Batches uint64
	// The most operations of one batch.
	LargestBatch uint64
}

// ReadMetrics returns the counters.
func ReadMetrics() (m Metrics) {
	for kind := range combiners {
		for long := range combiners[kind] {
			c := &combiners[kind][long]
			m.Operations += c.computed.Load()
			m.Batches += c.batches.Load()
			m.LargestBatch = max(m.LargestBatch, c.inLargest.Load())
		}
	}
	return m
}
