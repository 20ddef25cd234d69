package zariz

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"runtime"
	"unsafe"
)

// The shortest and the longest modulus of a key, in bits.
const (
	minBits = 1024
	maxBits = 16384
)

// Key is an RSA private key: a [crypto.Signer] and a [crypto.Decrypter], like *rsa.PrivateKey. Any number of
// goroutines may use it at once; those that do share batches.
//
// With the engine, the key is outside of Go's memory. It is wiped when it is closed or collected.
type Key struct {
	public *rsa.PublicKey
	handle *handle
}

var (
	_ crypto.Signer    = (*Key)(nil)
	_ crypto.Decrypter = (*Key)(nil)
)

// Load reads a private key: PKCS #8 or PKCS #1, PEM or DER. A key that is restricted to RSASSA-PSS (RFC 4055)
// is an error.
func Load(data []byte) (*Key, error) { return LoadEncrypted(data, nil) }

// LoadEncrypted reads a private key that may be encrypted (PKCS #8, PBES2). Only the engine can decrypt it.
func LoadEncrypted(data, password []byte) (*Key, error) {
	if Available() {
		pointer, err := engineParsePrivate(data, password)
		if err != nil {
			return nil, err
		}
		return newKey(newHandle(pointer, engineFreePrivate))
	}
	der := data
	for rest := data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		switch block.Type {
		case "ENCRYPTED PRIVATE KEY":
			return nil, errors.New("zariz: the key is encrypted; only the engine can decrypt it, and " + Reason())
		case "PRIVATE KEY", "RSA PRIVATE KEY":
			der, rest = block.Bytes, nil
		}
		if rest == nil {
			break
		}
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return FromRSA(key)
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("zariz: this is no private key in PEM or DER (PKCS #8 or PKCS #1): %w", err)
	}
	rsaKey, isRSA := key.(*rsa.PrivateKey)
	if !isRSA {
		return nil, fmt.Errorf("zariz: this is no RSA key, but a %T", key)
	}
	return FromRSA(rsaKey)
}

// FromRSA makes a Key from a key of crypto/rsa. It checks that the numbers belong together, but not that the
// primes are prime. A key with more than two primes, or with fewer than 1024 or more than 16384 bits, is an
// error: use it with crypto/rsa.
func FromRSA(key *rsa.PrivateKey) (*Key, error) {
	if key == nil || key.N == nil || key.D == nil {
		return nil, errors.New("zariz: the key is nil, or its modulus or private exponent is")
	}
	if len(key.Primes) != 2 {
		return nil, fmt.Errorf("zariz: the key has %d primes, and zariz takes keys of two; use crypto/rsa for it",
			len(key.Primes))
	}
	if err := checkBits(key.N.BitLen()); err != nil {
		return nil, err
	}
	numbers := [8]*big.Int{key.N, big.NewInt(int64(key.E)), key.D, key.Primes[0], key.Primes[1],
		key.Precomputed.Dp, key.Precomputed.Dq, key.Precomputed.Qinv}
	for i, number := range numbers {
		if i < 5 && number == nil || number != nil && number.Sign() <= 0 {
			return nil, errors.New("zariz: a number of the key is nil or not positive")
		}
	}
	if !Available() {
		if err := key.Validate(); err != nil {
			return nil, fmt.Errorf("zariz: %w", err)
		}
		// Precompute writes to the key, so copy the caller's.
		own := *key
		own.Precompute()
		handle := newHandle(nil, nil)
		handle.std = &own
		return keyOf(&rsa.PublicKey{N: own.N, E: own.E}, handle), nil
	}
	if numbers[5] == nil || numbers[6] == nil || numbers[7] == nil {
		numbers[5], numbers[6], numbers[7] = nil, nil, nil
	}
	pointer, err := enginePrivateOf(&numbers)
	if err != nil {
		return nil, err
	}
	return newKey(newHandle(pointer, engineFreePrivate))
}

