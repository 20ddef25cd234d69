/* zariz: RSA and modular exponentiation, many numbers at once on vector instructions. docs/c.md has examples.
 *
 * Errors. Functions return ZARIZ_OK (0) or another status. zariz_last_error() returns the message of the
 * last failure of the thread. A function that fails writes no result. In an array, each job has its own
 * status and output, and a bad job spoils no other.
 *
 * Memory. The library makes handles. Free each of them once, with the function whose name ends in _free; NULL
 * is allowed there. All other memory is the caller's: the library reads and writes it only during the call,
 * and no other thread may write it meanwhile. Set all fields of a struct; memset to 0 is a good start.
 * Numbers are big-endian.
 *
 * Threads. Every function may be called on any thread, and any number of threads may use a handle at once,
 * as long as none frees it. After fork(), batchers have new queues in the child. There, requests of the
 * parent have no result, and the parent's lists of completions cannot be used.
 *
 * Constant time. The time of a function depends on lengths, but not on the values of keys, exponents,
 * plaintexts and padding. Functions for which that is not so say it.
 *
 * Generated: `cargo xtask api` writes this file. */

#ifndef ZARIZ_H
#define ZARIZ_H

#include <stddef.h>
#include <stdint.h>

// The version of this header.
#define ZARIZ_VERSION_MAJOR 0

// The version of this header.
#define ZARIZ_VERSION_MINOR 1

// SHA-1. Only for protocols that need it.
#define ZARIZ_SHA1 1

// SHA-224.
#define ZARIZ_SHA224 2

// SHA-256.
#define ZARIZ_SHA256 3

// SHA-384.
#define ZARIZ_SHA384 4

// SHA-512.
#define ZARIZ_SHA512 5

// SHA-512/224.
#define ZARIZ_SHA512_224 6

// SHA-512/256.
#define ZARIZ_SHA512_256 7

// SHA3-224.
#define ZARIZ_SHA3_224 8

// SHA3-256.
#define ZARIZ_SHA3_256 9

// SHA3-384.
#define ZARIZ_SHA3_384 10

// SHA3-512.
#define ZARIZ_SHA3_512 11

// PKCS #1 v1.5 with SHA-256: RS256 in JWS.
#define ZARIZ_RS256 0x10030000u

// PKCS #1 v1.5 with SHA-384.
#define ZARIZ_RS384 0x10040000u

// PKCS #1 v1.5 with SHA-512.
#define ZARIZ_RS512 0x10050000u

// PSS with SHA-256, and a salt as long as the digest.
#define ZARIZ_PS256 0x23030020u

// PSS with SHA-384, and a salt as long as the digest.
#define ZARIZ_PS384 0x24040030u

// PSS with SHA-512, and a salt as long as the digest.
#define ZARIZ_PS512 0x25050040u

// OR this to a signature algorithm if the input is the digest of the message, not the message.
#define ZARIZ_DIGEST 0x80000000u

// A salt length for zariz_pss. Signing uses the longest salt that fits; verification accepts any length. If
// a public key itself names the parameters of PSS (RSASSA-PSS), verification needs the length instead.
#define ZARIZ_SALT_AUTO 65535

// Encryption with PKCS #1 v1.5. If the padding of a ciphertext is wrong, decryption gives other bytes, which
// look random, instead of an error (implicit rejection): no attacker learns that it was wrong.
#define ZARIZ_PKCS1V15 0x30000000u

// Encryption with OAEP and SHA-1, the default of many libraries.
#define ZARIZ_OAEP_SHA1 0x41010000u

// Encryption with OAEP and SHA-256.
#define ZARIZ_OAEP_SHA256 0x43030000u

// A batcher's job: sign, like zariz_sign_many.
#define ZARIZ_SIGN 1

// A batcher's job: decrypt, like zariz_decrypt_many.
#define ZARIZ_DECRYPT 2

// A batcher's job: input^d mod n, like zariz_private_many.
#define ZARIZ_PRIVATE 3

