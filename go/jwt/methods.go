// Package jwt has signing methods for github.com/golang-jwt/jwt/v5 that use keys of zariz:
//
//	token := jwt.NewWithClaims(zarizjwt.SigningMethodRS256, claims) // of this package, instead of jwt's
//	text, err := token.SignedString(key)                            // a *zariz.Key
//
// For verification, call [Register] once, and have the Keyfunc return a *zariz.PublicKey. Then the method of
// a parsed token is a [*SigningMethod]: a Keyfunc's check token.Method.(*jwt.SigningMethodRSA) fails. Name
// the algorithms with [jwt.WithValidMethods] instead.
package jwt

import (
	"crypto"
	"crypto/rsa"
	_ "crypto/sha256"
	_ "crypto/sha512"

	"github.com/golang-jwt/jwt/v5"

	"example.org/zariz"
)

// SigningMethod signs with a *zariz.Key, and verifies with a *zariz.PublicKey. Other keys go to the method of
// golang-jwt of the same name.
type SigningMethod struct {
	jwt.SigningMethod
	sign, verify crypto.SignerOpts
}

// The RSA algorithms of JWS.
var (
	SigningMethodRS256 = pkcs1v15(jwt.SigningMethodRS256)
	SigningMethodRS384 = pkcs1v15(jwt.SigningMethodRS384)
	SigningMethodRS512 = pkcs1v15(jwt.SigningMethodRS512)
	SigningMethodPS256 = pss(jwt.SigningMethodPS256)
	SigningMethodPS384 = pss(jwt.SigningMethodPS384)
	SigningMethodPS512 = pss(jwt.SigningMethodPS512)
)

func pkcs1v15(method *jwt.SigningMethodRSA) *SigningMethod {
	return &SigningMethod{method, method.Hash, method.Hash}
}

// Like golang-jwt: signatures have a salt as long as the digest, and verification accepts any length.
func pss(method *jwt.SigningMethodRSAPSS) *SigningMethod {
	return &SigningMethod{method,
		&rsa.PSSOptions{Hash: method.Hash, SaltLength: rsa.PSSSaltLengthEqualsHash},
		&rsa.PSSOptions{Hash: method.Hash, SaltLength: rsa.PSSSaltLengthAuto}}
}

// Register has golang-jwt use these methods for the tokens that it parses, in the whole program.
func Register() {
	for _, method := range []*SigningMethod{SigningMethodRS256, SigningMethodRS384, SigningMethodRS512,
		SigningMethodPS256, SigningMethodPS384, SigningMethodPS512} {
		jwt.RegisterSigningMethod(method.Alg(), func() jwt.SigningMethod { return method })
	}
}

// Sign signs with a *zariz.Key.
func (m *SigningMethod) Sign(text string, key any) ([]byte, error) {
	if ours, isOurs := key.(*zariz.Key); isOurs && ours != nil {
		return ours.SignMessage(nil, []byte(text), m.sign)
	}
	return m.SigningMethod.Sign(text, key)
}

// Verify verifies with a *zariz.PublicKey.
func (m *SigningMethod) Verify(text string, signature []byte, key any) error {
	ours, isOurs := key.(*zariz.PublicKey)
	if !isOurs || ours == nil {
		return m.SigningMethod.Verify(text, signature, key)
	}
	hash := m.verify.HashFunc().New()
	hash.Write([]byte(text))
	return ours.Verify(hash.Sum(nil), signature, m.verify)
}
