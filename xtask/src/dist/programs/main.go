package main

import (
	"crypto"
	"crypto/sha256"
	"fmt"

	"example.org/zariz"
)

func main() {
	key, err := zariz.Generate(2048)
	if err != nil {
		panic(err)
	}
	digest := sha256.Sum256([]byte("message"))
	if _, err := key.Sign(nil, digest[:], crypto.SHA256); err != nil {
		panic(err)
	}
	fmt.Println("zariz for Go signed on", zariz.Engine(), zariz.Reason())
}
