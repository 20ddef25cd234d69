"""RSA and powers modulo odd numbers, eight at once in vector lanes, in constant time.

`Modulus`, `pow_many`, `FixedBase`, `multi_pow_many`, `mul_many` and `invert_many` compute with numbers. `PrivateKey`
and `PublicKey` sign, decrypt, verify and encrypt, one message or a batch. `zariz.gmpy` has gmpy2's functions,
`zariz.jwt` makes tokens, `zariz.arrow` works on columns, `zariz.primes` finds primes, and what `zariz.aio` signs can be
awaited.

Numbers are ints, bytes (big-endian) or buffers of uint8 with shape (N, k), such as numpy's arrays. Results are of the
same kind. Calls for many items take `threads=` (all processors by default), `progress=` (called with the number of
items that are newly done, such as `tqdm(...).update`) and `errors=`: "raise" raises one `BatchError`, which has the
results of the other items; "return" puts the errors into the list.

Names with `_vartime` take time that depends on the exponents; the others do not. zariz wipes its own copies of
secrets. Python's ints and bytes are not wiped, and Python's own arithmetic shows their lengths.
"""

from ._errors import (
    BatchError,
    DecryptionFailed,
    Error,
    InvalidKey,
    InvalidModulus,
    InvalidSignature,
    NotInvertible,
)
from ._zariz import (
    FixedBase,
    Modulus,
    PrivateKey,
    PublicKey,
    info,
    invert_many,
    mul_many,
    multi_pow_many,
    pow_many,
    pow_many_vartime,
)

__all__ = [
    "BatchError",
    "DecryptionFailed",
    "Error",
    "FixedBase",
    "InvalidKey",
    "InvalidModulus",
    "InvalidSignature",
    "Modulus",
    "NotInvertible",
    "PrivateKey",
    "PublicKey",
    "info",
    "invert_many",
    "mul_many",
    "multi_pow_many",
    "pow_many",
    "pow_many_vartime",
]

__version__: str = info()["version"]
