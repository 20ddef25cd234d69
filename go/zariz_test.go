package zariz_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"

	"example.org/zariz"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// stdKey is a key of crypto/rsa, the same for all tests that ask for it.
func stdKey(bits, number int) *rsa.PrivateKey {
	stdKeys.Lock()
	defer stdKeys.Unlock()
	id := [2]int{bits, number}
	if stdKeys.all[id] == nil {
		stdKeys.all[id] = must(rsa.GenerateKey(rand.Reader, bits))
	}
	return stdKeys.all[id]
}

var stdKeys = struct {
	sync.Mutex
	all map[[2]int]*rsa.PrivateKey
}{all: map[[2]int]*rsa.PrivateKey{}}

func ourKey(bits, number int) *zariz.Key { return must(zariz.FromRSA(stdKey(bits, number))) }

func publicOf(key *rsa.PrivateKey) *zariz.PublicKey { return must(zariz.NewPublicKey(&key.PublicKey)) }

var hashes = []crypto.Hash{crypto.SHA1, crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512,
	crypto.SHA512_224, crypto.SHA512_256, crypto.SHA3_224, crypto.SHA3_256, crypto.SHA3_384, crypto.SHA3_512}

func digestOf(hash crypto.Hash, message string) []byte {
	h := hash.New()
	h.Write([]byte(message))
	return h.Sum(nil)
}

// The engine is used where ZARIZ_EXPECT says so: "engine" or "crypto/rsa".
func TestEngine(t *testing.T) {
	t.Logf("engine %s, version %q, %d lanes, %q", zariz.Engine(), zariz.Version(), zariz.Lanes(), zariz.Reason())
	if zariz.Available() != (zariz.Reason() == "") || zariz.Available() != (zariz.Engine() != "crypto/rsa") ||
		zariz.Available() != (zariz.Version() != "") || zariz.Lanes() < 1 || zariz.CheckFailures() != 0 {
		t.Error("what is said of the engine does not fit together")
	}
	switch expected := os.Getenv("ZARIZ_EXPECT"); expected {
	case "":
	case "engine", "crypto/rsa":
		if zariz.Available() != (expected == "engine") {
			t.Errorf("expected %s, but %s computes: %s", expected, zariz.Engine(), zariz.Reason())
		}
	default:
		t.Errorf("ZARIZ_EXPECT=%s", expected)
	}
}

// In FIPS mode, crypto/rsa computes.
func TestFips(t *testing.T) {
	if os.Getenv("GODEBUG") == "fips140=on" {
		if zariz.Available() || !strings.Contains(zariz.Reason(), "FIPS") {
			t.Errorf("%q", zariz.Reason())
		}
		return
	}
	again := exec.Command(os.Args[0], "-test.run=^TestFips$")
	again.Env = append(os.Environ(), "GODEBUG=fips140=on")
	if output, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, output)
	}
}

func TestSignaturesAreThoseOfCryptoRsa(t *testing.T) {
	// 1025 and 2041 bits: the padded number of PSS is a byte shorter than the key.
	for _, bits := range []int{1024, 1025, 2041, 2048, 3072} {
		std, key, public := stdKey(bits, 0), ourKey(bits, 0), publicOf(stdKey(bits, 0))
		for _, hash := range append(hashes, 0, crypto.MD5, crypto.MD5SHA1, crypto.RIPEMD160) {
			digest := bytes.Repeat([]byte{7}, 36)
			if hash != 0 {
				digest = bytes.Repeat([]byte{7}, hash.Size())
			}
			signature := must(key.Sign(nil, digest, hash))
			if !bytes.Equal(signature, must(std.Sign(rand.Reader, digest, hash))) {
				t.Errorf("RSA-%d, PKCS #1 v1.5 with %v: another signature", bits, hash)
			}
			if err := public.Verify(digest, signature, hash); err != nil {
				t.Errorf("RSA-%d, PKCS #1 v1.5 with %v: %v", bits, hash, err)
			}
			signature[bits/16] ^= 1
			if err := public.Verify(digest, signature, hash); !errors.Is(err, rsa.ErrVerification) {
				t.Errorf("RSA-%d, PKCS #1 v1.5 with %v, a wrong bit: %v", bits, hash, err)
			}
		}
		for _, hash := range hashes {
			digest := digestOf(hash, "message")
			for _, length := range []int{rsa.PSSSaltLengthAuto, rsa.PSSSaltLengthEqualsHash, 1, 17} {
				opts := &rsa.PSSOptions{SaltLength: length, Hash: hash}
				signature, err := key.Sign(nil, digest, opts)
				stdSignature, stdErr := std.Sign(rand.Reader, digest, opts)
				if errors.Is(stdErr, rsa.ErrMessageTooLong) {
					// It does not fit 1024 bits.
					if !errors.Is(err, rsa.ErrMessageTooLong) {
						t.Errorf("RSA-%d, PSS with %v and salt %d: %v, not %v", bits, hash, length, err, stdErr)
					}
					continue
				}
				if err := rsa.VerifyPSS(&std.PublicKey, hash, digest, signature, opts); err != nil {
					t.Errorf("RSA-%d, PSS with %v and salt %d: %v", bits, hash, length, err)
				}
				for _, signature := range [][]byte{signature, stdSignature} {
					auto := &rsa.PSSOptions{Hash: hash}
					for _, opts := range []*rsa.PSSOptions{opts, auto} {
						if err := public.Verify(digest, signature, opts); err != nil {
							t.Errorf("RSA-%d, PSS with %v, salt %d: %v", bits, hash, opts.SaltLength, err)
						}
					}
					other := &rsa.PSSOptions{Hash: hash, SaltLength: 3}
					if err := public.Verify(digest, signature, other); !errors.Is(err, rsa.ErrVerification) {
						t.Errorf("RSA-%d, PSS with %v: a salt of another length: %v", bits, hash, err)
					}
				}
			}
		}
	}
}

