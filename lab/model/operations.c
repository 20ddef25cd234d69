/* Runs one operation on fixed numbers, twice; the second time between `begin` and `finish`. Prints its result
 * modulo m. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t limb;

enum { MOST = 64 };

/* zariz, crates/machines/src/scalar/a64: k is in blocks of eight limbs. */
void a64_mul(limb *t, const limb *a, const limb *b, size_t k);
void a64_sqr(limb *t, const limb *a, size_t k);
void a64_reduce(limb *out, limb *t, const limb *m, limb mu, size_t k);

/* OpenSSL and AWS-LC. */
int bn_mul_mont(limb *out, const limb *a, const limb *b, const limb *m, const limb *mu, size_t n);

/* AWS-LC, on processors whose multiplier is slow. */
void bignum_ksqr_32_64(limb *, const limb *, limb *);
void bignum_kmul_32_64(limb *, const limb *, const limb *, limb *);
void bignum_ksqr_16_32(limb *, const limb *, limb *);
void bignum_kmul_16_32(limb *, const limb *, const limb *, limb *);
limb bignum_emontredc_8n(limb, limb *, const limb *, limb);
limb bignum_ge(limb, const limb *, limb, const limb *);
limb bignum_optsub(limb, limb *, const limb *, limb, const limb *);

static limb t[2 * MOST], a[MOST], b[MOST], m[MOST], out[MOST], room[256], mu;

__attribute__((noinline)) void begin(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) void finish(void) { __asm__ volatile("nop"); }

static void zariz_amm(size_t n) {
    a64_mul(t, a, b, n / 8);
    a64_reduce(out, t, m, mu, n / 8);
}

static void zariz_ams(size_t n) {
    a64_sqr(t, a, n / 8);
    a64_reduce(out, t, m, mu, n / 8);
}

static void openssl_amm(size_t n) { bn_mul_mont(out, a, b, m, &mu, n); }
static void openssl_ams(size_t n) { bn_mul_mont(out, a, a, m, &mu, n); }

static void s2n_reduce(size_t n) {
    limb carry = bignum_emontredc_8n(n, t, m, mu);
    carry |= bignum_ge(n, t + n, n, m);
    bignum_optsub(n, out, t + n, carry, m);
}

static void s2n_amm(size_t n) {
    n == 16 ? bignum_kmul_16_32(t, a, b, room) : bignum_kmul_32_64(t, a, b, room);
    s2n_reduce(n);
}

static void s2n_ams(size_t n) {
    n == 16 ? bignum_ksqr_16_32(t, a, room) : bignum_ksqr_32_64(t, a, room);
    s2n_reduce(n);
}

static const struct {
    const char *name;
    void (*run)(size_t n);
} operations[] = {
    {"zariz_amm", zariz_amm}, {"zariz_ams", zariz_ams}, {"openssl_amm", openssl_amm},
    {"openssl_ams", openssl_ams}, {"s2n_amm", s2n_amm}, {"s2n_ams", s2n_ams},
};

int main(int count, char **arguments) {
    const size_t n = count == 3 ? strtoul(arguments[2], NULL, 10) : 0;
    void (*run)(size_t n) = NULL;
    for (size_t i = 0; n != 0 && i < sizeof operations / sizeof *operations; i++)
        if (strcmp(arguments[1], operations[i].name) == 0) run = operations[i].run;
    if (run == NULL || n > MOST || n % 8 != 0) return 2;
    limb random = 1;
    for (size_t i = 0; i < n; i++) {
        a[i] = random = random * 6364136223846793005u + 1442695040888963407u;
        b[i] = random = random * 6364136223846793005u + 1442695040888963407u;
        m[i] = random = random * 6364136223846793005u + 1442695040888963407u;
    }
    m[0] |= 1;
    m[n - 1] |= (limb)1 << 63;
    a[n - 1] >>= 1;
    b[n - 1] >>= 1;
    limb inverse = 1;
    for (int i = 0; i < 6; i++) inverse *= 2 - m[0] * inverse;
    mu = -inverse;
    run(n);
    begin();
    run(n);
    finish();
    /* zariz leaves a number below R. */
    bignum_optsub(n, out, out, bignum_ge(n, out, n, m), m);
    for (size_t i = 0; i < n; i++) printf("%016llx", (unsigned long long)out[i]);
    puts("");
    return 0;
}
