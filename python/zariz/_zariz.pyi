from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, TypedDict, final

from typing_extensions import Buffer, TypeAlias

# A number: an int, or bytes in big-endian order.
_Number: TypeAlias = SupportsIndex | Buffer
# Many: any iterable of numbers of one kind, or a buffer of uint8 with shape (N, k).
_Numbers: TypeAlias = Iterable[SupportsIndex | Buffer] | Buffer
_Messages: TypeAlias = Iterable[Buffer] | Buffer
_Progress: TypeAlias = Callable[[int], Any] | Any | None
_Moduli: TypeAlias = "Modulus | _Number | Iterable[Modulus | _Number]"

class _Info(TypedDict):
    version: str
    engine: str
    lanes: int
    engines: list[str]
    threads: int

@final
class Modulus:
    def __new__(cls, n: _Number) -> Modulus: ...
    @property
    def bits(self) -> int: ...
    @property
    def size(self) -> int: ...
    def pow(self, base: _Number, exponent: _Number, *, exponent_bits: int | None = None) -> Any: ...
    def pow_vartime(self, base: _Number, exponent: _Number) -> Any: ...
    def pow_batch(
        self,
        bases: _Numbers | _Number,
        exponent: _Numbers | _Number,
        *,
        exponent_bits: int | None = None,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
        out: Buffer | None = None,
    ) -> Any: ...
    def pow_batch_vartime(
        self,
        bases: _Numbers | _Number,
        exponent: _Numbers | _Number,
        *,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
        out: Buffer | None = None,
    ) -> Any: ...

@final
class FixedBase:
    def __new__(
        cls, n: Modulus | _Number, base: _Number, *, exponent_bits: int, memory: int | None = None
    ) -> FixedBase: ...
    @property
    def exponent_bits(self) -> int: ...
    @property
    def memory(self) -> int: ...
    def pow(self, exponent: _Number) -> Any: ...
    def pow_batch(
        self,
        exponents: _Numbers,
        *,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
        out: Buffer | None = None,
    ) -> Any: ...
    def pow_batch_vartime(
        self,
        exponents: _Numbers,
        *,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
        out: Buffer | None = None,
    ) -> Any: ...