func TestSignMessage(t *testing.T) {
	key, public := ourKey(2048, 0), publicOf(stdKey(2048, 0))
	for _, opts := range []crypto.SignerOpts{crypto.SHA256, &rsa.PSSOptions{Hash: crypto.SHA384}} {
		signature := must(key.SignMessage(nil, []byte("message"), opts))
		if err := public.Verify(digestOf(opts.HashFunc(), "message"), signature, opts); err != nil {
			t.Error(err)
		}
	}
	signature := must(key.SignMessage(nil, []byte("message"), crypto.Hash(0)))
	if !bytes.Equal(signature, must(key.Sign(nil, []byte("message"), crypto.Hash(0)))) {
		t.Error("without a hash, SignMessage is not Sign")
	}
	var noPss *rsa.PSSOptions
	for _, opts := range []crypto.SignerOpts{nil, noPss, &rsa.PSSOptions{}, crypto.BLAKE2b_256} {
		if _, err := key.SignMessage(nil, []byte("message"), opts); err == nil {
			t.Errorf("%v: no error", opts)
		}
	}
}

func TestWrongRequestsAreErrors(t *testing.T) {
	key, public := ourKey(1024, 0), publicOf(stdKey(1024, 0))
	var noPss *rsa.PSSOptions
	for _, wrong := range []struct {
		digest int
		opts   crypto.SignerOpts
		is     error
	}{
		{32, nil, nil},
		{32, noPss, nil},
		{31, crypto.SHA256, nil},
		{0, crypto.SHA256, nil},
		{32, crypto.BLAKE2b_256, nil},
		{32, crypto.Hash(99), nil},
		{118, crypto.Hash(0), rsa.ErrMessageTooLong},
		{32, &rsa.PSSOptions{}, nil},
		{32, &rsa.PSSOptions{Hash: crypto.MD5}, nil},
		{31, &rsa.PSSOptions{Hash: crypto.SHA256}, nil},
		{32, &rsa.PSSOptions{Hash: crypto.SHA256, SaltLength: -2}, nil},
		{32, &rsa.PSSOptions{Hash: crypto.SHA256, SaltLength: 95}, rsa.ErrMessageTooLong},
		{32, &rsa.PSSOptions{Hash: crypto.SHA256, SaltLength: 1 << 40}, rsa.ErrMessageTooLong},
		{64, &rsa.PSSOptions{Hash: crypto.SHA512, SaltLength: rsa.PSSSaltLengthEqualsHash}, rsa.ErrMessageTooLong},
	} {
		digest := make([]byte, wrong.digest)
		signature, err := key.Sign(nil, digest, wrong.opts)
		if err == nil || signature != nil || wrong.is != nil && !errors.Is(err, wrong.is) {
			t.Errorf("signing %d bytes by %+v: %v", wrong.digest, wrong.opts, err)
		}
		if err := public.Verify(digest, make([]byte, 128), wrong.opts); err == nil {
			t.Errorf("verifying %d bytes by %+v: no error", wrong.digest, wrong.opts)
		}
	}
	if must(key.Sign(nil, make([]byte, 117), crypto.Hash(0))) == nil {
		t.Error("the longest digest")
	}
	for _, size := range []int{0, 127, 129, 1000} {
		err := public.Verify(make([]byte, 32), make([]byte, size), crypto.SHA256)
		if !errors.Is(err, rsa.ErrVerification) {
			t.Errorf("a signature of %d bytes: %v", size, err)
		}
	}
	above := bytes.Repeat([]byte{0xff}, 128)
	for _, opts := range []crypto.SignerOpts{crypto.SHA256, &rsa.PSSOptions{Hash: crypto.SHA256}} {
		if err := public.Verify(make([]byte, 32), above, opts); !errors.Is(err, rsa.ErrVerification) {
			t.Errorf("a signature above the modulus: %v", err)
		}
	}
}

