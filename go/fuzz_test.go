package zariz_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"errors"
	"math/big"
	"testing"

	"example.org/zariz"
)

// Nothing panics, and zariz gives the same results as crypto/rsa and math/big. The key is always the same:
// each process of a search for inputs must have it.

//go:embed testdata/key-1024.pem
var fuzzPem []byte

var fuzzKey = must(zariz.Load(fuzzPem))
var fuzzStd = must(fuzzKey.RSA())

func FuzzLoad(f *testing.F) {
	der := x509.MarshalPKCS1PrivateKey(fuzzStd)
	f.Add(der)
	f.Add(fuzzPem)
	f.Add(must(x509.MarshalPKCS8PrivateKey(fuzzStd)))
	f.Add(x509.MarshalPKCS1PublicKey(&fuzzStd.PublicKey))
	f.Add([]byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMA==\n-----END ENCRYPTED PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if key, err := zariz.Load(data); err == nil {
			_, err := key.Sign(nil, make([]byte, 32), crypto.SHA256)
			if err != nil && !errors.Is(err, zariz.ErrFault) {
				t.Error(err)
			}
			key.Close()
		}
		if key, err := zariz.LoadPublic(data); err == nil {
			if key.Verify(make([]byte, 32), make([]byte, 128), crypto.SHA256) == nil {
				t.Error("a wrong signature")
			}
		}
	})
}

func FuzzDecrypt(f *testing.F) {
	std, key := fuzzStd, fuzzKey
	for _, text := range []string{"", "text", string(make([]byte, 48))} {
		f.Add(must(rsa.EncryptPKCS1v15(rand.Reader, &std.PublicKey, []byte(text))), false, 0)
		f.Add(must(rsa.EncryptPKCS1v15(rand.Reader, &std.PublicKey, []byte(text))), false, 48)
		f.Add(must(rsa.EncryptOAEP(crypto.SHA256.New(), rand.Reader, &std.PublicKey, []byte(text), nil)), true, 0)
	}
	f.Fuzz(func(t *testing.T, ciphertext []byte, isOaep bool, length int) {
		var opts crypto.DecrypterOpts = &rsa.PKCS1v15DecryptOptions{SessionKeyLen: length % 200}
		if isOaep {
			opts = &rsa.OAEPOptions{Hash: crypto.SHA256}
		}
		if len(ciphertext) > 128 {
			return // crypto/rsa takes leading zeros, with PKCS #1 v1.5
		}
		ours, err := key.Decrypt(nil, ciphertext, opts)
		theirs, stdErr := std.Decrypt(rand.Reader, ciphertext, opts)
		isRandom := !isOaep && length%200 > 0
		if (err == nil) != (stdErr == nil) || !isRandom && !bytes.Equal(ours, theirs) || len(ours) != len(theirs) {
			t.Errorf("%x, %v; crypto/rsa: %x, %v", ours, err, theirs, stdErr)
		}
	})
}

func FuzzVerify(f *testing.F) {
	std, key := fuzzStd, publicOf(fuzzStd)
	digest := digestOf(crypto.SHA256, "message")
	f.Add(digest, must(std.Sign(rand.Reader, digest, crypto.SHA256)), 0, false)
	for _, salt := range []int{0, -1, 7} {
		opts := &rsa.PSSOptions{Hash: crypto.SHA256, SaltLength: salt}
		f.Add(digest, must(std.Sign(rand.Reader, digest, opts)), salt, true)
	}
	f.Fuzz(func(t *testing.T, digest, signature []byte, salt int, isPss bool) {
		var err, stdErr error
		if isPss {
			opts := &rsa.PSSOptions{Hash: crypto.SHA256, SaltLength: salt}
			err = key.Verify(digest, signature, opts)
			stdErr = rsa.VerifyPSS(&std.PublicKey, crypto.SHA256, digest, signature, opts)
		} else {
			err = key.Verify(digest, signature, crypto.SHA256)
			stdErr = rsa.VerifyPKCS1v15(&std.PublicKey, crypto.SHA256, digest, signature)
		}
		if (err == nil) != (stdErr == nil) {
			t.Errorf("%v; crypto/rsa: %v", err, stdErr)
		}
	})
}

func FuzzPow(f *testing.F) {
	f.Add([]byte{15}, []byte{2}, []byte{3}, false)
	f.Add(fuzzStd.N.Bytes(), make([]byte, 200), []byte{}, true)
	f.Fuzz(func(t *testing.T, n, base, exponent []byte, isNegative bool) {
		if len(n) > 300 || len(base) > 400 || len(exponent) > 100 {
			return
		}
		m, b, e := new(big.Int).SetBytes(n), new(big.Int).SetBytes(base), new(big.Int).SetBytes(exponent)
		if isNegative {
			b.Neg(b)
		}
		modulus, err := zariz.NewModulus(m)
		if err != nil {
			if m.BitLen() > 1 && m.Bit(0) == 1 {
				t.Error(err)
			}
			return
		}
		if power := must(modulus.Pow(b, e)); power.Cmp(new(big.Int).Exp(b, e, m)) != 0 {
			t.Errorf("%v^%v modulo %v is not %v", b, e, m, power)
		}
	})
}