// Computes requests of many threads in batches. Any number of threads may use it at once. After `fork`, the
// child has its own queue.
typedef struct zariz_batcher zariz_batcher;

// A list of results that nobody has taken yet. Any number of threads may use it at once. A child of `fork`
// must make its own.
typedef struct zariz_completions zariz_completions;

// A base with a table of its powers. It never changes, so any number of threads may use it at once.
typedef struct zariz_fixed_base zariz_fixed_base;

// An odd modulus with its constants. It never changes, so any number of threads may use it at once.
typedef struct zariz_modulus zariz_modulus;

// A private key. It never changes, so any number of threads may use it at once.
typedef struct zariz_private_key zariz_private_key;

// A public key. It never changes, so any number of threads may use it at once.
typedef struct zariz_public_key zariz_public_key;

// A submitted request. With this handle you can cancel it.
typedef struct zariz_request zariz_request;

// What a function returns: `ZARIZ_OK`, or the kind of failure.
typedef int32_t zariz_status;

// Bytes of the caller. The library only reads them. `data` may be NULL if `len` is 0.
typedef struct zariz_bytes {
  // The first byte.
  const uint8_t *data;
  // How many bytes there are.
  size_t len;
} zariz_bytes;

// One operation with a private key. The caller owns all memory; `output` may be the memory of an input.
typedef struct zariz_private_job {
  // The key.
  const struct zariz_private_key *key;
  // The signature algorithm, or the encryption padding; not read for zariz_private_many.
  uint32_t algorithm;
  // The library writes the status of the job here.
  zariz_status status;
  // The message or digest, the ciphertext, or a big-endian number as long as the key.
  struct zariz_bytes input;
  // OAEP's label; empty for everything else.
  struct zariz_bytes label;
  // The result is written here; `zariz_private_key_size` bytes are always enough.
  uint8_t *output;
  // How many bytes may be written to `output`.
  size_t capacity;
  // The library writes the length of the result here: 0 if the job failed.
  size_t output_len;
} zariz_private_job;

// Called once for each request. `context` is the pointer that was submitted with it. `result` is valid
// during the call, and the library wipes it afterwards. It is empty unless the status is ZARIZ_OK.
//
// A callback runs on a thread of the batcher, or on a thread that submits or cancels any of its requests. So
// when you call these functions, hold no lock that a callback needs. A callback may call the library, but
// must not wait for the result of a submitted request. It must return: no exception, no longjmp. It should
// be short, because other results wait for it.
typedef void (*zariz_callback)(void *context, zariz_status status, struct zariz_bytes result);

// One power: base^exponent mod modulus, big-endian. The caller owns all memory; `output` may be the memory
// of an input.
typedef struct zariz_pow_job {
  // The modulus.
  const struct zariz_modulus *modulus;
  // The base, of any length; it may be above the modulus.
  struct zariz_bytes base;
  // The exponent. Its value is secret, its length is not.
  struct zariz_bytes exponent;
  // `zariz_modulus_size` bytes are written here.
  uint8_t *output;
  // How many bytes may be written to `output`.
  size_t capacity;
  // The library writes the status of the job here.
  zariz_status status;
} zariz_pow_job;

// Settings of a batcher. For each, 0 is the default.
typedef struct zariz_batcher_options {
  // The most batches computed at once; by default, the number of processors.
  size_t threads;
  // The most requests in a batch; by default, 16.
  size_t max_batch;
  // The most requests that may wait; one more fails with ZARIZ_FULL. By default, there is no limit.
  size_t capacity;
  // The longest time, in microseconds, that a request waits for others. By default, none waits.
  uint64_t linger_us;
} zariz_batcher_options;

// Counters of a batcher, in this process.
typedef struct zariz_metrics {
  // Requests that were computed.
  uint64_t operations;
  // Batches in which they were computed.
  uint64_t batches;
  // The most requests in one batch.
  uint64_t largest_batch;
  // Requests that found the queue full.
  uint64_t refused;
  // Requests whose time limit passed.
  uint64_t expired;
  // Requests that were cancelled.
  uint64_t withdrawn;
} zariz_metrics;

