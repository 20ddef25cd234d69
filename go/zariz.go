// Package zariz computes RSA and modular exponentiation, many numbers at once in the lanes of vector
// registers, in constant time. On a server that signs much, one changed line replaces crypto/rsa:
//
//	key, err := zariz.Load(pem)                     // or zariz.FromRSA(rsaKey)
//	cert := tls.Certificate{..., PrivateKey: key}   // wherever Go takes a crypto.Signer or crypto.Decrypter
//
// A [Key] combines the requests of goroutines. Requests that come while others are computed form the next
// batch, which one call of C computes. Waiting goroutines hold no thread. [SignMany], [VerifyMany] and
// [Modulus.PowMany] take many operations at once.
//
// The engine needs Linux on x86-64 or 64-bit Arm, and cgo. Where it is missing, and in FIPS 140-3 mode, this
// package uses crypto/rsa and math/big instead, at their speed. [Available] tells whether the engine is used, and [Reason]
// why not.
package zariz

import "crypto/fips140"

// Available reports whether zariz's engine is used. If not, [Reason] says why, and crypto/rsa computes.
func Available() bool { return Reason() == "" }

// Reason returns why the engine is not used; "" if it is used.
func Reason() string { return reason }

var reason = func() string {
	if fips140.Enabled() {
		return "the program is in FIPS 140-3 mode (GODEBUG=fips140), and zariz is not a validated module"
	}
	return engineMissing()
}()

// Engine returns the name of what computes: an engine of zariz, such as "avx512-ifma", or "crypto/rsa".
func Engine() string {
	if !Available() {
		return "crypto/rsa"
	}
	return engineName()
}

// Lanes returns how many numbers the engine computes at once: 8, 4 or 1; without an engine, 1. Batches are
// fastest if their size is a multiple of it.
func Lanes() int { return lanes }

var lanes = func() int {
	if reason != "" {
		return 1
	}
	return engineLanes()
}()

// Version returns the version of the engine, such as "0.1.0"; without an engine, "".
func Version() string {
	if !Available() {
		return ""
	}
	return engineVersion()
}

// CheckFailures returns how many private results of this process failed the check with the public exponent.
// Each was computed again, or withheld. If it is not 0, the processor or memory is faulty or attacked, or a
// key is wrong.
func CheckFailures() uint64 {
	if !Available() {
		return 0
	}
	return engineCheckFailures()
}
