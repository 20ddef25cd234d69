// Package zariz is RSA and modular exponentiation, many numbers at once in the lanes of vector registers, in
// constant time. On a server that signs much it replaces crypto/rsa by one line:
//
//	key, err := zariz.Load(pem)                     // or zariz.FromRSA(rsaKey)
//	cert := tls.Certificate{..., PrivateKey: key}   // wherever Go takes a crypto.Signer or crypto.Decrypter
//
// A [Key] combines the requests of goroutines: those that come while others are computed are computed
// together, by one call of C. Waiting goroutines hold no thread. [SignMany], [VerifyMany] and
// [Modulus.PowMany] take many at once.
//
// The engine is for Linux on x86-64, and needs cgo. Where it is missing, and in FIPS 140-3 mode, this package
// does the same with crypto/rsa and math/big, at their speed: [Available] and [Reason] say which.
package zariz

import "crypto/fips140"

// Available reports whether zariz's engine is used. If not, [Reason] says why, and crypto/rsa computes.
func Available() bool { return Reason() == "" }

// Reason says why the engine is not used; it is "" if the engine is used.
func Reason() string { return reason }

var reason = func() string {
	if fips140.Enabled() {
		return "the program is in FIPS 140-3 mode (GODEBUG=fips140), and zariz is not a validated module"
	}
	return engineMissing()
}()

// Engine is the name of what computes: an engine of zariz, such as "avx512-ifma", or "crypto/rsa".
func Engine() string {
	if !Available() {
		return "crypto/rsa"
	}
	return engineName()
}

// Lanes is how many numbers the engine computes at once: 8, 4 or 1; 1 without an engine. Batches of a
// multiple of it are the fastest.
func Lanes() int { return lanes }

var lanes = func() int {
	if reason != "" {
		return 1
	}
	return engineLanes()
}()

// Version is that of the engine, such as "0.1.0"; "" without one.
func Version() string {
	if !Available() {
		return ""
	}
	return engineVersion()
}

// CheckFailures is how many private results of this process failed the check with the public exponent. Each
// was computed again, or withheld. If it is not 0, the processor or memory is faulty or attacked, or a key is
// wrong.
func CheckFailures() uint64 {
	if !Available() {
		return 0
	}
	return engineCheckFailures()
}