func TestDecryption(t *testing.T) {
	for _, bits := range []int{1024, 2048} {
		std, key := stdKey(bits, 0), ourKey(bits, 0)
		for _, hash := range hashes {
			for _, mask := range []crypto.Hash{0, hash, crypto.SHA1} {
				for _, label := range []string{"", "label"} {
					opts := &rsa.OAEPOptions{Hash: hash, MGFHash: mask, Label: []byte(label)}
					for _, size := range []int{0, 1, bits/8 - 2*hash.Size() - 2} {
						if size < 0 || size > bits/8-2*hash.Size()-2 {
							continue
						}
						plaintext := bytes.Repeat([]byte{3}, size)
						ciphertext := encryptOaep(&std.PublicKey, plaintext, opts)
						result, err := key.Decrypt(nil, ciphertext, opts)
						if err != nil || !bytes.Equal(result, plaintext) {
							t.Errorf("RSA-%d, OAEP %+v, %d bytes: %v", bits, opts, size, err)
						}
						ciphertext[bits/16] ^= 1
						if _, err := key.Decrypt(nil, ciphertext, opts); !errors.Is(err, rsa.ErrDecryption) {
							t.Errorf("RSA-%d, OAEP %+v, a wrong bit: %v", bits, opts, err)
						}
					}
				}
			}
		}
		for _, size := range []int{0, 1, 48, bits/8 - 11} {
			plaintext := bytes.Repeat([]byte{5}, size)
			ciphertext := must(rsa.EncryptPKCS1v15(rand.Reader, &std.PublicKey, plaintext))
			for _, opts := range []crypto.DecrypterOpts{nil, &rsa.PKCS1v15DecryptOptions{}} {
				result, err := key.Decrypt(nil, ciphertext, opts)
				if err != nil || !bytes.Equal(result, plaintext) {
					t.Errorf("RSA-%d, PKCS #1 v1.5, %d bytes: %v", bits, size, err)
				}
			}
			if size > 0 {
				session := &rsa.PKCS1v15DecryptOptions{SessionKeyLen: size}
				if result, err := key.Decrypt(nil, ciphertext, session); err != nil || !bytes.Equal(result, plaintext) {
					t.Errorf("RSA-%d, a session key of %d bytes: %v", bits, size, err)
				}
			}
		}
	}
}

// encryptOaep encrypts with both hashes of the options, which crypto/rsa does since Go 1.26.
func encryptOaep(public *rsa.PublicKey, plaintext []byte, opts *rsa.OAEPOptions) []byte {
	mask := opts.MGFHash
	if mask == 0 {
		mask = opts.Hash
	}
	hashSize, size := opts.Hash.Size(), public.Size()
	seed, data := make([]byte, hashSize), make([]byte, size-hashSize-1)
	rand.Read(seed)
	copy(data, digestOf(opts.Hash, string(opts.Label)))
	data[len(data)-len(plaintext)-1] = 1
	copy(data[len(data)-len(plaintext):], plaintext)
	xor := func(to, from []byte) {
		for i, block := 0, byte(0); i < len(to); block++ {
			for _, b := range digestOf(mask, string(from)+string([]byte{0, 0, 0, block})) {
				if i < len(to) {
					to[i] ^= b
					i++
				}
			}
		}
	}
	xor(data, seed)
	xor(seed, data)
	number := new(big.Int).SetBytes(append(seed, data...))
	return number.Exp(number, big.NewInt(int64(public.E)), public.N).FillBytes(make([]byte, size))
}

