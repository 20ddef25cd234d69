//go:build cgo && linux && (amd64 || arm64)

package zariz

// The engine is internal/syso/zariz_linux_GOARCH.syso. The Go tool links such files by itself, so a program
// needs no flags, no pkg-config and no installed library, and has the engine in it. All functions are weak:
// without the file, a program still links, and finds that they are NULL. The alternatives are worse: every
// build would need a build tag, or libzariz.so would have to be installed where the program runs.

/*
#cgo LDFLAGS: -lm -ldl -lpthread -static-libgcc
#include <stdlib.h>
#include <string.h>
#include "zariz.h"

#pragma weak zariz_version
#pragma weak zariz_engine
#pragma weak zariz_lanes
#pragma weak zariz_check_failures
#pragma weak zariz_status_text
#pragma weak zariz_last_error
#pragma weak zariz_pkcs1v15
#pragma weak zariz_pss
#pragma weak zariz_oaep
#pragma weak zariz_sign_many
#pragma weak zariz_decrypt_many
#pragma weak zariz_private_many
#pragma weak zariz_verify_many
#pragma weak zariz_pow_many
#pragma weak zariz_private_key_parse
#pragma weak zariz_private_key_from_numbers
#pragma weak zariz_private_key_numbers
#pragma weak zariz_private_key_generate
#pragma weak zariz_private_key_public
#pragma weak zariz_private_key_free
#pragma weak zariz_public_key_from_numbers
#pragma weak zariz_public_key_to_der
#pragma weak zariz_public_key_free
#pragma weak zariz_modulus_new
#pragma weak zariz_modulus_free
#pragma weak zariz_buffer_free

static int zgo_is_linked(void) { return zariz_version != NULL; }

// A batch of private operations: signatures, then decryptions, then numbers. Statuses are in the jobs: a call
// that fails before it writes them leaves ZARIZ_INTERNAL there, with which jobs begin.
static void zgo_private(zariz_private_job *jobs, size_t signatures, size_t decryptions, size_t numbers) {
	if (signatures) zariz_sign_many(jobs, signatures);
	if (decryptions) zariz_decrypt_many(jobs + signatures, decryptions);
	if (numbers) zariz_private_many(jobs + signatures + decryptions, numbers);
}
static void zgo_verify(zariz_public_job *jobs, size_t count) { zariz_verify_many(jobs, count); }
static void zgo_pow(zariz_pow_job *jobs, size_t count) { zariz_pow_many(jobs, count); }

// The message of a failure belongs to the thread, so it is copied before Go may continue on another thread.
#define MESSAGE 512
static int32_t zgo_failed(int32_t status, char *message) {
	if (status != ZARIZ_OK) {
		strncpy(message, zariz_last_error(), MESSAGE - 1);
		message[MESSAGE - 1] = 0;
	}
	return status;
}
static int32_t zgo_parse(const uint8_t *data, size_t len, const uint8_t *password, size_t password_len,
                         zariz_private_key **key, char *message) {
	return zgo_failed(zariz_private_key_parse(data, len, password, password_len, key), message);
}
static int32_t zgo_private_of(const zariz_bytes *numbers, zariz_private_key **key, char *message) {
	zariz_private_numbers it = { numbers[0], numbers[1], numbers[2], numbers[3],
	                             numbers[4], numbers[5], numbers[6], numbers[7] };
	return zgo_failed(zariz_private_key_from_numbers(&it, key), message);
}
static int32_t zgo_public_of(const zariz_bytes *numbers, zariz_public_key **key, char *message) {
	return zgo_failed(zariz_public_key_from_numbers(numbers[0], numbers[1], key), message);
}
static int32_t zgo_modulus_of(const zariz_bytes *number, zariz_modulus **modulus, char *message) {
	return zgo_failed(zariz_modulus_new(*number, modulus), message);
}
static int32_t zgo_generate(size_t bits, size_t count, zariz_private_key **keys, char *message) {
	return zgo_failed(zariz_private_key_generate(bits, count, keys), message);
}
static int32_t zgo_public_der(const zariz_private_key *key, zariz_buffer *der, char *message) {
	zariz_public_key *public_key;
	int32_t status = zariz_private_key_public(key, &public_key);
	if (status == ZARIZ_OK) {
		status = zariz_public_key_to_der(public_key, der);
		zariz_public_key_free(public_key);
	}
	return zgo_failed(status, message);
}

#cgo noescape zgo_private
#cgo nocallback zgo_private
#cgo noescape zgo_verify
#cgo nocallback zgo_verify
#cgo noescape zgo_pow
#cgo nocallback zgo_pow
#cgo noescape zariz_pkcs1v15
#cgo nocallback zariz_pkcs1v15
#cgo noescape zariz_pss
#cgo nocallback zariz_pss
#cgo noescape zariz_oaep
#cgo nocallback zariz_oaep
*/
import "C"

