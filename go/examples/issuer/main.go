// An issuer of tokens: POST /token {"sub": "alice"} gives a JWT (RS256), GET /jwks.json the public key. Copy
// what you need. Put a proxy in front of it that has TLS, authenticates callers and limits them.
//
//	go run ./examples/issuer serve -key key.pem     # with -crypto-rsa: without zariz
//	go run ./examples/issuer measure                # both, beside each other
package main

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.org/zariz"
)

func main() {
	var err error
	switch command := append(os.Args, "")[1]; command {
	case "serve":
		err = serve(os.Args[2:])
	case "measure":
		err = measure(os.Args[2:])
	default:
		err = errors.New("usage: issuer serve|measure, with -help for each")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// issuer signs tokens.
type issuer struct {
	signer crypto.Signer
	head   string
	jwks   []byte
}

func newIssuer(signer crypto.Signer) (*issuer, error) {
	public, isRSA := signer.Public().(*rsa.PublicKey)
	if !isRSA {
		return nil, errors.New("the key is no RSA key")
	}
	encode := base64.RawURLEncoding.EncodeToString
	n, e := encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	mark := sha256.Sum256(fmt.Appendf(nil, `{"e":%q,"kty":"RSA","n":%q}`, e, n)) // RFC 7638
	kid := encode(mark[:])
	return &issuer{signer: signer,
		head: encode(fmt.Appendf(nil, `{"alg":"RS256","kid":%q,"typ":"JWT"}`, kid)),
		jwks: fmt.Appendf(nil, `{"keys":[{"alg":"RS256","e":%q,"kid":%q,"kty":"RSA","n":%q,"use":"sig"}]}`, e, kid, n),
	}, nil
}

// token makes a token. With a key of zariz, the request of a caller that is gone leaves the queue.
func (i *issuer) token(ctx context.Context, subject string) (string, error) {
	now := time.Now().Unix()
	claims, err := json.Marshal(map[string]any{"sub": subject, "iat": now, "exp": now + 3600})
	if err != nil {
		return "", err
	}
	text := i.head + "." + base64.RawURLEncoding.EncodeToString(claims)
	digest := sha256.Sum256([]byte(text))
	var signature []byte
	if key, isOurs := i.signer.(*zariz.Key); isOurs {
		signature, err = key.SignContext(ctx, digest[:], crypto.SHA256)
	} else {
		signature, err = i.signer.Sign(nil, digest[:], crypto.SHA256)
	}
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

func (i *issuer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Sub string }
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&request)
		if err != nil || request.Sub == "" {
			http.Error(w, `the body is {"sub": "NAME"}`, http.StatusBadRequest)
			return
		}
		token, err := i.token(r.Context(), request.Sub)
		if err != nil {
			log.Print(err)
			http.Error(w, "the token could not be made", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"token":%q}`, token)
	})
	mux.HandleFunc("GET /jwks.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(i.jwks)
	})
	return mux
}

func serve(arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	path := flags.String("key", "key.pem", "the private key")
	address := flags.String("listen", "127.0.0.1:8080", "where to listen; port 0 is any")
	without := flags.Bool("crypto-rsa", false, "sign with crypto/rsa")
	flags.Parse(arguments)
	data, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	key, err := zariz.Load(data)
	if err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	defer key.Close()
	var signer crypto.Signer = key
	engine := zariz.Engine()
	if *without {
		engine = "crypto/rsa"
		if signer, err = key.RSA(); err != nil {
			return err
		}
	} else if !zariz.Available() {
		log.Print("without zariz's engine: ", zariz.Reason())
	}
	issuer, err := newIssuer(signer)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s with %s\n", listener.Addr(), engine)
	server := &http.Server{Handler: issuer.handler(), ReadHeaderTimeout: 10 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		done <- server.Shutdown(context.Background())
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}
