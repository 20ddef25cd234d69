package zariz

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"errors"
	"io"
)

// Decrypt decrypts a ciphertext. As with [rsa.PrivateKey.Decrypt], opts is nil or
// *[rsa.PKCS1v15DecryptOptions] for PKCS #1 v1.5, or *[rsa.OAEPOptions]. rand is ignored.
//
// If the padding of PKCS #1 v1.5 is wrong, the error is [rsa.ErrDecryption]. An attacker who sees it can use
// it to decrypt (Bleichenbacher). With SessionKeyLen, the result is a random key instead, in the same time,
// as TLS needs it.
func (k *Key) Decrypt(_ io.Reader, ciphertext []byte, opts crypto.DecrypterOpts) ([]byte, error) {
	return k.DecryptContext(context.Background(), ciphertext, opts)
}

// DecryptContext is Decrypt, with a context that ends the wait.
func (k *Key) DecryptContext(ctx context.Context, ciphertext []byte, opts crypto.DecrypterOpts) ([]byte,
	error) {
	switch o := opts.(type) {
	case nil:
		return k.decryptPkcs1v15(ctx, ciphertext, 0)
	case *rsa.PKCS1v15DecryptOptions:
		if o != nil {
			return k.decryptPkcs1v15(ctx, ciphertext, o.SessionKeyLen)
		}
	case *rsa.OAEPOptions:
		if o != nil {
			return k.decryptOaep(ctx, ciphertext, o)
		}
	}
	return nil, errors.New("zariz: opts for Decrypt is nil, *rsa.PKCS1v15DecryptOptions or *rsa.OAEPOptions")
}

func (k *Key) decryptOaep(ctx context.Context, ciphertext []byte, o *rsa.OAEPOptions) ([]byte, error) {
	mask := o.MGFHash
	if mask == 0 {
		mask = o.Hash
	}
	for _, hash := range []crypto.Hash{o.Hash, mask} {
		if hashCodes[hash] == 0 {
			return nil, errHash(hash)
		}
	}
	if k.handle.std != nil {
		if !o.Hash.Available() || !mask.Available() {
			return nil, errors.New("zariz: the package of the hash is not in the program")
		}
		return k.fallback(ctx, func(key *rsa.PrivateKey) ([]byte, error) {
			return key.Decrypt(nil, ciphertext, o)
		})
	}
	if k.Size() < 2*o.Hash.Size()+2 {
		return nil, rsa.ErrDecryption
	}
	return k.raw(ctx, decrypt, engineOaep(hashCodes[o.Hash], hashCodes[mask]), ciphertext, o.Label)
}

// raw computes an operation on a ciphertext by the engine.
func (k *Key) raw(ctx context.Context, op operation, algorithm uint32, ciphertext, label []byte) ([]byte,
	error) {
	// Like crypto/rsa, accept ciphertexts that have lost their leading zeros.
	size := k.Size()
	if len(ciphertext) > size {
		return nil, rsa.ErrDecryption
	}
	if len(ciphertext) < size {
		ciphertext = append(make([]byte, size-len(ciphertext), size), ciphertext...)
	}
	if err := k.handle.hold(); err != nil {
		return nil, err
	}
	r := newRequest(op, algorithm, k.handle, ciphertext, label, size)
	if err := combinerOf(private, k.public.N.BitLen()).do(ctx, r); err != nil {
		return nil, err
	}
	defer recycle(r)
	if r.status == statusOutOfRange {
		return nil, rsa.ErrDecryption
	}
	return r.result()
}

// decryptPkcs1v15 decrypts to a session key of that length, or to a message of any length if it is 0.
func (k *Key) decryptPkcs1v15(ctx context.Context, ciphertext []byte, length int) ([]byte, error) {
	if k.handle.std != nil {
		return k.fallback(ctx, func(key *rsa.PrivateKey) ([]byte, error) {
			return key.Decrypt(rand.Reader, ciphertext, &rsa.PKCS1v15DecryptOptions{SessionKeyLen: length})
		})
	}
	if length > 0 && length+11 > k.Size() {
		return nil, rsa.ErrDecryption
	}
	padded, err := k.raw(ctx, number, 0, ciphertext, nil)
	if err != nil {
		return nil, err
	}
	defer clear(padded)
	valid, begin := unpad(padded)
	if length <= 0 {
		if valid == 0 {
			return nil, rsa.ErrDecryption
		}
		return append([]byte{}, padded[begin:]...), nil
	}
	key := make([]byte, length)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	valid &= subtle.ConstantTimeEq(int32(len(padded)-begin), int32(length))
	subtle.ConstantTimeCopy(valid, key, padded[len(padded)-length:])
	return key, nil
}

// unpad reports, in constant time, whether a padded number is valid, and where its message begins. A valid
// one has a byte 0, a byte 2, eight or more bytes that are not 0, a byte 0, and the message.
func unpad(padded []byte) (valid, begin int) {
	seeking := 1
	for i, b := range padded[2:] {
		isZero := subtle.ConstantTimeByteEq(b, 0)
		begin = subtle.ConstantTimeSelect(seeking&isZero, i+3, begin)
		seeking &^= isZero
	}
	valid = subtle.ConstantTimeByteEq(padded[0], 0) & subtle.ConstantTimeByteEq(padded[1], 2)
	return valid & (1 ^ seeking) & subtle.ConstantTimeLessOrEq(11, begin), begin
}