import (
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"sync"
	"unsafe"

	_ "example.org/zariz/internal/syso"
)

const engineFile = "internal/syso/zariz_linux_" + runtime.GOARCH + ".syso"

func engineMissing() string {
	if C.zgo_is_linked() == 0 {
		return "the file " + engineFile + " is missing in the module: make it with `cargo xtask go`, and build again"
	}
	return misfit(engineVersion(), C.ZARIZ_VERSION_MAJOR, C.ZARIZ_VERSION_MINOR)
}

// misfit says if an engine of a version is not for the header of another: the file is older or newer.
func misfit(engine string, major, minor int) string {
	var theirMajor, theirMinor int
	fmt.Sscanf(engine, "%d.%d.", &theirMajor, &theirMinor)
	if theirMajor == major && (major > 0 || theirMinor == minor) {
		return ""
	}
	return fmt.Sprintf("the file "+engineFile+" has version %s of the engine, and the module is for %d.%d: make it "+
		"with `cargo xtask go`, and build again", engine, major, minor)
}

func engineName() string          { return C.GoString(C.zariz_engine()) }
func engineLanes() int            { return int(C.zariz_lanes()) }
func engineVersion() string       { return C.GoString(C.zariz_version()) }
func engineCheckFailures() uint64 { return uint64(C.zariz_check_failures()) }
func engineStatusText(status int32) string {
	return C.GoString(C.zariz_status_text(C.zariz_status(status)))
}
func enginePkcs1v15(hash uint32) uint32 {
	return uint32(C.zariz_pkcs1v15(C.uint32_t(hash))) | C.ZARIZ_DIGEST
}
func enginePss(hash, mask, salt uint32) uint32 {
	return uint32(C.zariz_pss(C.uint32_t(hash), C.uint32_t(mask), C.uint32_t(salt))) | C.ZARIZ_DIGEST
}
func engineOaep(hash, mask uint32) uint32 {
	return uint32(C.zariz_oaep(C.uint32_t(hash), C.uint32_t(mask)))
}

// arena is memory of C for a batch: an array of jobs, and then their bytes. All that C reads and writes is
// outside of Go's memory, so a call needs no pinning and no checks of pointers.
type arena struct {
	memory unsafe.Pointer
	size   uintptr
	used   uintptr
}

var arenas = sync.Pool{New: func() any { return new(arena) }}

// borrow returns an arena of at least so many bytes.
func borrow(size uintptr) *arena {
	a := arenas.Get().(*arena)
	if a.size < size {
		// Make a larger one, with a cleanup for its memory. The smaller one is left to the collector.
		a = &arena{memory: C.malloc(C.size_t(size)), size: size}
		runtime.AddCleanup(a, func(memory unsafe.Pointer) { C.free(memory) }, a.memory)
	}
	a.used = 0
	return a
}

// giveBack wipes the bytes that were used, and keeps the arena for reuse.
func (a *arena) giveBack() {
	clear(unsafe.Slice((*byte)(a.memory), a.used))
	arenas.Put(a)
}

// room reserves bytes, aligned to eight.
func (a *arena) room(size int) []byte {
	place := unsafe.Add(a.memory, a.used)
	a.used += rounded(size)
	return unsafe.Slice((*byte)(place), size)
}

func rounded(size int) uintptr { return (uintptr(size) + 7) &^ 7 }

func (a *arena) copy(from []byte) C.zariz_bytes {
	to := a.room(len(from))
	copy(to, from)
	return bytesOf(to)
}

func bytesOf(memory []byte) C.zariz_bytes {
	return C.zariz_bytes{data: (*C.uint8_t)(unsafe.SliceData(memory)), len: C.size_t(len(memory))}
}

