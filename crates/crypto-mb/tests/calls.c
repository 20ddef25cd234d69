/*
 * Calls every function of the headers, as a program does that was written for crypto_mb. numbers.h has keys,
 * numbers and results.
 */
#include <crypto_mb/cpu_features.h>
#include <crypto_mb/exp.h>
#include <crypto_mb/rsa.h>
#include <crypto_mb/version.h>
#include <openssl/bn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__))

static void fail(int line)
{
    printf("line %d: wrong\n", line);
    exit(1);
}

static int8u out[8][512];
static int64u out_words[8][64];

/* Lane 5 must be untouched, and all others right. */
static void results(const int8u *right, int size)
{
    int lane, i;
    for (lane = 0; lane < 8; lane++) {
        if (lane != 5)
            CHECK(memcmp(out[lane], right + lane * size, (size_t)size) == 0);
        else
            for (i = 0; i < size; i++)
                CHECK(out[lane][i] == 0xaa);
    }
    memset(out, 0xaa, sizeof out);
}

static BIGNUM *bignum(const int64u *words, int count)
{
    return BN_lebin2bn((const unsigned char *)words, 8 * count, NULL);
}

#define LANE_5 MBX_SET_STS(MBX_STATUS_OK, 5, MBX_STATUS_NULL_PARAM_ERR)

