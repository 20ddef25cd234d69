package zariz

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"unsafe"
)

// PublicKey verifies signatures. Any number of goroutines may use it at once; those that do share batches.
// Make one for each key, not for each signature.
type PublicKey struct {
	public *rsa.PublicKey
	handle *handle
}

// NewPublicKey makes a PublicKey from one of crypto/rsa, such as that of a [Key] or certificate.
func NewPublicKey(key *rsa.PublicKey) (*PublicKey, error) {
	if key == nil || key.N == nil || key.N.Sign() <= 0 || key.E < 3 {
		return nil, errors.New("zariz: the public key is nil, or its modulus or exponent is too small")
	}
	if err := checkBits(key.N.BitLen()); err != nil {
		return nil, err
	}
	var pointer unsafe.Pointer // nil without the engine
	if Available() {
		var err error
		if pointer, err = enginePublicOf(key.N, big.NewInt(int64(key.E))); err != nil {
			return nil, err
		}
	}
	p := &PublicKey{&rsa.PublicKey{N: new(big.Int).Set(key.N), E: key.E}, newHandle(pointer, engineFreePublic)}
	runtime.AddCleanup(p, (*handle).close, p.handle)
	return p, nil
}

// LoadPublic reads a public key: SubjectPublicKeyInfo or PKCS #1, PEM or DER.
func LoadPublic(data []byte) (*PublicKey, error) {
	if block, _ := pem.Decode(data); block != nil {
		data = block.Bytes
	}
	if key, err := x509.ParsePKCS1PublicKey(data); err == nil {
		return NewPublicKey(key)
	}
	key, err := x509.ParsePKIXPublicKey(data)
	if err != nil {
		return nil, fmt.Errorf("zariz: this is no public key in PEM or DER: %w", err)
	}
	rsaKey, isRSA := key.(*rsa.PublicKey)
	if !isRSA {
		return nil, fmt.Errorf("zariz: this is no RSA key, but a %T", key)
	}
	return NewPublicKey(rsaKey)
}

// Close frees the key, as soon as verifications under way have ended. Later ones return [ErrClosed]. A key
// that is not closed is freed when it is collected.
func (p *PublicKey) Close() error {
	p.handle.close()
	return nil
}

// RSA returns the key as one of crypto/rsa.
func (p *PublicKey) RSA() *rsa.PublicKey { return p.public }

// Verify checks a signature of a digest: PKCS #1 v1.5, or PSS if opts is an *[rsa.PSSOptions]. If the
// signature is not valid, the error is [rsa.ErrVerification].
func (p *PublicKey) Verify(digest, signature []byte, opts crypto.SignerOpts) error {
	return p.VerifyContext(context.Background(), digest, signature, opts)
}

// VerifyContext is Verify, with a context that ends the wait.
func (p *PublicKey) VerifyContext(ctx context.Context, digest, signature []byte,
	opts crypto.SignerOpts) error {
	r, err := p.toVerify(digest, signature, opts)
	if err != nil {
		return err
	}
	if r == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		return p.fallback(digest, signature, opts)
	}
	if err := combinerOf(public, p.public.N.BitLen()).do(ctx, r); err != nil {
		return err
	}
	defer recycle(r)
	return statusError(r.status)
}

// toVerify checks the arguments, and makes a request for the engine; nil if crypto/rsa must verify.
func (p *PublicKey) toVerify(digest, signature []byte, opts crypto.SignerOpts) (*request, error) {
	s, err := readSignature(opts, digest, p.public.N.BitLen())
	if errors.Is(err, rsa.ErrMessageTooLong) || err == nil && len(signature) != p.public.Size() {
		return nil, rsa.ErrVerification
	}
	if err != nil {
		return nil, err
	}
	if err := p.handle.hold(); err != nil {
		return nil, err
	}
	if p.handle.pointer == nil || !s.isOurs() {
		p.handle.release()
		return nil, nil
	}
	return newRequest(0, s.algorithm(), p.handle, digest, signature, 0), nil
}

func (p *PublicKey) fallback(digest, signature []byte, opts crypto.SignerOpts) error {
	if pss, isPss := opts.(*rsa.PSSOptions); isPss {
		if !pss.Hash.Available() {
			return errHash(pss.Hash)
		}
		return rsa.VerifyPSS(p.public, pss.Hash, digest, signature, pss)
	}
	return rsa.VerifyPKCS1v15(p.public, opts.HashFunc(), digest, signature)
}

// VerifyJob is a signature for [VerifyMany].
type VerifyJob struct {
	Key               *PublicKey
	Digest, Signature []byte
	Opts              crypto.SignerOpts
	// VerifyMany writes it: nil if the signature is valid, otherwise the error that [PublicKey.Verify]
	// returns.
	Err error
}

// VerifyMany checks signatures, each with its own key and options; the engine uses all processors.
func VerifyMany(jobs []VerifyJob) {
	var many many
	for i := range jobs {
		job := &jobs[i]
		if job.Key == nil {
			job.Err = errNoKey
			continue
		}
		r, err := job.Key.toVerify(job.Digest, job.Signature, job.Opts)
		switch {
		case err != nil:
			job.Err = err
		case r == nil:
			job.Err = job.Key.fallback(job.Digest, job.Signature, job.Opts)
		default:
			many.add(public, job.Key.public.N.BitLen(), r, func() { job.Err = statusError(r.status) })
		}
	}
	many.compute()
}