// engineCompute computes requests of one kind by one call of C.
func engineCompute(kind kind, batch []*request) {
	var job C.zariz_private_job
	perJob := unsafe.Sizeof(job) // a public job has the same size, and a job of a power is smaller
	size := perJob * uintptr(len(batch))
	for _, r := range batch {
		size += rounded(len(r.input)) + rounded(len(r.other)) + rounded(len(r.output))
	}
	a := borrow(size)
	defer a.giveBack()
	jobs := unsafe.Pointer(unsafe.SliceData(a.room(int(perJob) * len(batch))))
	switch kind {
	case private:
		a.private(unsafe.Slice((*C.zariz_private_job)(jobs), len(batch)), batch)
	case public:
		a.verify(unsafe.Slice((*C.zariz_public_job)(jobs), len(batch)), batch)
	case power:
		a.pow(unsafe.Slice((*C.zariz_pow_job)(jobs), len(batch)), batch)
	}
}

func (a *arena) private(jobs []C.zariz_private_job, batch []*request) {
	var counts [operations]C.size_t
	order := make([]*request, 0, manyBatch)
	for operation := range operations {
		for _, r := range batch {
			if r.operation != operation {
				continue
			}
			jobs[len(order)] = a.privateJob(r)
			order = append(order, r)
			counts[operation]++
		}
	}
	C.zgo_private(&jobs[0], counts[sign], counts[decrypt], counts[number])
	for i, r := range order {
		r.finish(int32(jobs[i].status), unsafe.Pointer(jobs[i].output), int(jobs[i].output_len))
	}
}

func (a *arena) privateJob(r *request) C.zariz_private_job {
	output := a.room(len(r.output))
	return C.zariz_private_job{
		key:       (*C.zariz_private_key)(r.owner.pointer),
		algorithm: C.uint32_t(r.algorithm),
		input:     a.copy(r.input),
		label:     a.copy(r.other),
		output:    (*C.uint8_t)(unsafe.SliceData(output)),
		capacity:  C.size_t(len(output)),
		status:    C.ZARIZ_INTERNAL,
	}
}

func (a *arena) verify(jobs []C.zariz_public_job, batch []*request) {
	for i, r := range batch {
		jobs[i] = a.publicJob(r)
	}
	C.zgo_verify(&jobs[0], C.size_t(len(jobs)))
	for i, r := range batch {
		r.status = int32(jobs[i].status)
	}
}

func (a *arena) publicJob(r *request) C.zariz_public_job {
	return C.zariz_public_job{
		key:       (*C.zariz_public_key)(r.owner.pointer),
		algorithm: C.uint32_t(r.algorithm),
		input:     a.copy(r.input),
		other:     a.copy(r.other),
		status:    C.ZARIZ_INTERNAL,
	}
}

func (a *arena) pow(jobs []C.zariz_pow_job, batch []*request) {
	for i, r := range batch {
		jobs[i] = a.powJob(r)
	}
	C.zgo_pow(&jobs[0], C.size_t(len(jobs)))
	for i, r := range batch {
		r.finish(int32(jobs[i].status), unsafe.Pointer(jobs[i].output), len(r.output))
	}
}

func (a *arena) powJob(r *request) C.zariz_pow_job {
	output := a.room(len(r.output))
	return C.zariz_pow_job{
		modulus:  (*C.zariz_modulus)(r.owner.pointer),
		base:     a.copy(r.input),
		exponent: a.copy(r.other),
		output:   (*C.uint8_t)(unsafe.SliceData(output)),
		capacity: C.size_t(len(output)),
		status:   C.ZARIZ_INTERNAL,
	}
}

// finish takes a result.
func (r *request) finish(status int32, output unsafe.Pointer, size int) {
	r.status = status
	if status == statusOK {
		r.output = r.output[:copy(r.output, unsafe.Slice((*byte)(output), size))]
	}
}

// attempt runs a function of C that leaves a message if it fails.
func attempt(function func(message *C.char) C.int32_t) error {
	message := (*C.char)(C.calloc(1, C.MESSAGE))
	defer C.free(unsafe.Pointer(message))
	if status := int32(function(message)); status != statusOK {
		return errors.New("zariz: " + C.GoString(message))
	}
	return nil
}