// Wrong paddings and lengths have the results that they have with crypto/rsa.
func TestWrongCiphertexts(t *testing.T) {
	std, key := stdKey(1024, 0), ourKey(1024, 0)
	encrypt := func(padded ...byte) []byte {
		full := append(padded, bytes.Repeat([]byte{9}, 128-len(padded))...)
		n := new(big.Int).SetBytes(full)
		return n.Exp(n, big.NewInt(int64(std.E)), std.N).FillBytes(make([]byte, 128))
	}
	wrong := map[string][]byte{
		"no zero":             encrypt(0, 2),
		"seven bytes":         encrypt(0, 2, 1, 1, 1, 1, 1, 1, 1, 0),
		"first byte":          encrypt(1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0),
		"second byte":         encrypt(0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0),
		"empty":               {},
		"0":                   make([]byte, 128),
		"n":                   std.N.Bytes(),
		"all ones":            bytes.Repeat([]byte{0xff}, 128),
		"too long":            make([]byte, 129),
		"too long, 0 and one": append([]byte{0}, encrypt(0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0)...),
	}
	options := []crypto.DecrypterOpts{nil, &rsa.PKCS1v15DecryptOptions{},
		&rsa.PKCS1v15DecryptOptions{SessionKeyLen: 16}, &rsa.PKCS1v15DecryptOptions{SessionKeyLen: 118},
		&rsa.OAEPOptions{Hash: crypto.SHA256}, &rsa.OAEPOptions{Hash: crypto.SHA512}}
	for name, ciphertext := range wrong {
		for _, opts := range options {
			result, err := key.Decrypt(nil, ciphertext, opts)
			if err != nil && result != nil {
				t.Errorf("%s, %+v: an error and a result", name, opts)
			}
			_, stdErr := std.Decrypt(rand.Reader, ciphertext, opts)
			if name == "too long, 0 and one" && stdErr == nil {
				continue // a session key: crypto/rsa takes leading zeros there
			}
			if (err == nil) != (stdErr == nil) || err != nil && !errors.Is(err, rsa.ErrDecryption) {
				t.Errorf("%s, %+v: %v, not %v", name, opts, err, stdErr)
			}
		}
	}
	session := &rsa.PKCS1v15DecryptOptions{SessionKeyLen: 16}
	random := func() []byte { return must(key.Decrypt(nil, wrong["no zero"], session)) }
	first, second := random(), random()
	if len(first) != 16 || bytes.Equal(first, second) {
		t.Error("a wrong session key is not replaced by a random one")
	}
	longer := must(rsa.EncryptPKCS1v15(rand.Reader, &std.PublicKey, make([]byte, 17)))
	if key := must(key.Decrypt(nil, longer, session)); len(key) != 16 || bytes.Equal(key, make([]byte, 16)) {
		t.Error("a session key of another length is not replaced by a random one")
	}
	// A ciphertext that has lost its leading zeros.
	for {
		ciphertext := must(rsa.EncryptPKCS1v15(rand.Reader, &std.PublicKey, []byte("short")))
		if ciphertext[0] == 0 {
			if string(must(key.Decrypt(nil, ciphertext[1:], nil))) != "short" {
				t.Error("a short ciphertext")
			}
			break
		}
	}
	var noOaep *rsa.OAEPOptions
	var noPkcs *rsa.PKCS1v15DecryptOptions
	for _, opts := range []crypto.DecrypterOpts{noOaep, noPkcs, 3, &rsa.OAEPOptions{},
		&rsa.OAEPOptions{Hash: 99},
		&rsa.OAEPOptions{Hash: crypto.SHA256, MGFHash: crypto.MD5}} {
		if _, err := key.Decrypt(nil, make([]byte, 128), opts); err == nil {
			t.Errorf("%#v: no error", opts)
		}
	}
}

