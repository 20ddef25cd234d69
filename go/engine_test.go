//go:build cgo && linux && (amd64 || arm64)

package zariz

import (
	"crypto"
	"testing"
	"unsafe"
)

// A call of C that fails before it writes statuses must not look like one that succeeded.
func TestJobsBeginAsFailures(t *testing.T) {
	if !Available() {
		t.Skip("there are no jobs without the engine")
	}
	r := newRequest(sign, 0, newHandle(nil, nil), []byte("input"), []byte("other"), 8)
	a := borrow(1000)
	defer a.giveBack()
	for _, status := range []int32{int32(a.privateJob(r).status), int32(a.publicJob(r).status),
		int32(a.powJob(r).status)} {
		if statusError(status) == nil {
			t.Error("a job begins with the status of success")
		}
	}
}

// The file with the engine may be older than the module, or newer.
func TestStaleEngine(t *testing.T) {
	for _, fits := range []struct {
		engine       string
		major, minor int
		isRight      bool
	}{
		{"0.1.0", 0, 1, true}, {"0.1.7", 0, 1, true}, {"0.2.0", 0, 1, false}, {"0.1.0", 0, 10, false},
		{"1.1.0", 0, 1, false}, {"1.0.0", 1, 0, true}, {"1.5.2", 1, 3, true}, {"2.5.2", 1, 5, false},
		{"", 0, 1, false}, {"x", 1, 0, false},
	} {
		if message := misfit(fits.engine, fits.major, fits.minor); (message == "") != fits.isRight {
			t.Errorf("%+v: %q", fits, message)
		}
	}
}

// Among several keys, one that cannot be made loses none of the others.
func TestAdoption(t *testing.T) {
	if !Available() {
		t.Skip("there are no handles without the engine")
	}
	pointers, err := engineGenerate(1024, 2)
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]*Key, 3)
	if err := adopt([]unsafe.Pointer{pointers[0], nil, pointers[1]}, keys); err == nil {
		t.Error("NULL is no key")
	}
	if keys[0] == nil || keys[1] != nil || keys[2] == nil {
		t.Fatalf("%v", keys)
	}
	keys[0].Close()
	if _, err := keys[2].Sign(nil, make([]byte, 32), crypto.SHA256); err != nil {
		t.Error(err)
	}
	keys[2].Close()
}