// withNumbers hands numbers to C. Those that are nil become empty.
func withNumbers(numbers []*big.Int, use func(numbers *C.zariz_bytes)) {
	var one C.zariz_bytes
	perNumber := unsafe.Sizeof(one)
	size := perNumber * uintptr(len(numbers))
	for _, n := range numbers {
		if n != nil {
			size += rounded((n.BitLen() + 7) / 8)
		}
	}
	a := borrow(size)
	defer a.giveBack()
	list := unsafe.Slice((*C.zariz_bytes)(unsafe.Pointer(unsafe.SliceData(a.room(int(perNumber)*len(numbers))))),
		len(numbers))
	for i, n := range numbers {
		list[i] = C.zariz_bytes{}
		if n != nil {
			list[i] = bytesOf(n.FillBytes(a.room((n.BitLen() + 7) / 8)))
		}
	}
	use(&list[0])
}

// takeNumbers makes numbers of Go from numbers of C, and has C wipe its own.
func takeNumbers(buffers []C.zariz_buffer) []*big.Int {
	numbers := make([]*big.Int, len(buffers))
	for i := range buffers {
		bytes := unsafe.Slice((*byte)(buffers[i].data), buffers[i].len)
		numbers[i] = new(big.Int).SetBytes(bytes)
		C.zariz_buffer_free(&buffers[i])
	}
	return numbers
}

func engineParsePrivate(data, password []byte) (unsafe.Pointer, error) {
	var key *C.zariz_private_key
	bytes := func(s []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(s)) }
	err := attempt(func(message *C.char) C.int32_t {
		return C.zgo_parse(bytes(data), C.size_t(len(data)), bytes(password), C.size_t(len(password)), &key,
			message)
	})
	return unsafe.Pointer(key), err
}

// enginePrivateOf makes a key from n, e, d, p, q, dp, dq and qinv; the last three may be nil.
func enginePrivateOf(numbers *[8]*big.Int) (unsafe.Pointer, error) {
	var key *C.zariz_private_key
	var err error
	withNumbers(numbers[:], func(numbers *C.zariz_bytes) {
		err = attempt(func(message *C.char) C.int32_t { return C.zgo_private_of(numbers, &key, message) })
	})
	return unsafe.Pointer(key), err
}

// enginePrivateNumbers returns these numbers of a key.
func enginePrivateNumbers(key unsafe.Pointer) (numbers [8]*big.Int, err error) {
	var buffers [8]C.zariz_buffer
	if status := C.zariz_private_key_numbers((*C.zariz_private_key)(key), &buffers[0]); status != statusOK {
		return numbers, statusError(int32(status))
	}
	copy(numbers[:], takeNumbers(buffers[:]))
	return numbers, nil
}

func engineGenerate(bits, count int) ([]unsafe.Pointer, error) {
	keys := make([]unsafe.Pointer, count)
	err := attempt(func(message *C.char) C.int32_t {
		list := (**C.zariz_private_key)(unsafe.Pointer(unsafe.SliceData(keys)))
		return C.zgo_generate(C.size_t(bits), C.size_t(count), list, message)
	})
	return keys, err
}

// enginePublicDer returns the public key of a private one (SubjectPublicKeyInfo).
func enginePublicDer(key unsafe.Pointer) ([]byte, error) {
	var der C.zariz_buffer
	err := attempt(func(message *C.char) C.int32_t {
		return C.zgo_public_der((*C.zariz_private_key)(key), &der, message)
	})
	if err != nil {
		return nil, err
	}
	defer C.zariz_buffer_free(&der)
	return C.GoBytes(unsafe.Pointer(der.data), C.int(der.len)), nil
}

func enginePublicOf(n, e *big.Int) (unsafe.Pointer, error) {
	var key *C.zariz_public_key
	var err error
	withNumbers([]*big.Int{n, e}, func(numbers *C.zariz_bytes) {
		err = attempt(func(message *C.char) C.int32_t { return C.zgo_public_of(numbers, &key, message) })
	})
	return unsafe.Pointer(key), err
}

func engineModulusOf(n *big.Int) (unsafe.Pointer, error) {
	var modulus *C.zariz_modulus
	var err error
	withNumbers([]*big.Int{n}, func(number *C.zariz_bytes) {
		err = attempt(func(message *C.char) C.int32_t { return C.zgo_modulus_of(number, &modulus, message) })
	})
	return unsafe.Pointer(modulus), err
}

func engineFreePrivate(key unsafe.Pointer)     { C.zariz_private_key_free((*C.zariz_private_key)(key)) }
func engineFreePublic(key unsafe.Pointer)      { C.zariz_public_key_free((*C.zariz_public_key)(key)) }
func engineFreeModulus(modulus unsafe.Pointer) { C.zariz_modulus_free((*C.zariz_modulus)(modulus)) }
