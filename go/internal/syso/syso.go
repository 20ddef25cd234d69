// Package syso links zariz_linux_amd64.syso into a program: the Go tool links every .syso file of a package's
// folder by itself. It is a package of its own because only programs with cgo can link it. `cargo xtask go`
// makes the file.
package syso
