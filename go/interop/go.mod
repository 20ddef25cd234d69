// Tests of zariz with other modules. Nothing imports it.
module example.org/zariz/interop

go 1.24.0

require (
	example.org/zariz v0.1.0
	github.com/go-jose/go-jose/v4 v4.1.9
	golang.org/x/crypto v0.45.0
)

require golang.org/x/sys v0.38.0 // indirect

replace example.org/zariz => ../
