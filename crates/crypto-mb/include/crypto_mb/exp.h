/*
 * Powers modulo odd numbers, eight at once, in constant time.
 *
 * Numbers are arrays of 64-bit words, the lowest first. A lane with a null pointer fails on its own, and so
 * does one whose modulus is even, or longer than mod_bits. A base above its modulus is reduced.
 */
#ifndef ZARIZ_CRYPTO_MB_EXP_H
#define ZARIZ_CRYPTO_MB_EXP_H

#include <crypto_mb/status.h>

/* The bytes of scratch space for moduli of mod_bits bits, or 0 for lengths that are not supported. */
MBX_EXTERN_C int mbx_exp_BufferSize(int mod_bits);

/*
 * base^exp mod mod. out, base and mod have mod_bits bits, and exp has exp_bits, at most mod_bits. The buffer
 * must have mbx_exp_BufferSize bytes.
 */
MBX_EXTERN_C mbx_status mbx_exp_mb8(int64u *const out[8], const int64u *const base[8],
                                    const int64u *const exp[8], int exp_bits,
                                    const int64u *const mod[8], int mod_bits,
                                    int8u *buffer, int buffer_len);

/* The same for moduli of 989 to 1038 bits, 2029 to 2078, 3069 to 3118, and 4057 to 4106. */
MBX_EXTERN_C mbx_status mbx_exp1024_mb8(int64u *const out[8], const int64u *const base[8],
                                        const int64u *const exp[8], int exp_bits,
                                        const int64u *const mod[8], int mod_bits,
                                        int8u *buffer, int buffer_len);
MBX_EXTERN_C mbx_status mbx_exp2048_mb8(int64u *const out[8], const int64u *const base[8],
                                        const int64u *const exp[8], int exp_bits,
                                        const int64u *const mod[8], int mod_bits,
                                        int8u *buffer, int buffer_len);
MBX_EXTERN_C mbx_status mbx_exp3072_mb8(int64u *const out[8], const int64u *const base[8],
                                        const int64u *const exp[8], int exp_bits,
                                        const int64u *const mod[8], int mod_bits,
                                        int8u *buffer, int buffer_len);
MBX_EXTERN_C mbx_status mbx_exp4096_mb8(int64u *const out[8], const int64u *const base[8],
                                        const int64u *const exp[8], int exp_bits,
                                        const int64u *const mod[8], int mod_bits,
                                        int8u *buffer, int buffer_len);

#endif