func TestKeys(t *testing.T) {
	std := stdKey(2048, 0)
	pkcs8 := must(x509.MarshalPKCS8PrivateKey(std))
	pkcs1 := x509.MarshalPKCS1PrivateKey(std)
	armour := func(kind string, der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	for _, data := range [][]byte{pkcs8, pkcs1, armour("PRIVATE KEY", pkcs8), armour("RSA PRIVATE KEY", pkcs1)} {
		key := must(zariz.Load(data))
		if !std.PublicKey.Equal(key.Public()) || !must(key.RSA()).Equal(std) || key.Size() != 256 {
			t.Error("another key")
		}
		if !key.Equal(ourKey(2048, 0)) || key.Equal(ourKey(2048, 1)) || key.Equal(std) {
			t.Error("what is equal")
		}
	}
	for _, data := range []string{"", "x", "-----BEGIN PRIVATE KEY-----\n", string(armour("PRIVATE KEY", nil)),
		string(armour("CERTIFICATE", pkcs8)[:100]), string(pkcs8[:500])} {
		if _, err := zariz.Load([]byte(data)); err == nil {
			t.Errorf("%.20q: no error", data)
		}
		if _, err := zariz.LoadPublic([]byte(data)); err == nil {
			t.Errorf("%.20q: no error for a public key", data)
		}
	}
	spki := must(x509.MarshalPKIXPublicKey(&std.PublicKey))
	public1 := x509.MarshalPKCS1PublicKey(&std.PublicKey)
	for _, data := range [][]byte{spki, public1, armour("PUBLIC KEY", spki), armour("RSA PUBLIC KEY", public1)} {
		if !std.PublicKey.Equal(must(zariz.LoadPublic(data)).RSA()) {
			t.Error("another public key")
		}
	}

	swapped := &rsa.PrivateKey{PublicKey: std.PublicKey, D: std.D,
		Primes: []*big.Int{std.Primes[1], std.Primes[0]}}
	digest := digestOf(crypto.SHA256, "message")
	signature := must(std.Sign(rand.Reader, digest, crypto.SHA256))
	if !bytes.Equal(signature, must(must(zariz.FromRSA(swapped)).Sign(nil, digest, crypto.SHA256))) {
		t.Error("a key with swapped primes and nothing precomputed")
	}
	if swapped.Precomputed.Dp != nil {
		t.Error("FromRSA changed the caller's key")
	}
	wrong := map[string]*rsa.PrivateKey{"nil": nil, "empty": {}, "another d": {
		PublicKey: std.PublicKey, D: new(big.Int).Add(std.D, big.NewInt(2)), Primes: std.Primes,
	}, "another n": {
		PublicKey: rsa.PublicKey{N: new(big.Int).Add(std.N, big.NewInt(2)), E: std.E}, D: std.D, Primes: std.Primes,
	}, "a negative prime": {
		PublicKey: std.PublicKey, D: std.D, Primes: []*big.Int{new(big.Int).Neg(std.Primes[0]), std.Primes[1]},
	}, "no prime": {PublicKey: std.PublicKey, D: std.D, Primes: []*big.Int{nil, nil}}}
	for name, key := range wrong {
		if _, err := zariz.FromRSA(key); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	//lint:ignore SA1019 such keys exist
	three := must(rsa.GenerateMultiPrimeKey(rand.Reader, 3, 2048))
	if _, err := zariz.FromRSA(three); err == nil || !strings.Contains(err.Error(), "3 primes") {
		t.Errorf("three primes: %v", err)
	}
	for _, key := range []*rsa.PublicKey{nil, {}, {N: std.N}, {N: std.N, E: -3}, {N: big.NewInt(15), E: 3}} {
		if _, err := zariz.NewPublicKey(key); err == nil {
			t.Errorf("%v: no error", key)
		}
	}
}

// A key for RSASSA-PSS alone (RFC 4055) must not decrypt, nor sign otherwise.
func TestRestrictedKeysAreRefused(t *testing.T) {
	data := must(asn1.Marshal(struct {
		Version   int
		Algorithm struct{ Name asn1.ObjectIdentifier }
		Key       []byte
	}{0, struct{ Name asn1.ObjectIdentifier }{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}},
		x509.MarshalPKCS1PrivateKey(stdKey(2048, 0))}))
	_, err := zariz.Load(data)
	if err == nil || zariz.Available() && !strings.Contains(err.Error(), "RSASSA-PSS") {
		t.Error(err)
	}
}

func TestGeneration(t *testing.T) {
	keys := must(zariz.GenerateMany(1024, 5))
	for i, key := range keys {
		if std := must(key.RSA()); std.Validate() != nil || std.N.BitLen() != 1024 || std.E != 65537 {
			t.Errorf("key %d", i)
		}
		if i > 0 && key.Equal(keys[i-1]) {
			t.Error("the same key twice")
		}
	}
	if must(zariz.Generate(1030)).Size() != 129 || len(must(zariz.GenerateMany(1024, 0))) != 0 {
		t.Error("sizes")
	}
	for _, wrong := range [][2]int{{1023, 1}, {16385, 1}, {-1, 1}, {2048, -1}} {
		if _, err := zariz.GenerateMany(wrong[0], wrong[1]); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
}

// Each goroutine has its own key, message and algorithm, and some make wrong requests. All get their own
// results, from shared batches.
func TestGoroutinesShareBatches(t *testing.T) {
	sizes := []int{1024, 1025, 2048, 4096}
	algorithms := []crypto.SignerOpts{crypto.SHA256, crypto.SHA3_512, crypto.MD5SHA1,
		&rsa.PSSOptions{Hash: crypto.SHA256}, crypto.BLAKE2s_256}
	before := zariz.ReadMetrics()
	var group sync.WaitGroup
	for i := range 64 {
		group.Add(1)
		go func() {
			defer group.Done()
			std := stdKey(sizes[i%len(sizes)], i%8)
			key, public := must(zariz.FromRSA(std)), publicOf(std)
			defer key.Close()
			opts := algorithms[i%len(algorithms)]
			digest := bytes.Repeat([]byte{byte(i)}, opts.HashFunc().Size())
			oaep := &rsa.OAEPOptions{Hash: crypto.SHA1, Label: []byte{byte(i)}}
			secret := fmt.Sprint("secret of ", i)
			ciphertext := encryptOaep(&std.PublicKey, []byte(secret), oaep)
			session := must(rsa.EncryptPKCS1v15(rand.Reader, &std.PublicKey, []byte(secret)))
			for round := range 6 {
				signature, err := key.Sign(nil, digest, opts)
				if opts == crypto.BLAKE2s_256 {
					if err == nil {
						t.Error("a wrong request has a result")
					}
				} else if err != nil {
					t.Error(err)
				} else if err := public.Verify(digest, signature, opts); err != nil {
					t.Errorf("goroutine %d, round %d: %v", i, round, err)
				}
				if plaintext, err := key.Decrypt(nil, ciphertext, oaep); err != nil || string(plaintext) != secret {
					t.Errorf("goroutine %d decrypts %q: %v", i, plaintext, err)
				}
				if plaintext, err := key.Decrypt(nil, session, nil); err != nil || string(plaintext) != secret {
					t.Errorf("goroutine %d decrypts %q: %v", i, plaintext, err)
				}
				if _, err := key.Decrypt(nil, digest, oaep); !errors.Is(err, rsa.ErrDecryption) {
					t.Errorf("goroutine %d: %v", i, err)
				}
			}
		}()
	}
	group.Wait()
	after := zariz.ReadMetrics()
	if zariz.Available() && (after.Operations-before.Operations < 64*6 || after.LargestBatch < 2 ||
		after.Batches-before.Batches >= after.Operations-before.Operations) {
		t.Errorf("nothing was combined: %+v, then %+v", before, after)
	}
}

// A thousand goroutines wait, but only those that compute hold a thread.
func TestThreads(t *testing.T) {
	if !zariz.Available() {
		t.Skip("crypto/rsa computes on the threads of Go")
	}
	key, stop, most := ourKey(4096, 0), make(chan bool), make(chan int)
	go func() {
		for highest := 0; ; {
			select {
			case <-stop:
				most <- highest
				return
			default:
				highest = max(highest, status(t, "Threads:"))
				time.Sleep(100 * time.Microsecond)
			}
		}
	}()
	var group sync.WaitGroup
	for range 1000 {
		group.Add(1)
		go func() {
			defer group.Done()
			must(key.Sign(nil, make([]byte, 32), crypto.SHA256))
		}()
	}
	group.Wait()
	close(stop)
	if threads := <-most; threads > 3*runtime.GOMAXPROCS(0)+20 {
		t.Errorf("%d threads", threads)
	}
}

func TestMany(t *testing.T) {
	var jobs []zariz.SignJob
	for i := range 200 {
		opts := []crypto.SignerOpts{crypto.SHA256, &rsa.PSSOptions{Hash: crypto.SHA256}, crypto.MD5SHA1, nil}[i%4]
		digest := bytes.Repeat([]byte{byte(i)}, []int{32, 32, 36, 32}[i%4])
		jobs = append(jobs, zariz.SignJob{Key: ourKey([]int{1024, 2048}[i/4%2], i%3), Digest: digest, Opts: opts})
	}
	jobs = append(jobs, zariz.SignJob{Digest: make([]byte, 32), Opts: crypto.SHA256},
		zariz.SignJob{Key: ourKey(4104, 0), Digest: make([]byte, 32), Opts: crypto.SHA256})
	zariz.SignMany(jobs)
	var verifications []zariz.VerifyJob
	for i, job := range jobs {
		isWrong := job.Key == nil || job.Opts == nil
		if isWrong != (job.Err != nil) || isWrong != (job.Signature == nil) {
			t.Errorf("job %d: %v", i, job.Err)
		}
		verification := zariz.VerifyJob{Digest: job.Digest, Signature: job.Signature, Opts: job.Opts}
		if job.Key != nil {
			verification.Key = must(zariz.NewPublicKey(job.Key.Public().(*rsa.PublicKey)))
		}
		if i%10 == 1 && !isWrong {
			verification.Signature = bytes.Clone(job.Signature)
			verification.Signature[5] ^= 4
		}
		verifications = append(verifications, verification)
	}
	zariz.VerifyMany(verifications)
	for i, job := range verifications {
		switch {
		case i%10 == 1 && jobs[i].Err == nil:
			if !errors.Is(job.Err, rsa.ErrVerification) {
				t.Errorf("verification %d: %v", i, job.Err)
			}
		case (job.Err != nil) != (jobs[i].Err != nil):
			t.Errorf("verification %d: %v", i, job.Err)
		}
	}
	zariz.SignMany(nil)
	zariz.VerifyMany(nil)
}

func TestContexts(t *testing.T) {
	key, public, modulus := ourKey(4096, 0), publicOf(stdKey(4096, 0)), must(zariz.NewModulus(stdKey(4096, 0).N))
	digest := make([]byte, 32)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_, first := key.SignContext(over, digest, crypto.SHA256)
	_, second := key.DecryptContext(over, digest, nil)
	third := public.VerifyContext(over, digest, make([]byte, 512), crypto.SHA256)
	_, fourth := modulus.PowContext(over, big.NewInt(2), big.NewInt(3))
	for _, err := range []error{first, second, third, fourth} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	// Goroutines give up while others wait; the rest have results.
	var group sync.WaitGroup
	for i := range 100 {
		group.Add(1)
		go func() {
			defer group.Done()
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%10)*3*time.Millisecond)
			defer cancel()
			if i%10 == 0 {
				ctx = context.Background()
			}
			own := bytes.Repeat([]byte{byte(i)}, 32)
			for range 3 {
				signature, err := key.SignContext(ctx, own, crypto.SHA256)
				if err == nil {
					err = public.Verify(own, signature, crypto.SHA256)
				}
				if err != nil && (i%10 == 0 || !errors.Is(err, context.DeadlineExceeded)) {
					t.Error(err)
				}
				clear(own)
				for j := range own {
					own[j] = byte(i)
				}
			}
		}()
	}
	group.Wait()
}

