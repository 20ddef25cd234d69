package zariz

import (
	"crypto/rsa"
	"errors"
	"fmt"
)

// ErrClosed is the error of a key or modulus that was closed.
var ErrClosed = errors.New("zariz: the key or modulus is closed")

// ErrFault says that a result was wrong twice and is withheld: the processor or memory is faulty or attacked.
var ErrFault = errors.New("zariz: a result was wrong twice and is withheld: the processor or memory is " +
	"faulty or attacked")

// The statuses of the C library that this package tells apart.
const (
	statusOK           = 0
	statusOutOfRange   = 8
	statusVerification = 10
	statusDecryption   = 11
	statusFault        = 13
)

// result returns the result of a request that was computed.
func (r *request) result() ([]byte, error) {
	if err := statusError(r.status); err != nil {
		return nil, err
	}
	return r.output, nil
}

// statusError returns the error of a status, which is that of crypto/rsa if it has one.
func statusError(status int32) error {
	switch status {
	case statusOK:
		return nil
	case statusVerification:
		return rsa.ErrVerification
	case statusDecryption:
		return rsa.ErrDecryption
	case statusFault:
		return ErrFault
	}
	return fmt.Errorf("zariz: %s", engineStatusText(status))
}
