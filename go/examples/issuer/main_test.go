package main

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"example.org/zariz"
)

// Many clients get tokens that the published key verifies, with zariz and with crypto/rsa.
func TestTokens(t *testing.T) {
	key, err := zariz.Generate(2048)
	if err != nil {
		t.Fatal(err)
	}
	std, err := key.RSA()
	if err != nil {
		t.Fatal(err)
	}
	for _, signer := range []crypto.Signer{key, std} {
		issuer, err := newIssuer(signer)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(issuer.handler())
		defer server.Close()
		var jwks struct{ Keys []struct{ N, E, Kid string } }
		_, text := ask(t, server, "GET", "/jwks.json", "")
		if err := json.Unmarshal(text, &jwks); err != nil || len(jwks.Keys) != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		number := func(text string) *big.Int { return new(big.Int).SetBytes(decode(t, text)) }
		public := &rsa.PublicKey{N: number(jwks.Keys[0].N), E: int(number(jwks.Keys[0].E).Int64())}
		var group sync.WaitGroup
		for range 16 {
			group.Add(1)
			go func() {
				defer group.Done()
				var answer struct{ Token string }
				status, text := ask(t, server, "POST", "/token", `{"sub":"alice"}`)
				if err := json.Unmarshal(text, &answer); err != nil || status != http.StatusOK {
					t.Errorf("%d, %s: %v", status, text, err)
					return
				}
				parts := strings.Split(answer.Token, ".")
				digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
				if err := rsa.VerifyPKCS1v15(public, crypto.SHA256, digest[:], decode(t, parts[2])); err != nil {
					t.Error(err)
				}
				head, claims := string(decode(t, parts[0])), string(decode(t, parts[1]))
				if !strings.Contains(head, jwks.Keys[0].Kid) || !strings.Contains(claims, `"sub":"alice"`) {
					t.Errorf("%s.%s", head, claims)
				}
			}()
		}
		group.Wait()
		for _, body := range []string{"", "{}", `{"sub":3}`, strings.Repeat(" ", 5000) + `{"sub":"alice"}`} {
			if status, _ := ask(t, server, "POST", "/token", body); status != http.StatusBadRequest {
				t.Errorf("%.20q: %d", body, status)
			}
		}
	}
}

func ask(t *testing.T, server *httptest.Server, method, path, body string) (int, []byte) {
	request, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, text
}

func decode(t *testing.T, text string) []byte {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Errorf("%q: %v", text, err)
	}
	return bytes
}
