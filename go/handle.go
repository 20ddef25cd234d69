package zariz

import (
	"crypto/rsa"
	"sync/atomic"
	"unsafe"
)

// handle is the C library's handle of a key or modulus, and a count of its uses. It is freed, and a private
// key wiped, when it is closed and the last operation with it has ended.
type handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	// Without an engine: the private key, if it is one.
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

// close ends the owner's use. Further calls do nothing.
func (h *handle) close() {
	if !h.isClosed.Swap(true) {
		h.release()
	}
}
