package zariz

import (
	"crypto/rand"
	"crypto/rsa"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// The library wipes a key when its handle is freed: once, after the key was closed or collected.
func TestKeysAreFreed(t *testing.T) {
	if !Available() {
		t.Skip("without the engine, there is nothing to free")
	}
	std, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	var freed atomic.Int64
	counted := func() *Key {
		key, err := FromRSA(std)
		if err != nil {
			t.Fatal(err)
		}
		free := key.handle.free
		key.handle.free = func(pointer unsafe.Pointer) {
			freed.Add(1)
			free(pointer)
		}
		return key
	}
	key := counted()
	if err := key.handle.hold(); err != nil {
		t.Fatal(err)
	}
	key.Close()
	key.Close()
	if freed.Load() != 0 {
		t.Error("freed while it was used")
	}
	key.handle.release()
	if freed.Load() != 1 {
		t.Errorf("a closed key was freed %d times", freed.Load())
	}
	key = nil
	counted()
	for deadline := time.Now().Add(10 * time.Second); freed.Load() < 2 && time.Now().Before(deadline); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if freed.Load() != 2 {
		t.Errorf("a collected key and a closed one: freed %d times", freed.Load())
	}
}