func checkBits(bits int) error {
	if bits < minBits || bits > maxBits {
		return fmt.Errorf("zariz: the key has %d bits, and zariz takes keys of %d to %d", bits, minBits, maxBits)
	}
	return nil
}

// Generate makes a key with the public exponent 65537.
func Generate(bits int) (*Key, error) {
	keys, err := GenerateMany(bits, 1)
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

// GenerateMany makes count keys, on all processors. That takes less time than to make them one by one.
func GenerateMany(bits, count int) ([]*Key, error) {
	if count < 0 {
		return nil, fmt.Errorf("zariz: %d keys cannot be made", count)
	}
	if err := checkBits(bits); err != nil {
		return nil, err
	}
	keys, errs := make([]*Key, count), make(chan error)
	makers := min(count, runtime.GOMAXPROCS(0))
	for i := range makers {
		part := keys[i*count/makers : (i+1)*count/makers]
		go func() { errs <- generate(bits, part) }()
	}
	var err error
	for range makers {
		err = errors.Join(err, <-errs)
	}
	if err != nil {
		for _, key := range keys {
			if key != nil {
				key.Close()
			}
		}
		return nil, err
	}
	return keys, nil
}

func generate(bits int, keys []*Key) error {
	if Available() {
		pointers, err := engineGenerate(bits, len(keys))
		if err != nil {
			return err
		}
		return adopt(pointers, keys)
	}
	for i := range keys {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err == nil {
			keys[i], err = FromRSA(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adopt makes keys of handles of the engine. If one cannot be made, the others are all the same, for the
// caller to close.
func adopt(pointers []unsafe.Pointer, keys []*Key) (err error) {
	for i, pointer := range pointers {
		key, failure := newKey(newHandle(pointer, engineFreePrivate))
		keys[i], err = key, errors.Join(err, failure)
	}
	return err
}

// newKey makes the key of a handle of the engine.
func newKey(handle *handle) (*Key, error) {
	public, err := publicOf(handle.pointer)
	if err != nil {
		handle.close()
		return nil, err
	}
	return keyOf(public, handle), nil
}

// publicOf returns the public key of a private one of the engine. A key restricted to RSASSA-PSS is an
// error, as in crypto/x509: an rsa.PublicKey has no restrictions, and paddings that are made here would pass
// the engine's check.
func publicOf(private unsafe.Pointer) (*rsa.PublicKey, error) {
	der, err := enginePublicDer(private)
	if err != nil {
		return nil, err
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &info); err == nil && info.Algorithm.Algorithm.Equal(rsassaPss) {
		return nil, errors.New("zariz: the key is restricted to RSASSA-PSS, which this package and crypto/x509 " +
			"do not support: convert it to an ordinary RSA key (rsaEncryption)")
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("zariz: the public key is not one of crypto/rsa: %w", err)
	}
	return key.(*rsa.PublicKey), nil
}

var rsassaPss = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

func keyOf(public *rsa.PublicKey, h *handle) *Key {
	key := &Key{public, h}
	runtime.AddCleanup(key, (*handle).close, h)
	return key
}

// Close wipes the key, as soon as the operations under way have ended. Later ones return [ErrClosed]. Without
// the engine nothing is wiped: the key stays in Go's memory until that is reused. A key that is not closed is
// wiped when it is collected.
func (k *Key) Close() error {
	k.handle.close()
	return nil
}

// Public returns an *rsa.PublicKey.
func (k *Key) Public() crypto.PublicKey { return k.public }

// Equal reports whether two keys have the same public key.
func (k *Key) Equal(other crypto.PrivateKey) bool {
	otherKey, isKey := other.(*Key)
	return isKey && k.public.Equal(otherKey.public)
}

// Size returns the length of signatures and ciphertexts, in bytes.
func (k *Key) Size() int { return k.public.Size() }

// RSA returns the key as a key of crypto/rsa, so that crypto/x509 can write it to a file.
func (k *Key) RSA() (*rsa.PrivateKey, error) {
	if err := k.handle.hold(); err != nil {
		return nil, err
	}
	defer k.handle.release()
	if k.handle.std != nil {
		key := *k.handle.std
		return &key, nil
	}
	n, err := enginePrivateNumbers(k.handle.pointer)
	if err != nil {
		return nil, err
	}
	key := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: n[0], E: int(n[1].Int64())},
		D:         n[2],
		Primes:    []*big.Int{n[3], n[4]},
	}
	key.Precompute()
	return key, nil
}

// Sign signs a digest: with PKCS #1 v1.5, or PSS if opts is an *[rsa.PSSOptions]. Options and errors are
// those of [rsa.PrivateKey.Sign]. rand is ignored: the random numbers for salts and blinding come from the
// operating system.
func (k *Key) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return k.SignContext(context.Background(), digest, opts)
}

// SignMessage hashes and signs a message; it makes a [crypto.MessageSigner] of the key. Like Sign, it signs
// the message as it is if the hash is 0.
func (k *Key) SignMessage(rand io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	hash, err := hashOf(opts)
	if err != nil {
		return nil, err
	}
	if hash == 0 {
		return k.Sign(rand, message, opts)
	}
	if !hash.Available() {
		return nil, errHash(hash)
	}
	hasher := hash.New()
	hasher.Write(message)
	return k.Sign(rand, hasher.Sum(nil), opts)
}

// SignContext is Sign, with a context that ends the wait. If another goroutine computes the request already,
// its result is thrown away. A goroutine that computes, for itself and others, finishes that and returns the
// result.
func (k *Key) SignContext(ctx context.Context, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	r, err := k.toSign(digest, opts)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return k.fallback(ctx, func(key *rsa.PrivateKey) ([]byte, error) {
			return key.Sign(rand.Reader, digest, opts)
		})
	}
	if err := combinerOf(private, k.public.N.BitLen()).do(ctx, r); err != nil {
		return nil, err
	}
	defer recycle(r)
	return r.result()
}

// toSign checks the arguments, and makes a request for the engine; nil without an engine.
func (k *Key) toSign(digest []byte, opts crypto.SignerOpts) (*request, error) {
	s, err := readSignature(opts, digest, k.public.N.BitLen())
	if err != nil || k.handle.std != nil {
		return nil, err
	}
	if err := k.handle.hold(); err != nil {
		return nil, err
	}
	if !s.isOurs() {
		return newRequest(number, 0, k.handle, s.padded(digest, k.Size()), nil, k.Size()), nil
	}
	return newRequest(sign, s.algorithm(), k.handle, digest, nil, k.Size()), nil
}

// fallback computes with crypto/rsa.
func (k *Key) fallback(ctx context.Context, f func(*rsa.PrivateKey) ([]byte, error)) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := k.handle.hold(); err != nil {
		return nil, err
	}
	defer k.handle.release()
	return f(k.handle.std)
}

// SignJob is a signature for [SignMany].
type SignJob struct {
	Key    *Key
	Digest []byte
	Opts   crypto.SignerOpts
	// SignMany writes one of these two.
	Signature []byte
	Err       error
}

// SignMany makes signatures, each with its own key and options; the engine uses all processors. Each job
// succeeds or fails on its own.
func SignMany(jobs []SignJob) {
	var many many
	for i := range jobs {
		job := &jobs[i]
		job.Signature, job.Err = nil, errNoKey
		if job.Key == nil {
			continue
		}
		r, err := job.Key.toSign(job.Digest, job.Opts)
		if job.Err = err; err != nil {
			continue
		}
		if r == nil {
			job.Signature, job.Err = job.Key.Sign(nil, job.Digest, job.Opts)
			continue
		}
		many.add(private, job.Key.public.N.BitLen(), r, func() {
			job.Signature, job.Err = r.result()
		})
	}
	many.compute()
}
