/*
 * RSA's private and public operation without padding, eight at once, each lane with its own key.
 *
 * Keys have 1024, 2048, 3072 or 4096 bits. from and to have rsa_bits/8 bytes, big-endian, and may be the
 * same. A key's numbers are arrays of 64-bit words, the lowest first, or OpenSSL's BIGNUMs. A lane with a
 * null pointer fails on its own, and so does one whose numbers do not form a key, or whose message is not
 * below the modulus.
 *
 * A method may be null, and buffer is not used. Private operations are blinded, and checked with the public
 * exponent. If only d and n are given, that must be 65537, 3, 5, 7, 17, 35, 37 or 257.
 */
#ifndef ZARIZ_CRYPTO_MB_RSA_H
#define ZARIZ_CRYPTO_MB_RSA_H

#include <crypto_mb/status.h>

#ifndef BN_OPENSSL_DISABLE
#include <openssl/bn.h>

/* from^e mod n, for n of rsa_bits bits and any odd e above 1, of up to 256 bits. */
MBX_EXTERN_C mbx_status mbx_rsa_public_ssl_mb8(const int8u *const from[8], int8u *const to[8],
                                               const BIGNUM *const e[8], const BIGNUM *const n[8],
                                               int rsa_bits);

/* from^d mod n, for n of rsa_bits bits. */
MBX_EXTERN_C mbx_status mbx_rsa_private_ssl_mb8(const int8u *const from[8], int8u *const to[8],
                                                const BIGNUM *const d[8], const BIGNUM *const n[8],
                                                int rsa_bits);

/* from^d mod p*q, for p and q of rsa_bits/2 bits, d mod (p - 1), d mod (q - 1), and 1/q mod p. */
MBX_EXTERN_C mbx_status mbx_rsa_private_crt_ssl_mb8(const int8u *const from[8], int8u *const to[8],
                                                    const BIGNUM *const p[8], const BIGNUM *const q[8],
                                                    const BIGNUM *const dp[8], const BIGNUM *const dq[8],
                                                    const BIGNUM *const iq[8], int rsa_bits);
#endif

/* An operation, for keys of one length. */
typedef struct zariz_rsa_method mbx_RSA_Method;

/* Null for other lengths. */
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA_pub65537_Method(int rsa_bits);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA_private_Method(int rsa_bits);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA_private_crt_Method(int rsa_bits);

MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA1K_pub65537_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA2K_pub65537_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA3K_pub65537_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA4K_pub65537_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA1K_private_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA2K_private_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA3K_private_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA4K_private_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA1K_private_crt_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA2K_private_crt_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA3K_private_crt_Method(void);
MBX_EXTERN_C const mbx_RSA_Method *mbx_RSA4K_private_crt_Method(void);

/* The bytes of scratch space for a method, or 0 if it is none. */
MBX_EXTERN_C int mbx_RSA_Method_BufSize(const mbx_RSA_Method *method);

/* from^65537 mod n. */
MBX_EXTERN_C mbx_status mbx_rsa_public_mb8(const int8u *const from[8], int8u *const to[8],
                                           const int64u *const n[8], int rsa_bits,
                                           const mbx_RSA_Method *method, int8u *buffer);

/* from^d mod n. */
MBX_EXTERN_C mbx_status mbx_rsa_private_mb8(const int8u *const from[8], int8u *const to[8],
                                            const int64u *const d[8], const int64u *const n[8],
                                            int rsa_bits, const mbx_RSA_Method *method, int8u *buffer);

/* from^d mod p*q. p, q, d mod (p - 1), d mod (q - 1) and 1/q mod p have rsa_bits/2 bits. */
MBX_EXTERN_C mbx_status mbx_rsa_private_crt_mb8(const int8u *const from[8], int8u *const to[8],
                                                const int64u *const p[8], const int64u *const q[8],
                                                const int64u *const dp[8], const int64u *const dq[8],
                                                const int64u *const iq[8], int rsa_bits,
                                                const mbx_RSA_Method *method, int8u *buffer);

#endif