// Bytes that the library allocated. The caller owns them, and must free them with zariz_buffer_free.
typedef struct zariz_buffer {
  // The first byte, or NULL if there are none.
  uint8_t *data;
  // How many bytes there are.
  size_t len;
} zariz_buffer;

// The result of a request that has ended.
typedef struct zariz_completion {
  // The pointer that was submitted with the request.
  void *context;
  // The status of the request.
  zariz_status status;
  // The result. The caller owns it, and must free it with zariz_buffer_free.
  struct zariz_buffer result;
} zariz_completion;

// The numbers of a private key, big-endian, with or without leading zeros. If `dp`, `dq` and `qinv` are all
// empty, they are computed.
typedef struct zariz_private_numbers {
  // The modulus, p·q.
  struct zariz_bytes n;
  // The public exponent.
  struct zariz_bytes e;
  // The private exponent.
  struct zariz_bytes d;
  // A prime.
  struct zariz_bytes p;
  // The other prime.
  struct zariz_bytes q;
  // d mod (p − 1).
  struct zariz_bytes dp;
  // d mod (q − 1).
  struct zariz_bytes dq;
  // The inverse of q mod p.
  struct zariz_bytes qinv;
} zariz_private_numbers;

// One operation with a public key. The caller owns all memory; `output` may be the memory of an input.
typedef struct zariz_public_job {
  // The key.
  const struct zariz_public_key *key;
  // The signature algorithm, or the encryption padding; not read for zariz_public_many.
  uint32_t algorithm;
  // The library writes the status of the job here.
  zariz_status status;
  // The message or digest, the plaintext, or a big-endian number as long as the key.
  struct zariz_bytes input;
  // The signature to verify, or OAEP's label; empty for everything else.
  struct zariz_bytes other;
  // The result is written here; verification has none. `zariz_public_key_size` bytes are enough.
  uint8_t *output;
  // How many bytes may be written to `output`.
  size_t capacity;
  // The library writes the length of the result here: 0 if the job failed.
  size_t output_len;
} zariz_public_job;

// Success. For a verification: the signature is valid.
#define ZARIZ_OK 0

// A pointer that must not be NULL is NULL.
#define ZARIZ_NULL_POINTER 1

// A handle is of another kind, or was freed already. Not every use after a free is noticed.
#define ZARIZ_WRONG_HANDLE 2

// An argument is not valid: an unknown algorithm, or a length that no key can have.
#define ZARIZ_INVALID_ARGUMENT 3

// The bytes are not an RSA key, or zariz refuses the key.
#define ZARIZ_INVALID_KEY 4

// The key is encrypted, and the password is missing or wrong.
#define ZARIZ_PASSWORD 5

// An input has the wrong length, or is too long for the key.
#define ZARIZ_INPUT_LENGTH 6

// The memory for the result is too small.
#define ZARIZ_OUTPUT_LENGTH 7

// A number is not below the modulus.
#define ZARIZ_OUT_OF_RANGE 8

// The key does not allow this use, or is too short for the algorithm.
#define ZARIZ_UNSUPPORTED 9

// The signature is not valid.
#define ZARIZ_VERIFICATION 10

// The ciphertext cannot be decrypted. No message says why, because an attacker could use that.
#define ZARIZ_DECRYPTION 11

// The system gave no random bytes.
#define ZARIZ_RANDOM 12

// A result was wrong twice, and is withheld: the processor or memory is faulty or attacked.
#define ZARIZ_FAULT 13

// The batcher's queue is full.
#define ZARIZ_FULL 14

// The time limit of the request has passed.
#define ZARIZ_EXPIRED 15

// The request was cancelled.
#define ZARIZ_CANCELLED 16

// The request belongs to the parent process.
#define ZARIZ_FORKED 17

// There is no result to take.
#define ZARIZ_EMPTY 18

// The system gave no thread, descriptor or memory.
#define ZARIZ_RESOURCES 19

