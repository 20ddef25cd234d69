package zariz_test

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.org/zariz"
)

// hexBytes are bytes that JSON has in hexadecimal.
type hexBytes []byte

func (b *hexBytes) UnmarshalJSON(text []byte) error {
	var digits string
	if err := json.Unmarshal(text, &digits); err != nil {
		return err
	}
	bytes, err := hex.DecodeString(digits)
	*b = bytes
	return err
}

type wycheproof struct {
	Algorithm  string
	TestGroups []struct {
		Sha, MgfSha   string
		SLen          int
		PublicKeyAsn  hexBytes
		PrivateKeyPem string
		Tests         []struct {
			TcID                int
			Msg, Ct, Sig, Label hexBytes
			Result, Comment     string
			Flags               []string
		}
	}
}

var wycheproofHashes = map[string]crypto.Hash{"SHA-1": crypto.SHA1, "SHA-224": crypto.SHA224,
	"SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512,
	"SHA-512/224": crypto.SHA512_224, "SHA-512/256": crypto.SHA512_256,
	"SHA3-224": crypto.SHA3_224, "SHA3-256": crypto.SHA3_256,
	"SHA3-384": crypto.SHA3_384, "SHA3-512": crypto.SHA3_512}

// Wycheproof's vectors, from the folder ZARIZ_WYCHEPROOF. zariz accepts and refuses what they say.
func TestWycheproof(t *testing.T) {
	folder := os.Getenv("ZARIZ_WYCHEPROOF")
	if folder == "" {
		t.Skip("set ZARIZ_WYCHEPROOF to the folder of Wycheproof's JSON files")
	}
	count := map[string]int{}
	for _, path := range must(filepath.Glob(filepath.Join(folder, "rsa_*_test.json"))) {
		var file wycheproof
		if err := json.Unmarshal(must(os.ReadFile(path)), &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, group := range file.TestGroups {
			hash, mask := wycheproofHashes[group.Sha], wycheproofHashes[group.MgfSha]
			for _, test := range group.Tests {
				var err error
				switch file.Algorithm {
				case "RSASSA-PKCS1-v1_5", "RSASSA-PSS":
					var opts crypto.SignerOpts = hash
					if file.Algorithm == "RSASSA-PSS" {
						// crypto/rsa's options have one hash, and 0 for any salt.
						if hash == 0 || mask != hash || group.SLen == 0 {
							continue
						}
						opts = &rsa.PSSOptions{Hash: hash, SaltLength: group.SLen}
					}
					public := must(zariz.LoadPublic(group.PublicKeyAsn))
					err = public.Verify(digestOf(hash, string(test.Msg)), test.Sig, opts)
					if err != nil && !errors.Is(err, rsa.ErrVerification) {
						t.Errorf("%s, test %d: %v", path, test.TcID, err)
					}
				case "RSAES-OAEP", "RSAES-PKCS1-v1_5":
					key := must(zariz.Load([]byte(group.PrivateKeyPem)))
					var opts crypto.DecrypterOpts
					if file.Algorithm == "RSAES-OAEP" {
						opts = &rsa.OAEPOptions{Hash: hash, MGFHash: mask, Label: test.Label}
					}
					var plaintext []byte
					plaintext, err = key.Decrypt(nil, test.Ct, opts)
					if err == nil && !bytes.Equal(plaintext, test.Msg) {
						t.Errorf("%s, test %d: another plaintext", path, test.TcID)
					}
				default:
					t.Fatalf("%s: %s", path, file.Algorithm)
				}
				count[file.Algorithm]++
				isRight := err == nil
				if test.Result != "acceptable" && isRight != (test.Result == "valid") {
					t.Errorf("%s, test %d (%s), which is %s: %v", path, test.TcID, test.Comment, test.Result, err)
				}
			}
		}
	}
	t.Log(count)
	for _, algorithm := range []string{"RSASSA-PKCS1-v1_5", "RSASSA-PSS", "RSAES-OAEP", "RSAES-PKCS1-v1_5"} {
		if count[algorithm] < 100 {
			t.Errorf("%d tests of %s", count[algorithm], algorithm)
		}
	}
}
