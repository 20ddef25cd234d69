// Package syso links zariz_linux_GOARCH.syso into a program: the Go tool links every .syso file of a package's
// folder that is for its system. It is a package of its own because only programs with cgo can link it. `cargo xtask go`
// makes the file.
package syso