// A defect of zariz. Please report it.
#define ZARIZ_INTERNAL 20

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, such as "0.1.0". A program runs with it if it was compiled with a
// header of the same major version, and before 1.0 also of the same minor version.
const char *zariz_version(void);

// Returns the name of the engine that computes full batches on this processor, such as "avx512-ifma".
const char *zariz_engine(void);

// Returns how many numbers that engine computes at once: 8, 4 or 1. Batches are fastest if their size is a
// multiple of it.
size_t zariz_lanes(void);

// Returns how many private results of this process failed the check with the public exponent. Each was
// computed again, or withheld. If it is not 0, the processor or memory is faulty or attacked, or a key is
// wrong.
uint64_t zariz_check_failures(void);

// Returns the signature algorithm PKCS #1 v1.5 with a hash. If there is no such hash, returns 0, which is no
// algorithm.
uint32_t zariz_pkcs1v15(uint32_t hash);

// Returns the signature algorithm PSS with a hash, the hash of its mask (MGF1), and a salt of this many
// bytes, or ZARIZ_SALT_AUTO. If there is no such hash, or the salt is longer than 65535 bytes, returns 0,
// which is no algorithm.
uint32_t zariz_pss(uint32_t hash, uint32_t mgf1_hash, uint32_t salt_len);

// Returns the encryption padding OAEP with a hash, and the hash of its mask (MGF1). If there is no such
// hash, returns 0, which is no padding.
uint32_t zariz_oaep(uint32_t hash, uint32_t mgf1_hash);

// Submits one job (ZARIZ_SIGN, ZARIZ_DECRYPT or ZARIZ_PRIVATE) and returns at once. The library copies what
// it needs; the job's `output` is not used. If the status is ZARIZ_OK, the callback is called once, perhaps
// before this function returns. If `request` is not NULL, it receives a handle, which must be freed with
// zariz_request_free. If the computation has not begun after `timeout_us` microseconds, the request ends
// with ZARIZ_EXPIRED when its turn comes; 0 means no limit.
zariz_status zariz_batcher_submit(const struct zariz_batcher *batcher,
                                  uint32_t operation,
                                  const struct zariz_private_job *job,
                                  uint64_t timeout_us,
                                  zariz_callback callback,
                                  void *context,
                                  struct zariz_request **request);

// Submits one power, in constant time, like zariz_batcher_submit.
zariz_status zariz_batcher_submit_pow(const struct zariz_batcher *batcher,
                                      const struct zariz_pow_job *job,
                                      uint64_t timeout_us,
                                      zariz_callback callback,
                                      void *context,
                                      struct zariz_request **request);

// Submits one job, like zariz_batcher_submit; its result goes to a list of completions.
zariz_status zariz_batcher_submit_to(const struct zariz_batcher *batcher,
                                     uint32_t operation,
                                     const struct zariz_private_job *job,
                                     uint64_t timeout_us,
                                     const struct zariz_completions *completions,
                                     void *context,
                                     struct zariz_request **request);

// Submits one power, in constant time; its result goes to a list of completions.
zariz_status zariz_batcher_submit_pow_to(const struct zariz_batcher *batcher,
                                         const struct zariz_pow_job *job,
                                         uint64_t timeout_us,
                                         const struct zariz_completions *completions,
                                         void *context,
                                         struct zariz_request **request);

// Cancels a request. Unless its result is there already, the request ends with ZARIZ_CANCELLED, perhaps
// before this function returns. If it is being computed, the result is thrown away. In a child of `fork`,
// requests of the parent have no result, and this function does nothing.
zariz_status zariz_request_cancel(const struct zariz_request *request);

// Frees the handle of a request. The request goes on.
void zariz_request_free(struct zariz_request *request);

// Makes a batcher; `options` may be NULL. Its threads start when they are needed. It must be freed with
// zariz_batcher_free.
zariz_status zariz_batcher_new(const struct zariz_batcher_options *options, struct zariz_batcher **batcher);

// Frees a batcher. Submitted requests are still computed: for an orderly end, wait for their results first.
// If there are none, the call waits for the batcher's threads, so hold no lock that a callback needs.
void zariz_batcher_free(struct zariz_batcher *batcher);