#define TEST(bits, k)                                                                                        \
    static void test_##bits(void)                                                                            \
    {                                                                                                        \
        const int64u *pn[8], *pd[8], *pp[8], *pq[8], *pdp[8], *pdq[8], *piq[8], *px[8];                      \
        BIGNUM *bn[8], *bd[8], *be[8], *bp[8], *bq[8], *bdp[8], *bdq[8], *biq[8];                            \
        const BIGNUM *cn[8], *cd[8], *ce[8], *cp[8], *cq[8], *cdp[8], *cdq[8], *ciq[8];                      \
        const int8u *from[8];                                                                                \
        int8u *to[8];                                                                                        \
        int64u *to_words[8];                                                                                 \
        int8u *buffer;                                                                                       \
        int lane, round, len = mbx_exp_BufferSize(bits);                                                     \
        const mbx_RSA_Method *method = mbx_RSA##k##K_private_crt_Method();                                   \
        for (lane = 0; lane < 8; lane++) {                                                                   \
            pn[lane] = n_##bits[lane], pd[lane] = d_##bits[lane], pp[lane] = p_##bits[lane];                 \
            pq[lane] = q_##bits[lane], pdp[lane] = dp_##bits[lane], pdq[lane] = dq_##bits[lane];             \
            piq[lane] = iq_##bits[lane], px[lane] = x_words_##bits[lane];                                    \
            cn[lane] = bn[lane] = bignum(pn[lane], bits / 64);                                               \
            cd[lane] = bd[lane] = bignum(pd[lane], bits / 64);                                               \
            cp[lane] = bp[lane] = bignum(pp[lane], bits / 128);                                              \
            cq[lane] = bq[lane] = bignum(pq[lane], bits / 128);                                              \
            cdp[lane] = bdp[lane] = bignum(pdp[lane], bits / 128);                                           \
            cdq[lane] = bdq[lane] = bignum(pdq[lane], bits / 128);                                           \
            ciq[lane] = biq[lane] = bignum(piq[lane], bits / 128);                                           \
            ce[lane] = be[lane] = BN_new();                                                                  \
            BN_set_word(be[lane], 65537);                                                                    \
            from[lane] = x_##bits[lane], to[lane] = out[lane], to_words[lane] = out_words[lane];             \
        }                                                                                                    \
        from[5] = NULL;                                                                                      \
        CHECK(mbx_RSA_Method_BufSize(method) > 0 && mbx_RSA_private_crt_Method(bits) == method);             \
        CHECK(mbx_RSA_private_Method(bits) == mbx_RSA##k##K_private_Method());                               \
        CHECK(mbx_RSA_pub65537_Method(bits) == mbx_RSA##k##K_pub65537_Method());                             \
        buffer = (int8u *)malloc((size_t)mbx_RSA_Method_BufSize(method));                                    \
        for (round = 0; round < 2; round++) {                                                                \
            CHECK(mbx_rsa_private_crt_mb8(from, to, pp, pq, pdp, pdq, piq, bits, method, buffer) == LANE_5); \
            results(signed_##bits[0], bits / 8);                                                             \
            CHECK(mbx_rsa_private_mb8(from, to, pd, pn, bits, NULL, NULL) == LANE_5);                        \
            results(signed_##bits[0], bits / 8);                                                             \
            CHECK(mbx_rsa_public_mb8(from, to, pn, bits, NULL, NULL) == LANE_5);                             \
            results(opened_##bits[0], bits / 8);                                                             \
            CHECK(mbx_rsa_private_crt_ssl_mb8(from, to, cp, cq, cdp, cdq, ciq, bits) == LANE_5);             \
            results(signed_##bits[0], bits / 8);                                                             \
            CHECK(mbx_rsa_private_ssl_mb8(from, to, cd, cn, bits) == LANE_5);                                \
            results(signed_##bits[0], bits / 8);                                                             \
            CHECK(mbx_rsa_public_ssl_mb8(from, to, ce, cn, bits) == LANE_5);                                 \
            results(opened_##bits[0], bits / 8);                                                             \
        }                                                                                                    \
        free(buffer);                                                                                        \
        CHECK(len > 0);                                                                                      \
        buffer = (int8u *)malloc((size_t)len);                                                               \
        CHECK(mbx_exp_mb8(to_words, px, pd, bits, pn, bits, buffer, len) == MBX_STATUS_OK);                  \
        for (lane = 0; lane < 8; lane++)                                                                     \
            CHECK(memcmp(out_words[lane], signed_words_##bits[lane], bits / 8) == 0);                        \
        memset(out_words, 0, sizeof out_words);                                                              \
        CHECK(mbx_exp##bits##_mb8(to_words, px, pd, bits, pn, bits, buffer, len) == MBX_STATUS_OK);          \
        for (lane = 0; lane < 8; lane++)                                                                     \
            CHECK(memcmp(out_words[lane], signed_words_##bits[lane], bits / 8) == 0);                        \
        free(buffer);                                                                                        \
        for (lane = 0; lane < 8; lane++) {                                                                   \
            BN_free(bn[lane]), BN_free(bd[lane]), BN_free(be[lane]), BN_free(bp[lane]), BN_free(bq[lane]);   \
            BN_free(bdp[lane]), BN_free(bdq[lane]), BN_free(biq[lane]);                                      \
        }                                                                                                    \
    }

TEST(1024, 1)
TEST(2048, 2)
TEST(3072, 3)
TEST(4096, 4)

int main(void)
{
    const mbxVersion *version = mbx_getversion();
    int64u features = mbx_get_cpu_features();
    int lane;

    CHECK(version->major == MBX_VER_MAJOR && version->minor == MBX_VER_MINOR);
    CHECK(version->patch == MBX_VER_PATCH && strcmp(version->name, MBX_LIB_NAME()) == 0);
    CHECK(strstr(version->strVersion, "zariz ") != NULL && strcmp(version->targetCpu, "any") == 0);
    CHECK(version->buildDate[0] == 0);

    CHECK(mbx_is_crypto_mb_applicable(0) && mbx_is_crypto_mb_applicable(features));
    CHECK(mbx_get_algo_info(MBX_ALGO_RSA_4K) == MBX_WIDTH_MB8 && mbx_get_algo_info(MBX_ALGO_X25519) == 0);
    mbx_set_cpu_features(mbcpCPUID_SSE2);
    CHECK(mbx_get_cpu_features() == mbcpCPUID_SSE2);
    mbx_set_cpu_features(0);
    CHECK(mbx_get_cpu_features() == features);

    CHECK(MBX_SET_STS_ALL(MBX_STATUS_UNSUPPORTED_ISA_ERR) == 0xaaaaaaaau);
    CHECK(MBX_GET_STS(0x20000000u, 7) == MBX_STATUS_NULL_PARAM_ERR);
    CHECK(MBX_SET_STS(0x11111111u, 2, MBX_STATUS_OK) == 0x11111011u);
    CHECK(MBX_SET_STS_BY_MASK(0, 0x81, MBX_STATUS_MISMATCH_PARAM_ERR) == 0x10000001u);
    CHECK(MBX_IS_ANY_OK_STS(0x11101111u) && !MBX_IS_ANY_OK_STS(0x11111111u));
    CHECK(MBX_IS_ANY_4_TO_7_OK_STS(0x11101111u) && !MBX_IS_ANY_0_TO_3_OK_STS(0x11101111u));

    for (lane = 0; lane < 8; lane++)
        memset(out[lane], 0xaa, sizeof out[lane]);
    test_1024();
    test_2048();
    test_3072();
    test_4096();
    puts("right");
    return 0;
}
