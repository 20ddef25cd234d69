package zariz_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"example.org/zariz"
)

// certificate is signed by the parent, or by itself; by zariz in both cases.
func certificate(t *testing.T, key *zariz.Key, name string, algorithm x509.SignatureAlgorithm,
	parent *x509.Certificate, parentKey *zariz.Key) *x509.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign |
			x509.KeyUsageCRLSign,
		BasicConstraintsValid: true, IsCA: parent == nil, SignatureAlgorithm: algorithm,
	}
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		t.Fatalf("%v: %v", algorithm, err)
	}
	return must(x509.ParseCertificate(der))
}

var x509Algorithms = []x509.SignatureAlgorithm{0, x509.SHA256WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA,
	x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS}

func TestCertificatesAndRevocationLists(t *testing.T) {
	key := ourKey(2048, 0)
	for _, algorithm := range x509Algorithms {
		root := certificate(t, key, "root", algorithm, nil, nil)
		leaf := certificate(t, ourKey(2048, 1), "leaf", algorithm, root, key)
		if err := leaf.CheckSignatureFrom(root); err != nil {
			t.Errorf("%v: %v", algorithm, err)
		}
		list := &x509.RevocationList{Number: big.NewInt(1), SignatureAlgorithm: algorithm, ThisUpdate: time.Now(),
			NextUpdate: time.Now().Add(time.Hour), RevokedCertificateEntries: []x509.RevocationListEntry{
				{SerialNumber: leaf.SerialNumber, RevocationTime: time.Now()}}}
		der := must(x509.CreateRevocationList(rand.Reader, list, root, key))
		if err := must(x509.ParseRevocationList(der)).CheckSignatureFrom(root); err != nil {
			t.Errorf("%v: %v", algorithm, err)
		}
		request := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "leaf"}, SignatureAlgorithm: algorithm}
		der = must(x509.CreateCertificateRequest(rand.Reader, request, key))
		if err := must(x509.ParseCertificateRequest(der)).CheckSignature(); err != nil {
			t.Errorf("%v: %v", algorithm, err)
		}
	}
}

// Servers and clients of crypto/tls, both with keys of zariz, many at once.
func TestTLS(t *testing.T) {
	rootKey := ourKey(2048, 0)
	root := certificate(t, rootKey, "root", 0, nil, nil)
	roots := x509.NewCertPool()
	roots.AddCert(root)
	with := func(number int, name string) tls.Certificate {
		key := ourKey(2048, number)
		// The line that a program changes.
		return tls.Certificate{PrivateKey: key,
			Certificate: [][]byte{certificate(t, key, name, 0, root, rootKey).Raw}}
	}
	server, client := with(1, "server"), with(2, "client")
	for _, suite := range []struct {
		version uint16
		suite   uint16
	}{
		{tls.VersionTLS13, 0},
		{tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
		{tls.VersionTLS12, tls.TLS_RSA_WITH_AES_128_GCM_SHA256}, // decrypts a session key
	} {
		configuration := func(own tls.Certificate) *tls.Config {
			config := &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: roots, ClientCAs: roots,
				ClientAuth: tls.RequireAndVerifyClientCert, ServerName: "server",
				MinVersion: suite.version, MaxVersion: suite.version}
			if suite.suite != 0 {
				config.CipherSuites = []uint16{suite.suite}
			}
			return config
		}
		serverConfig, clientConfig := configuration(server), configuration(client)
		var group sync.WaitGroup
		for range 32 {
			group.Add(1)
			go func() {
				defer group.Done()
				if err := handshake(serverConfig, clientConfig); err != nil {
					t.Errorf("%s, suite %d: %v", tls.VersionName(suite.version), suite.suite, err)
				}
			}()
		}
		group.Wait()
	}
	// A client whose certificate has another key.
	client.PrivateKey = ourKey(2048, 3)
	config := &tls.Config{Certificates: []tls.Certificate{client}, RootCAs: roots, ServerName: "server"}
	err := handshake(&tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: roots,
		ClientAuth: tls.RequireAndVerifyClientCert}, config)
	if err == nil {
		t.Error("a client with a wrong key")
	}
}

func handshake(serverConfig, clientConfig *tls.Config) error {
	serverEnd, clientEnd := net.Pipe()
	result := make(chan error, 1)
	go func() {
		server := tls.Server(serverEnd, serverConfig)
		defer serverEnd.Close()
		err := server.Handshake()
		if err == nil {
			_, err = server.Write([]byte("hello"))
		}
		result <- err
	}()
	client := tls.Client(clientEnd, clientConfig)
	defer clientEnd.Close()
	text := make([]byte, 5)
	_, err := io.ReadFull(client, text)
	if err == nil && !bytes.Equal(text, []byte("hello")) {
		err = fmt.Errorf("read %q", text)
	}
	clientEnd.Close()
	return errors.Join(err, <-result)
}

var pemOfTheKey = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
	Bytes: x509.MarshalPKCS1PrivateKey(stdKey(2048, 0))})

func ExampleLoad() {
	key, err := zariz.Load(pemOfTheKey)
	if err != nil {
		panic(err)
	}
	_ = tls.Certificate{PrivateKey: key} // beside Certificate, as before
	fmt.Println(key.Public().(*rsa.PublicKey).N.BitLen())
	// Output: 2048
}