// The counters of a batcher.
zariz_status zariz_batcher_metrics(const struct zariz_batcher *batcher, struct zariz_metrics *metrics);

// Computes one job (ZARIZ_SIGN, ZARIZ_DECRYPT or ZARIZ_PRIVATE) together with those of other threads, and
// blocks until its result is there. Meanwhile this thread may compute jobs of other threads. After
// `timeout_us` microseconds the call returns ZARIZ_EXPIRED, unless this thread is computing; 0 means no
// limit.
zariz_status zariz_batcher_call(const struct zariz_batcher *batcher,
                                uint32_t operation,
                                struct zariz_private_job *job,
                                uint64_t timeout_us);

// Computes one power in constant time, like zariz_batcher_call.
zariz_status zariz_batcher_pow(const struct zariz_batcher *batcher,
                               struct zariz_pow_job *job,
                               uint64_t timeout_us);

// Makes a list of completions. It must be freed with zariz_completions_free.
zariz_status zariz_completions_new(struct zariz_completions **completions);

// Frees a list, and wipes the results that nobody has taken. Remove the descriptor from your event loop
// first. If requests still run, the library keeps the list until they have ended.
void zariz_completions_free(struct zariz_completions *completions);

// Returns a descriptor for poll, epoll or an event loop. It is readable while there are results: take them
// until there are none. The list owns the descriptor, so do not read or close it. Returns −1 for a wrong
// handle.
int zariz_completions_fd(const struct zariz_completions *completions);

// Takes the oldest result: ZARIZ_OK, or ZARIZ_EMPTY if there is none.
zariz_status zariz_completions_next(const struct zariz_completions *completions,
                                    struct zariz_completion *completion);

// Returns the meaning of a status, in English. The text is constant.
const char *zariz_status_text(zariz_status status);

// Returns the message of the last call on this thread that failed: what was wrong and where. It stays until
// another call on this thread fails. It is "" if none has failed.
const char *zariz_last_error(void);

// Reads a private key: PKCS #8 or PKCS #1, PEM or DER. If the key is encrypted (PKCS #8, PBES2), give the
// password; otherwise give NULL and length 0. The key must be freed with zariz_private_key_free.
zariz_status zariz_private_key_parse(const uint8_t *data,
                                     size_t len,
                                     const uint8_t *password,
                                     size_t password_len,
                                     struct zariz_private_key **key);

// Makes a private key from its numbers, and checks that they belong together.
zariz_status zariz_private_key_from_numbers(const struct zariz_private_numbers *numbers,
                                            struct zariz_private_key **key);

// Generates `count` private keys of `bits` bits with e = 65537 into an array of `count` pointers. All are
// made, or none. Many in one call take less time than one by one.
zariz_status zariz_private_key_generate(size_t bits, size_t count, struct zariz_private_key **keys);

// Makes another handle of the same key. It costs little, and must be freed too.
zariz_status zariz_private_key_clone(const struct zariz_private_key *key, struct zariz_private_key **clone);

// Frees a handle. The key is wiped when its last handle is freed, and no operation uses it any more.
void zariz_private_key_free(struct zariz_private_key *key);

// Checks that both primes are probably prime (eight rounds of Miller-Rabin). The functions that read keys do
// not check that. It takes as long as several signatures.
zariz_status zariz_private_key_validate(const struct zariz_private_key *key);

// Makes a handle of the public key of a private key. It must be freed with zariz_public_key_free.
zariz_status zariz_private_key_public(const struct zariz_private_key *key, struct zariz_public_key **public_);

// Returns the length of the modulus in bytes, which is also the length of signatures and ciphertexts; 0 for
// a wrong handle.
size_t zariz_private_key_size(const struct zariz_private_key *key);

// Returns the length of the modulus in bits; 0 for a wrong handle.
size_t zariz_private_key_bits(const struct zariz_private_key *key);

// Writes the numbers of a private key, big-endian, to eight buffers: n, e, d, p, q, dp, dq, qinv.
zariz_status zariz_private_key_numbers(const struct zariz_private_key *key, struct zariz_buffer *numbers);

