package zariz

import (
	"crypto/rsa"
	"sync/atomic"
	"unsafe"
)

// handle is what the C library knows a key or modulus by, and how many use it. It is freed, and a private key
// wiped, when it is closed and the last operation with it has ended.
type handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	// Without an engine: the key, if it is private.
	std *rsa.PrivateKey

	uses     atomic.Int64
	isClosed atomic.Bool
}

func newHandle(pointer unsafe.Pointer, free func(unsafe.Pointer)) *handle {
	h := &handle{pointer: pointer, free: free}
	h.uses.Store(1)
	return h
}

// hold begins a use.
func (h *handle) hold() error {
	for {
		uses := h.uses.Load()
		if uses == 0 || h.isClosed.Load() {
			return ErrClosed
		}
		if h.uses.CompareAndSwap(uses, uses+1) {
			return nil
		}
	}
}

// release ends a use.
func (h *handle) release() {
	if h.uses.Add(-1) == 0 && h.pointer != nil {
		h.free(h.pointer)
	}
}

// close ends the use of the owner, once.
func (h *handle) close() {
	if !h.isClosed.Swap(true) {
		h.release()
	}
}