func TestClose(t *testing.T) {
	digest := make([]byte, 32)
	for range 20 {
		key := must(zariz.FromRSA(stdKey(2048, 0)))
		var group sync.WaitGroup
		for range 16 {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					signature, err := key.Sign(nil, digest, crypto.SHA256)
					if errors.Is(err, zariz.ErrClosed) {
						return
					}
					if err == nil {
						err = rsa.VerifyPKCS1v15(&stdKey(2048, 0).PublicKey, crypto.SHA256, digest, signature)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		time.Sleep(time.Millisecond)
		key.Close()
		key.Close()
		group.Wait()
		_, first := key.Sign(nil, digest, crypto.SHA256)
		_, second := key.Decrypt(nil, make([]byte, 256), nil)
		_, third := key.RSA()
		jobs := []zariz.SignJob{{Key: key, Digest: digest, Opts: crypto.SHA256}}
		zariz.SignMany(jobs)
		for _, err := range []error{first, second, third, jobs[0].Err} {
			if !errors.Is(err, zariz.ErrClosed) {
				t.Error(err)
			}
		}
	}
}

func TestCloseOfPublicKeysAndModuli(t *testing.T) {
	public, modulus := publicOf(stdKey(1024, 0)), must(zariz.NewModulus(big.NewInt(15)))
	two := []*big.Int{big.NewInt(2)}
	for range 2 {
		public.Close()
		modulus.Close()
	}
	for _, hash := range []crypto.Hash{crypto.SHA256, crypto.MD5} {
		digest, signature := make([]byte, hash.Size()), make([]byte, 128)
		jobs := []zariz.VerifyJob{{Key: public, Digest: digest, Signature: signature, Opts: hash}}
		zariz.VerifyMany(jobs)
		for _, err := range []error{public.Verify(digest, signature, hash), jobs[0].Err} {
			if !errors.Is(err, zariz.ErrClosed) {
				t.Errorf("%v: %v", hash, err)
			}
		}
	}
	_, first := modulus.Pow(two[0], two[0])
	_, second := modulus.PowMany(two, two)
	for _, err := range []error{first, second} {
		if !errors.Is(err, zariz.ErrClosed) {
			t.Error(err)
		}
	}
}

func TestPowers(t *testing.T) {
	random := func(bits int) *big.Int {
		return must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), uint(bits))))
	}
	for _, bits := range []int{2, 64, 1000, 2048, 4100} {
		n := random(bits)
		n.SetBit(n.SetBit(n, bits-1, 1), 0, 1)
		modulus := must(zariz.NewModulus(n))
		var bases, exponents []*big.Int
		for i := range 70 {
			base, exponent := random(bits+70), random(min(bits, 300))
			if i%7 == 0 {
				base.Neg(base)
			}
			bases, exponents = append(bases, base), append(exponents, exponent)
		}
		exponents[3], bases[4] = new(big.Int), new(big.Int)
		powers, oneExponent := must(modulus.PowMany(bases, exponents)), must(modulus.PowMany(bases, exponents[:1]))
		var group sync.WaitGroup
		for i := range bases {
			group.Add(1)
			go func() {
				defer group.Done()
				right := new(big.Int).Exp(bases[i], exponents[i], n)
				if must(modulus.Pow(bases[i], exponents[i])).Cmp(right) != 0 || powers[i].Cmp(right) != 0 ||
					oneExponent[i].Cmp(new(big.Int).Exp(bases[i], exponents[0], n)) != 0 {
					t.Errorf("%v^%v modulo %v", bases[i], exponents[i], n)
				}
			}()
		}
		group.Wait()
	}
	modulus := must(zariz.NewModulus(big.NewInt(15)))
	one := big.NewInt(1)
	for _, wrong := range [][2]*big.Int{{nil, one}, {one, nil}, {one, big.NewInt(-1)}} {
		if _, err := modulus.Pow(wrong[0], wrong[1]); err == nil {
			t.Errorf("%v: no error", wrong)
		}
		if _, err := modulus.PowMany([]*big.Int{one, wrong[0]}, []*big.Int{one, wrong[1]}); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
	if _, err := modulus.PowMany([]*big.Int{one, one, one}, []*big.Int{one, one}); err == nil {
		t.Error("three bases and two exponents")
	}
	above := new(big.Int).Add(new(big.Int).Lsh(one, 16384), one)
	for _, wrong := range []*big.Int{nil, new(big.Int), one, big.NewInt(-3), big.NewInt(4), above} {
		if _, err := zariz.NewModulus(wrong); err == nil {
			t.Errorf("the modulus %v: no error", wrong)
		}
	}
}

