#include <crypto_mb/exp.h>
#include <crypto_mb/version.h>
#include <stdio.h>
#include <string.h>
/* 3^5 modulo 2^1024 - 1, eight times. */
int main(void) {
    static int64u base[16] = {3}, exponent[16] = {5}, modulus[16], results[8][16];
    static int8u buffer[1 << 20];
    int64u *out[8];
    const int64u *bases[8], *exponents[8], *moduli[8];
    memset(modulus, 0xff, sizeof modulus);
    for (int i = 0; i < 8; i++) {
        out[i] = results[i], bases[i] = base, exponents[i] = exponent, moduli[i] = modulus;
    }
    int size = mbx_exp_BufferSize(1024);
    mbx_status status = mbx_exp_mb8(out, bases, exponents, 1024, moduli, 1024, buffer, size);
    for (int i = 0; i < 8; i++) {
        if (status != MBX_STATUS_OK || results[i][0] != 243) {
            return 1;
        }
    }
    printf("%s computed powers\n", mbx_getversion()->strVersion);
    return 0;
}
