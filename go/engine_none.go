//go:build !(cgo && linux && (amd64 || arm64))

package zariz

import (
	"math/big"
	"unsafe"
)

const noEngine = "this build has no engine: it needs cgo (CGO_ENABLED=1 and a C compiler), Linux, and x86-64 or 64-bit Arm"

func engineMissing() string { return noEngine }

// Nothing below is called without an engine.

func engineName() string              { panic(noEngine) }
func engineLanes() int                { panic(noEngine) }
func engineVersion() string           { panic(noEngine) }
func engineCheckFailures() uint64     { panic(noEngine) }
func engineStatusText(int32) string   { panic(noEngine) }
func enginePkcs1v15(uint32) uint32    { panic(noEngine) }
func enginePss(_, _, _ uint32) uint32 { panic(noEngine) }
func engineOaep(_, _ uint32) uint32   { panic(noEngine) }
func engineCompute(kind, []*request)  { panic(noEngine) }

func engineParsePrivate(_, _ []byte) (unsafe.Pointer, error)   { panic(noEngine) }
func enginePrivateOf(*[8]*big.Int) (unsafe.Pointer, error)     { panic(noEngine) }
func enginePrivateNumbers(unsafe.Pointer) ([8]*big.Int, error) { panic(noEngine) }
func engineGenerate(_, _ int) ([]unsafe.Pointer, error)        { panic(noEngine) }
func enginePublicDer(unsafe.Pointer) ([]byte, error)           { panic(noEngine) }
func enginePublicOf(_, _ *big.Int) (unsafe.Pointer, error)     { panic(noEngine) }
func engineModulusOf(*big.Int) (unsafe.Pointer, error)         { panic(noEngine) }
func engineFreePrivate(unsafe.Pointer)                         { panic(noEngine) }
func engineFreePublic(unsafe.Pointer)                          { panic(noEngine) }
func engineFreeModulus(unsafe.Pointer)                         { panic(noEngine) }