// ZARIZ_MEMORY=1000000 go test -run TestMemory -v: memory does not grow over so many calls.
func TestMemory(t *testing.T) {
	count := 20_000
	if text := os.Getenv("ZARIZ_MEMORY"); text != "" {
		if _, err := fmt.Sscan(text, &count); err != nil {
			t.Fatal(err)
		}
	}
	if !zariz.Available() {
		t.Skip("there is no memory of C without the engine")
	}
	std := stdKey(1024, 0)
	digest, public := make([]byte, 32), publicOf(std)
	secret := must(rsa.EncryptOAEP(crypto.SHA1.New(), rand.Reader, &std.PublicKey, []byte("secret"), nil))
	calls := func(count int) {
		var group sync.WaitGroup
		for range 32 {
			group.Add(1)
			go func() {
				defer group.Done()
				key := must(zariz.FromRSA(std))
				for i := range count / 32 {
					switch {
					case i%100 == 99: // keys are collected
						key = must(zariz.FromRSA(std))
					case i%10 == 9:
						must(key.Decrypt(nil, secret, &rsa.OAEPOptions{Hash: crypto.SHA1}))
					case i%2 == 1:
						must(key.Sign(nil, digest, crypto.SHA256))
					default:
						public.Verify(digest, make([]byte, 128), crypto.SHA256)
					}
				}
			}()
		}
		group.Wait()
		runtime.GC()
	}
	calls(max(count/4, 20_000))
	before := status(t, "VmRSS:")
	calls(count)
	after := status(t, "VmRSS:")
	t.Logf("%d calls: %d kB, then %d kB", count, before, after)
	if after > before+5000 {
		t.Errorf("memory grows: %d kB, then %d kB", before, after)
	}
}

// status returns a number from what Linux knows of this process; memory is in kB.
func status(t *testing.T, name string) (value int) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // another system
	}
	_, line, _ := strings.Cut(string(text), name)
	if _, err := fmt.Sscan(line, &value); err != nil {
		t.Error(err)
	}
	return value
}
