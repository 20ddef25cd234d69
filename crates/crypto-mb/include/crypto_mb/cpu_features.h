/* The processor's features, and the library's algorithms. */
#ifndef ZARIZ_CRYPTO_MB_CPU_FEATURES_H
#define ZARIZ_CRYPTO_MB_CPU_FEATURES_H

#include <crypto_mb/defs.h>

#define mbcpCPUID_MMX 0x1LL
#define mbcpCPUID_SSE 0x2LL
#define mbcpCPUID_SSE2 0x4LL
#define mbcpCPUID_SSE3 0x8LL
#define mbcpCPUID_SSSE3 0x10LL
#define mbcpCPUID_MOVBE 0x20LL
#define mbcpCPUID_SSE41 0x40LL
#define mbcpCPUID_SSE42 0x80LL
#define mbcpCPUID_AVX 0x100LL
#define mbcpAVX_ENABLEDBYOS 0x200LL
#define mbcpCPUID_AES 0x400LL
#define mbcpCPUID_CLMUL 0x800LL
#define mbcpCPUID_RDRAND 0x2000LL
#define mbcpCPUID_F16C 0x4000LL
#define mbcpCPUID_AVX2 0x8000LL
#define mbcpCPUID_ADX 0x10000LL
#define mbcpCPUID_RDSEED 0x20000LL
#define mbcpCPUID_SHA 0x80000LL
#define mbcpCPUID_AVX512F 0x100000LL
#define mbcpCPUID_AVX512CD 0x200000LL
#define mbcpCPUID_AVX512BW 0x1000000LL
#define mbcpCPUID_AVX512DQ 0x2000000LL
#define mbcpCPUID_AVX512VL 0x4000000LL
#define mbcpCPUID_AVX512VBMI 0x8000000LL
#define mbcpCPUID_AVX512IFMA 0x100000000LL
#define mbcpAVX512_ENABLEDBYOS 0x200000000LL
#define mbcpCPUID_AVX512GFNI 0x400000000LL
#define mbcpCPUID_AVX512VAES 0x800000000LL
#define mbcpCPUID_AVX512VCLMUL 0x1000000000LL
#define mbcpCPUID_AVX512VBMI2 0x2000000000LL
#define mbcpCPUID_BMI1 0x4000000000LL
#define mbcpCPUID_BMI2 0x8000000000LL
#define mbcpCPUID_AVXIFMA 0x10000000000LL

/* The processor's features, or what mbx_set_cpu_features set. zariz's choice of engines follows neither. */
MBX_EXTERN_C int64u mbx_get_cpu_features(void);
MBX_EXTERN_C void mbx_set_cpu_features(int64u features);

/* Always 1: zariz needs no feature. */
MBX_EXTERN_C int mbx_is_crypto_mb_applicable(int64u features);

enum MBX_ALGO {
    MBX_ALGO_RSA_1K,
    MBX_ALGO_RSA_2K,
    MBX_ALGO_RSA_3K,
    MBX_ALGO_RSA_4K,
    MBX_ALGO_X25519,
    MBX_ALGO_EC_NIST_P256,
    MBX_ALGO_ECDHE_NIST_P256 = MBX_ALGO_EC_NIST_P256,
    MBX_ALGO_ECDSA_NIST_P256 = MBX_ALGO_EC_NIST_P256,
    MBX_ALGO_EC_NIST_P384,
    MBX_ALGO_ECDHE_NIST_P384 = MBX_ALGO_EC_NIST_P384,
    MBX_ALGO_ECDSA_NIST_P384 = MBX_ALGO_EC_NIST_P384,
    MBX_ALGO_EC_NIST_P521,
    MBX_ALGO_ECDHE_NIST_P521 = MBX_ALGO_EC_NIST_P521,
    MBX_ALGO_ECDSA_NIST_P521 = MBX_ALGO_EC_NIST_P521,
    MBX_ALGO_EC_SM2,
    MBX_ALGO_ECDHE_SM2 = MBX_ALGO_EC_SM2,
    MBX_ALGO_ECDSA_SM2 = MBX_ALGO_EC_SM2,
    MBX_ALGO_SM3,
    MBX_ALGO_SM4,
    MBX_ALGO_ECB_SM4 = MBX_ALGO_SM4,
    MBX_ALGO_CBC_SM4 = MBX_ALGO_SM4,
    MBX_ALGO_CTR_SM4 = MBX_ALGO_SM4,
    MBX_ALGO_OFB_SM4 = MBX_ALGO_SM4,
    MBX_ALGO_OFB128_SM4 = MBX_ALGO_SM4
};

enum MBX_WIDTH { MBX_WIDTH_MB8 = 8, MBX_WIDTH_MB16 = 16, MBX_WIDTH_ANY = 0xffff };

typedef int64u MBX_ALGO_INFO;

/*
 * How many operations a call of that algorithm computes: MBX_WIDTH_MB8 for RSA. For other algorithms, the
 * answer of a crypto_mb that is loaded behind zariz, or 0 if there is none.
 */
MBX_EXTERN_C MBX_ALGO_INFO mbx_get_algo_info(enum MBX_ALGO algo);

#endif
