// Package interop_test tests zariz with other modules that take a crypto.Signer or crypto.Decrypter.
package interop_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"
	"golang.org/x/crypto/ssh"

	"example.org/zariz"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func newKey() (*rsa.PrivateKey, *zariz.Key) {
	std := must(rsa.GenerateKey(rand.Reader, 2048))
	return std, must(zariz.FromRSA(std))
}

// A server and clients of x/crypto/ssh, whose keys are both of zariz, by every RSA algorithm.
func TestSsh(t *testing.T) {
	hostStd, host := newKey()
	_, user := newKey()
	userSigner := must(ssh.NewSignerFromSigner(user))
	for _, algorithm := range []string{ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSA} {
		server := &ssh.ServerConfig{PublicKeyAuthAlgorithms: []string{algorithm},
			PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
				if !bytes.Equal(key.Marshal(), userSigner.PublicKey().Marshal()) {
					return nil, errors.New("another user")
				}
				return nil, nil
			}}
		only := []string{algorithm}
		hostSigner := must(ssh.NewSignerFromSigner(host)).(ssh.AlgorithmSigner)
		server.AddHostKey(must(ssh.NewSignerWithAlgorithms(hostSigner, only)))
		auth := ssh.PublicKeys(must(ssh.NewSignerWithAlgorithms(userSigner.(ssh.AlgorithmSigner), only)))
		client := &ssh.ClientConfig{User: "user", Auth: []ssh.AuthMethod{auth}, HostKeyAlgorithms: only,
			HostKeyCallback: ssh.FixedHostKey(must(ssh.NewPublicKey(&hostStd.PublicKey)))}
		var group sync.WaitGroup
		for range 8 {
			group.Add(1)
			go func() {
				defer group.Done()
				if err := connect(server, client); err != nil {
					t.Errorf("%s: %v", algorithm, err)
				}
			}()
		}
		group.Wait()
	}
}

func connect(serverConfig *ssh.ServerConfig, clientConfig *ssh.ClientConfig) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	result := make(chan error, 1)
	go func() {
		end, err := listener.Accept()
		if err == nil {
			defer end.Close()
			var connection *ssh.ServerConn
			if connection, _, _, err = ssh.NewServerConn(end, serverConfig); err == nil {
				connection.Wait()
			}
		}
		result <- err
	}()
	client, err := ssh.Dial("tcp", listener.Addr().String(), clientConfig)
	if err == nil {
		client.Close()
	}
	return errors.Join(err, <-result)
}

// A certificate of SSH, signed by an authority.
func TestSshCertificate(t *testing.T) {
	_, authority := newKey()
	userStd, _ := newKey()
	signer := must(ssh.NewSignerFromSigner(authority))
	certificate := &ssh.Certificate{Key: must(ssh.NewPublicKey(&userStd.PublicKey)), CertType: ssh.UserCert,
		ValidPrincipals: []string{"user"}, ValidBefore: ssh.CertTimeInfinity}
	if err := certificate.SignCert(rand.Reader, signer); err != nil {
		t.Fatal(err)
	}
	checker := &ssh.CertChecker{IsUserAuthority: func(key ssh.PublicKey) bool {
		return bytes.Equal(key.Marshal(), signer.PublicKey().Marshal())
	}}
	if err := checker.CheckCert("user", certificate); err != nil {
		t.Error(err)
	}
}

// Tokens of go-jose, signed through its cryptosigner.
func TestJose(t *testing.T) {
	std, key := newKey()
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256,
		jose.PS384, jose.PS512} {
		signer := must(jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: cryptosigner.Opaque(key)}, nil))
		text := must(must(signer.Sign([]byte("payload"))).CompactSerialize())
		parsed := must(jose.ParseSigned(text, []jose.SignatureAlgorithm{algorithm}))
		if payload, err := parsed.Verify(&std.PublicKey); err != nil || string(payload) != "payload" {
			t.Errorf("%s: %q, %v", algorithm, payload, err)
		}
	}
}

// decrypter gives go-jose the content key of an encrypted token, which Key decrypts as a crypto.Decrypter.
type decrypter struct{ crypto.Decrypter }

func (d decrypter) DecryptKey(encrypted []byte, header jose.Header) ([]byte, error) {
	switch jose.KeyAlgorithm(header.Algorithm) {
	case jose.RSA1_5:
		// As long as the content key of A128GCM.
		return d.Decrypt(rand.Reader, encrypted, &rsa.PKCS1v15DecryptOptions{SessionKeyLen: 16})
	case jose.RSA_OAEP:
		return d.Decrypt(rand.Reader, encrypted, &rsa.OAEPOptions{Hash: crypto.SHA1})
	case jose.RSA_OAEP_256:
		return d.Decrypt(rand.Reader, encrypted, &rsa.OAEPOptions{Hash: crypto.SHA256})
	}
	return nil, fmt.Errorf("the algorithm %q", header.Algorithm)
}

func TestJoseDecryption(t *testing.T) {
	std, key := newKey()
	for _, algorithm := range []jose.KeyAlgorithm{jose.RSA1_5, jose.RSA_OAEP, jose.RSA_OAEP_256} {
		recipient := jose.Recipient{Algorithm: algorithm, Key: &std.PublicKey}
		encrypter := must(jose.NewEncrypter(jose.A128GCM, recipient, nil))
		text := must(must(encrypter.Encrypt([]byte("secret"))).CompactSerialize())
		parsed := must(jose.ParseEncrypted(text, []jose.KeyAlgorithm{algorithm},
			[]jose.ContentEncryption{jose.A128GCM}))
		if plaintext, err := parsed.Decrypt(decrypter{key}); err != nil || string(plaintext) != "secret" {
			t.Errorf("%s: %q, %v", algorithm, plaintext, err)
		}
		_, other := newKey()
		if _, err := parsed.Decrypt(decrypter{other}); err == nil {
			t.Errorf("%s: decrypted with another key", algorithm)
		}
	}
}
