package zariz

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"unsafe"
)

// Modulus is an odd number above 1, of up to 16384 bits: powers are computed modulo it. Any number of
// goroutines may use it at once; those that do share batches.
//
// With the engine, the time of a power depends on the lengths of the numbers in bytes, but not on their
// values. That holds only for the power itself: math/big, which holds the numbers before and after, is not
// constant-time. Without the engine, math/big also computes the power.
type Modulus struct {
	n      *big.Int
	handle *handle
}

// NewModulus prepares a modulus.
func NewModulus(n *big.Int) (*Modulus, error) {
	if n == nil || n.Cmp(big.NewInt(1)) <= 0 || n.Bit(0) == 0 || n.BitLen() > maxBits {
		return nil, fmt.Errorf("zariz: a modulus must be odd, above 1, and have at most %d bits", maxBits)
	}
	var pointer unsafe.Pointer // nil without the engine
	if Available() {
		var err error
		if pointer, err = engineModulusOf(n); err != nil {
			return nil, err
		}
	}
	m := &Modulus{new(big.Int).Set(n), newHandle(pointer, engineFreeModulus)}
	runtime.AddCleanup(m, (*handle).close, m.handle)
	return m, nil
}

// Close frees the modulus, as soon as powers under way have ended. Later ones return [ErrClosed]. A modulus
// that is not closed is freed when it is collected.
func (m *Modulus) Close() error {
	m.handle.close()
	return nil
}

// Pow returns base^exponent modulo m, from 0 to m−1. The exponent must not be negative.
func (m *Modulus) Pow(base, exponent *big.Int) (*big.Int, error) {
	return m.PowContext(context.Background(), base, exponent)
}

// PowContext is Pow, with a context that ends the wait.
func (m *Modulus) PowContext(ctx context.Context, base, exponent *big.Int) (*big.Int, error) {
	r, err := m.toRaise(base, exponent)
	if err != nil {
		return nil, err
	}
	if r == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return new(big.Int).Exp(base, exponent, m.n), nil
	}
	if err := combinerOf(power, m.n.BitLen()).do(ctx, r); err != nil {
		return nil, err
	}
	defer recycle(r)
	return powerOf(r)
}

func powerOf(r *request) (*big.Int, error) {
	bytes, err := r.result()
	if err != nil {
		return nil, err
	}
	defer clear(bytes)
	return new(big.Int).SetBytes(bytes), nil
}

// toRaise makes a request for the engine; nil without an engine.
func (m *Modulus) toRaise(base, exponent *big.Int) (*request, error) {
	if base == nil || exponent == nil || exponent.Sign() < 0 {
		return nil, errors.New("zariz: the base or exponent is nil, or the exponent negative")
	}
	if err := m.handle.hold(); err != nil {
		return nil, err
	}
	if m.handle.pointer == nil {
		m.handle.release()
		return nil, nil
	}
	if base.Sign() < 0 {
		base = new(big.Int).Mod(base, m.n)
	}
	baseBytes, exponentBytes := base.Bytes(), exponent.Bytes()
	defer clear(baseBytes)
	defer clear(exponentBytes)
	return newRequest(0, 0, m.handle, baseBytes, exponentBytes, (m.n.BitLen()+7)/8), nil
}

// PowMany returns bases[i]^exponents[i] modulo m; the engine uses all processors. If there is only one
// exponent, it is used for all bases.
func (m *Modulus) PowMany(bases, exponents []*big.Int) ([]*big.Int, error) {
	if len(exponents) != len(bases) && len(exponents) != 1 {
		return nil, fmt.Errorf("zariz: %d bases and %d exponents: give as many, or one exponent", len(bases),
			len(exponents))
	}
	powers := make([]*big.Int, len(bases))
	var many many
	var failure error
	for i, base := range bases {
		exponent := exponents[min(i, len(exponents)-1)]
		r, err := m.toRaise(base, exponent)
		switch {
		case err != nil:
			failure = errors.Join(failure, fmt.Errorf("power %d of %d: %w", i, len(bases), err))
		case r == nil:
			powers[i] = new(big.Int).Exp(base, exponent, m.n)
		default:
			many.add(power, m.n.BitLen(), r, func() {
				var err error
				powers[i], err = powerOf(r)
				failure = errors.Join(failure, err)
			})
		}
	}
	many.compute()
	if failure != nil {
		return nil, failure
	}
	return powers, nil
}