@final
class PrivateKey:
    @classmethod
    def load(cls, source: Any, password: str | Buffer | None = None) -> PrivateKey: ...
    @classmethod
    def generate(cls, bits: int = 2048) -> PrivateKey: ...
    @classmethod
    def generate_many(
        cls, bits: int, count: int, *, threads: int | None = None, progress: _Progress = None
    ) -> list[PrivateKey]: ...
    @property
    def bits(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def public_key(self) -> PublicKey: ...
    def to_pem(self, password: str | Buffer | None = None) -> str: ...
    def validate(self) -> None: ...
    def sign(self, message: Buffer, algorithm: str, *, prehashed: bool = False) -> bytes: ...
    def sign_batch(
        self,
        messages: _Messages,
        algorithm: str,
        *,
        prehashed: bool = False,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
        out: Buffer | None = None,
    ) -> Any: ...
    def decrypt(self, ciphertext: Buffer, padding: str = "RSA-OAEP-256", *, label: bytes | None = None) -> bytes: ...
    def decrypt_batch(
        self,
        ciphertexts: _Messages,
        padding: str = "RSA-OAEP-256",
        *,
        label: bytes | None = None,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
    ) -> list[Any]: ...
    def raw_batch(
        self,
        numbers: _Numbers,
        *,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
        out: Buffer | None = None,
    ) -> Any: ...
    def __reduce_ex__(self, _protocol: SupportsIndex, /) -> Any: ...
    def __copy__(self) -> Any: ...
    def __deepcopy__(self, _memo: Any) -> Any: ...

@final
class PublicKey:
    @classmethod
    def load(cls, source: Any) -> PublicKey: ...
    @classmethod
    def from_numbers(cls, n: _Number, e: _Number | None = None) -> PublicKey: ...
    @property
    def bits(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def e(self) -> int: ...
    def to_pem(self) -> str: ...
    def verify(self, message: Buffer, signature: Buffer, algorithm: str, *, prehashed: bool = False) -> None: ...
    def verify_batch(
        self,
        messages: _Messages,
        signatures: _Messages,
        algorithm: str,
        *,
        prehashed: bool = False,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
    ) -> list[Any]: ...
    def encrypt(self, message: Buffer, padding: str = "RSA-OAEP-256", *, label: bytes | None = None) -> bytes: ...
    def encrypt_batch(
        self,
        messages: _Messages,
        padding: str = "RSA-OAEP-256",
        *,
        label: bytes | None = None,
        threads: int | None = None,
        progress: _Progress = None,
        errors: str = "raise",
        out: Buffer | None = None,
    ) -> Any: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> Any: ...

@final
class Column:
    @property
    def null_count(self) -> int: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class _Metrics(TypedDict):
    operations: int
    batches: int
    largest_batch: int
    mean_batch: float
    refused: int
    expired: int
    withdrawn: int
    waits: list[int]

@final
class Batcher:
    def __new__(
        cls,
        *,
        threads: int | None = None,
        max_batch: int | None = None,
        capacity: int | None = None,
        refuse: bool = False,
        linger: float | None = None,
    ) -> Batcher: ...
    def metrics(self) -> _Metrics: ...

@final
class Inbox:
    def __new__(cls) -> Inbox: ...
    def __len__(self) -> int: ...
    def fileno(self) -> int: ...
    def sign(
        self, batcher: Batcher, key: PrivateKey, future: Any, message: Buffer, algorithm: str, prehashed: bool
    ) -> int: ...
    def decrypt(
        self, batcher: Batcher, key: PrivateKey, future: Any, ciphertext: Buffer, padding: str, label: bytes | None
    ) -> int: ...
    def withdraw(self, request: int) -> None: ...
    def drain(self) -> list[tuple[Any, bytes | BaseException]]: ...

def pow_many(
    moduli: _Moduli,
    bases: _Numbers | _Number,
    exponents: _Numbers | _Number,
    *,
    exponent_bits: int | None = None,
    threads: int | None = None,
    progress: _Progress = None,
    errors: str = "raise",
    out: Buffer | None = None,
) -> Any: ...
def pow_many_vartime(
    moduli: _Moduli,
    bases: _Numbers | _Number,
    exponents: _Numbers | _Number,
    *,
    threads: int | None = None,
    progress: _Progress = None,
    errors: str = "raise",
    out: Buffer | None = None,
) -> Any: ...
def mul_many(
    moduli: _Moduli,
    a: _Numbers | _Number,
    b: _Numbers | _Number,
    *,
    threads: int | None = None,
    progress: _Progress = None,
    errors: str = "raise",
    out: Buffer | None = None,
) -> Any: ...
def invert_many(
    moduli: _Moduli,
    numbers: _Numbers | _Number,
    *,
    threads: int | None = None,
    progress: _Progress = None,
    errors: str = "raise",
    out: Buffer | None = None,
) -> Any: ...
def multi_pow_many(
    moduli: _Moduli,
    bases: Iterable[_Numbers],
    exponents: Iterable[_Numbers],
    *,
    exponent_bits: int | None = None,
    vartime: bool = False,
    threads: int | None = None,
    progress: _Progress = None,
    errors: str = "raise",
    out: Buffer | None = None,
) -> Any: ...
def generate_primes(
    bits: int, count: int, *, safe: bool = False, threads: int | None = None, progress: _Progress = None
) -> list[int]: ...
def is_prime_many(
    numbers: _Numbers, *, threads: int | None = None, progress: _Progress = None, errors: str = "raise"
) -> list[Any]: ...
def arrow_private(
    column: Any,
    key: PrivateKey,
    operation: str,
    algorithm: str,
    label: bytes,
    reasons: bool,
    threads: int | None,
    progress: _Progress,
) -> Any: ...
def arrow_pow(
    column: Any,
    modulus: Modulus,
    exponent: _Number,
    exponent_bits: int | None,
    vartime: bool,
    reasons: bool,
    threads: int | None,
    progress: _Progress,
) -> Any: ...
def arrow_verify(
    messages: Any,
    signatures: Any,
    key: PublicKey,
    algorithm: str,
    prehashed: bool,
    reasons: bool,
    threads: int | None,
    progress: _Progress,
) -> Any: ...
def reporter(threads: int | None, progress: _Progress) -> Callable[[int], object] | None: ...
def info() -> _Info: ...