// Writes the key in PEM (PKCS #8). It is encrypted, unless the password is NULL and its length 0.
zariz_status zariz_private_key_to_pem(const struct zariz_private_key *key,
                                      const uint8_t *password,
                                      size_t password_len,
                                      struct zariz_buffer *pem);

// Writes the key in DER (PKCS #8).
zariz_status zariz_private_key_to_der(const struct zariz_private_key *key, struct zariz_buffer *der);

// Reads a public key: SubjectPublicKeyInfo or PKCS #1, PEM or DER. It must be freed with
// zariz_public_key_free.
zariz_status zariz_public_key_parse(const uint8_t *data, size_t len, struct zariz_public_key **key);

// Makes a public key from its modulus and exponent, big-endian.
zariz_status zariz_public_key_from_numbers(struct zariz_bytes n,
                                           struct zariz_bytes e,
                                           struct zariz_public_key **key);

// Makes another handle of the same key. It costs little, and must be freed too.
zariz_status zariz_public_key_clone(const struct zariz_public_key *key, struct zariz_public_key **clone);

// Frees a handle.
void zariz_public_key_free(struct zariz_public_key *key);

// Returns the length of the modulus in bytes, which is also the length of signatures and ciphertexts; 0 for
// a wrong handle.
size_t zariz_public_key_size(const struct zariz_public_key *key);

// Returns the length of the modulus in bits; 0 for a wrong handle.
size_t zariz_public_key_bits(const struct zariz_public_key *key);

// Writes the modulus and the exponent, big-endian.
zariz_status zariz_public_key_numbers(const struct zariz_public_key *key,
                                      struct zariz_buffer *n,
                                      struct zariz_buffer *e);

// Writes the key in PEM (SubjectPublicKeyInfo).
zariz_status zariz_public_key_to_pem(const struct zariz_public_key *key, struct zariz_buffer *pem);

// Writes the key in DER (SubjectPublicKeyInfo).
zariz_status zariz_public_key_to_der(const struct zariz_public_key *key, struct zariz_buffer *der);

// Wipes and frees the bytes of a buffer, and makes it empty. NULL and an empty buffer are left alone. A
// buffer may be freed on any thread, once.
void zariz_buffer_free(struct zariz_buffer *buffer);

// Makes a modulus from a big-endian number, which must be odd, above 1, and have at most 16384 bits. It must
// be freed with zariz_modulus_free.
zariz_status zariz_modulus_new(struct zariz_bytes number, struct zariz_modulus **modulus);

// Frees a modulus.
void zariz_modulus_free(struct zariz_modulus *modulus);

// Returns the length of the modulus in bytes, which is also the length of powers; 0 for a wrong handle.
size_t zariz_modulus_size(const struct zariz_modulus *modulus);

// Computes `count` powers, each with its own modulus, base and exponent, many at once in the lanes of vector
// registers. Each job has its own status; the call returns that of the first job that failed. In constant
// time, except for the lengths.
zariz_status zariz_pow_many(struct zariz_pow_job *jobs, size_t count);

// Like zariz_pow_many, but faster if the exponents have few bits set. The time depends on the exponents, so
// they must be public.
zariz_status zariz_pow_many_vartime(struct zariz_pow_job *jobs, size_t count);

// Computes one power in constant time. `output` must have room for `zariz_modulus_size` bytes. Many at once
// are faster.
zariz_status zariz_pow(const struct zariz_modulus *modulus,
                       struct zariz_bytes base,
                       struct zariz_bytes exponent,
                       uint8_t *output,
                       size_t capacity);

// Makes a table of powers of a base, for exponents of at most `max_exponent_bits` bits. Powers of that base
// then take a fraction of the time. The table must be freed with zariz_fixed_base_free.
zariz_status zariz_fixed_base_new(const struct zariz_modulus *modulus,
                                  struct zariz_bytes base,
                                  size_t max_exponent_bits,
                                  struct zariz_fixed_base **fixed_base);

