package jwt_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"example.org/zariz"
	zarizjwt "example.org/zariz/jwt"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

var (
	std    = must(rsa.GenerateKey(rand.Reader, 2048))
	key    = must(zariz.FromRSA(std))
	public = must(zariz.NewPublicKey(&std.PublicKey))
)

var methods = map[jwt.SigningMethod]*zarizjwt.SigningMethod{
	jwt.SigningMethodRS256: zarizjwt.SigningMethodRS256, jwt.SigningMethodRS384: zarizjwt.SigningMethodRS384,
	jwt.SigningMethodRS512: zarizjwt.SigningMethodRS512, jwt.SigningMethodPS256: zarizjwt.SigningMethodPS256,
	jwt.SigningMethodPS384: zarizjwt.SigningMethodPS384, jwt.SigningMethodPS512: zarizjwt.SigningMethodPS512,
}

// Each verifies what the other signs, with keys of both kinds; goroutines at once.
func TestTokens(t *testing.T) {
	zarizjwt.Register()
	var group sync.WaitGroup
	for theirs, ours := range methods {
		for i := range 8 {
			group.Add(1)
			go func() {
				defer group.Done()
				subject := fmt.Sprint("subject ", i)
				claims := jwt.MapClaims{"sub": subject}
				for _, text := range []string{
					must(jwt.NewWithClaims(ours, claims).SignedString(key)),
					must(jwt.NewWithClaims(ours, claims).SignedString(std)),
					must(jwt.NewWithClaims(theirs, claims).SignedString(std)),
				} {
					for _, verifier := range []any{public, &std.PublicKey} {
						parse := func(text string) (*jwt.Token, error) {
							return jwt.Parse(text, func(token *jwt.Token) (any, error) {
								if token.Method != ours {
									t.Errorf("parsed with %T", token.Method)
								}
								return verifier, nil
							}, jwt.WithValidMethods([]string{ours.Alg()}))
						}
						token, err := parse(text)
						if err != nil || !token.Valid {
							t.Errorf("%s with %T: %v", ours.Alg(), verifier, err)
							return
						}
						if found := must(token.Claims.GetSubject()); found != subject {
							t.Errorf("%s: %q", ours.Alg(), found)
						}
						head, rest, _ := strings.Cut(text, ".")
						body, signature, _ := strings.Cut(rest, ".")
						if _, err := parse(head + "." + body + "A." + signature); err == nil {
							t.Errorf("%s with %T: a changed token", ours.Alg(), verifier)
						}
					}
				}
				// golang-jwt's own method reads ours, too.
				parts := strings.Split(must(jwt.NewWithClaims(ours, claims).SignedString(key)), ".")
				signature := must(jwt.NewParser().DecodeSegment(parts[2]))
				if err := theirs.Verify(parts[0]+"."+parts[1], signature, &std.PublicKey); err != nil {
					t.Errorf("%s: %v", ours.Alg(), err)
				}
			}()
		}
	}
	group.Wait()
}

func TestOtherKeys(t *testing.T) {
	var noKey *zariz.Key
	var noPublic *zariz.PublicKey
	for _, wrong := range []any{nil, "text", noKey, noPublic, std.PublicKey} {
		if _, err := zarizjwt.SigningMethodRS256.Sign("text", wrong); err == nil {
			t.Errorf("signing with %T: no error", wrong)
		}
		if err := zarizjwt.SigningMethodPS256.Verify("text", make([]byte, 256), wrong); err == nil {
			t.Errorf("verifying with %T: no error", wrong)
		}
	}
}
