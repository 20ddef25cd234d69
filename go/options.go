package zariz

import (
	"crypto"
	"crypto/rsa"
	"errors"
	"fmt"
)

// The codes of hashes in the C library.
var hashCodes = map[crypto.Hash]uint32{
	crypto.SHA1: 1, crypto.SHA224: 2, crypto.SHA256: 3, crypto.SHA384: 4, crypto.SHA512: 5,
	crypto.SHA512_224: 6, crypto.SHA512_256: 7,
	crypto.SHA3_224: 8, crypto.SHA3_256: 9, crypto.SHA3_384: 10, crypto.SHA3_512: 11,
}

// Prefixes of digests in PKCS #1 v1.5, for hashes that crypto/rsa has and the library does not. The last two
// have none: the digest is signed as it is.
var otherPrefixes = map[crypto.Hash][]byte{
	crypto.MD5: {0x30, 0x20, 0x30, 0x0c, 0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05, 0x05,
		0x00, 0x04, 0x10},
	crypto.RIPEMD160: {0x30, 0x20, 0x30, 0x08, 0x06, 0x06, 0x28, 0xcf, 0x06, 0x03, 0x00, 0x31, 0x04, 0x14},
	crypto.MD5SHA1:   {},
	0:                {},
}

// To sign: the longest possible salt. To verify: a salt of any length.
const saltAuto = 0xffff

var (
	errNoOptions = errors.New("zariz: opts is nil: it names the hash, such as crypto.SHA256")
	errNoKey     = errors.New("zariz: the key is nil")
	errHashed    = errors.New("zariz: the digest does not have the length of the hash: hash the message first")
	errSalt      = errors.New("zariz: a PSS salt cannot have this length")
)

func errHash(hash crypto.Hash) error {
	return fmt.Errorf("zariz: there is no such RSA signature or encryption with hash %v", hash)
}

// signature is how a digest is signed.
type signature struct {
	hash  crypto.Hash
	isPss bool
	// For PSS: bytes, or saltAuto.
	salt int
}

// hashOf is the hash of options, which may be nil.
func hashOf(opts crypto.SignerOpts) (crypto.Hash, error) {
	if pss, isPss := opts.(*rsa.PSSOptions); opts == nil || isPss && pss == nil {
		return 0, errNoOptions
	}
	return opts.HashFunc(), nil
}

// readSignature reads the options of crypto.Signer, for a key of so many bits.
func readSignature(opts crypto.SignerOpts, digest []byte, bits int) (s signature, err error) {
	hash, err := hashOf(opts)
	if err != nil {
		return s, err
	}
	pss, isPss := opts.(*rsa.PSSOptions)
	s = signature{hash: hash, isPss: isPss}
	_, isOurs := hashCodes[s.hash]
	prefix, isOther := otherPrefixes[s.hash]
	if !isOurs && (isPss || !isOther) {
		return s, errHash(s.hash)
	}
	if s.hash != 0 && len(digest) != s.hash.Size() {
		return s, errHashed
	}
	size := (bits + 7) / 8
	if !isPss {
		if !isOurs && len(prefix)+len(digest)+11 > size {
			return s, rsa.ErrMessageTooLong
		}
		return s, nil
	}
	longest := (bits-1+7)/8 - len(digest) - 2
	switch s.salt = pss.SaltLength; {
	case s.salt == rsa.PSSSaltLengthAuto:
		s.salt = saltAuto
	case s.salt == rsa.PSSSaltLengthEqualsHash:
		s.salt = len(digest)
	case s.salt < 0:
		return s, errSalt
	}
	if longest < 0 || s.salt != saltAuto && s.salt > longest {
		return s, rsa.ErrMessageTooLong
	}
	return s, nil
}

// isOurs reports whether the library has this padding.
func (s signature) isOurs() bool { return hashCodes[s.hash] != 0 }

// algorithm returns the code in the library.
func (s signature) algorithm() uint32 {
	code := hashCodes[s.hash]
	if s.isPss {
		return enginePss(code, code, uint32(s.salt))
	}
	return enginePkcs1v15(code)
}

// padded returns the padded number of a digest whose hash is not ours, for a key of so many bytes.
func (s signature) padded(digest []byte, size int) []byte {
	number := make([]byte, size)
	number[1] = 1
	prefix := otherPrefixes[s.hash]
	end := size - len(digest) - len(prefix)
	for i := 2; i < end-1; i++ {
		number[i] = 0xff
	}
	copy(number[end:], prefix)
	copy(number[size-len(digest):], digest)
	return number
}