// Frees the table.
void zariz_fixed_base_free(struct zariz_fixed_base *fixed_base);

// Computes the powers of a fixed base for `count` exponents, in constant time. Writes them to `output` one
// after the other, each as long as the modulus: all of them, or none.
zariz_status zariz_fixed_base_pow_many(const struct zariz_fixed_base *fixed_base,
                                       const struct zariz_bytes *exponents,
                                       size_t count,
                                       uint8_t *output,
                                       size_t capacity);

// Generates `count` random primes of `bits` bits into an array of `count` buffers. If `safe` is not 0, half
// of p − 1 is also prime, for each prime p. All are made, or none. The time reveals how many candidates were
// tried.
zariz_status zariz_primes_generate(size_t bits,
                                   size_t count,
                                   int32_t safe,
                                   struct zariz_buffer *primes);

// Sets `result` to 1 if the number is prime, and to 0 if it is not. A composite number passes as a prime
// with probability at most 2^−128, even if an attacker chose it. The time reveals at which test a composite
// failed, and the value of a number below 2^36.
zariz_status zariz_is_prime(struct zariz_bytes number, int32_t *result);

// Signs `count` messages, each with its own key and algorithm, many at once in the lanes of vector
// registers: 8, 16 or more are the fastest. Each job has its own status; the call returns that of the first
// job that failed. In constant time, except for the lengths.
zariz_status zariz_sign_many(struct zariz_private_job *jobs, size_t count);

// Decrypts `count` ciphertexts, like zariz_sign_many. In constant time, including the check of the padding.
// With ZARIZ_PKCS1V15, `capacity` must be at least the key's size. Treat a plaintext of an unexpected length
// like one with unexpected bytes: do not tell the peer which of the two it was.
zariz_status zariz_decrypt_many(struct zariz_private_job *jobs, size_t count);

// Computes input^d mod n for `count` numbers, without padding: for protocols that pad themselves. Like
// zariz_sign_many.
zariz_status zariz_private_many(struct zariz_private_job *jobs, size_t count);

// Verifies `count` signatures, each with its own key. The job of a signature that is not valid has the
// status ZARIZ_VERIFICATION. Not in constant time: signatures, messages and public keys are not secret.
zariz_status zariz_verify_many(struct zariz_public_job *jobs, size_t count);

// Encrypts `count` plaintexts, each for its own key. The time depends on the public exponent.
zariz_status zariz_encrypt_many(struct zariz_public_job *jobs, size_t count);

// Computes input^e mod n for `count` numbers, without padding. Not in constant time.
zariz_status zariz_public_many(struct zariz_public_job *jobs, size_t count);

// Signs one message. `signature` must have room for `zariz_private_key_size` bytes. Many at once are faster:
// use zariz_sign_many, or a batcher.
zariz_status zariz_sign(const struct zariz_private_key *key,
                        uint32_t algorithm,
                        struct zariz_bytes message,
                        uint8_t *signature,
                        size_t capacity);

// Verifies one signature: ZARIZ_OK, or ZARIZ_VERIFICATION.
zariz_status zariz_verify(const struct zariz_public_key *key,
                          uint32_t algorithm,
                          struct zariz_bytes message,
                          struct zariz_bytes signature);

// Encrypts one plaintext. `ciphertext` must have room for `zariz_public_key_size` bytes.
zariz_status zariz_encrypt(const struct zariz_public_key *key,
                           uint32_t padding,
                           struct zariz_bytes label,
                           struct zariz_bytes plaintext,
                           uint8_t *ciphertext,
                           size_t capacity);

// Decrypts one ciphertext. `plaintext` must have room for `zariz_private_key_size` bytes; `plaintext_len` is
// set to the length of the plaintext.
zariz_status zariz_decrypt(const struct zariz_private_key *key,
                           uint32_t padding,
                           struct zariz_bytes label,
                           struct zariz_bytes ciphertext,
                           uint8_t *plaintext,
                           size_t capacity,
                           size_t *plaintext_len);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ZARIZ_H */
