// Calls every function of zariz.h, with right and with hostile arguments. Strict C99, C11 and C++17.
// Writes a signature and its public key to the folder that it is given, for another program to verify.
#include "check.h"

#ifndef BITS
#define BITS 2048
#endif
enum { KEYS = 3, MOST = 512, SIZE = BITS / 8 }; // SIZE: of the first key

static zariz_private_key *keys[KEYS];
static zariz_public_key *publics[KEYS];

static void about_the_library(void) {
    int major = -1, minor = -1;
    CHECK(sscanf(zariz_version(), "%d.%d", &major, &minor) == 2);
    CHECK(major == ZARIZ_VERSION_MAJOR && minor == ZARIZ_VERSION_MINOR);
    CHECK(strlen(zariz_engine()) > 0 && zariz_lanes() >= 1 && zariz_check_failures() == 0);
    CHECK(strcmp(zariz_last_error(), "") == 0);
    for (zariz_status status = ZARIZ_OK; status <= ZARIZ_INTERNAL; status++) {
        CHECK(strlen(zariz_status_text(status)) > 0);
    }
    CHECK(strstr(zariz_status_text(-1), "not a status") != NULL);
    CHECK(strstr(zariz_status_text(ZARIZ_INTERNAL + 1), "not a status") != NULL);
}

// Keys of three sizes, each by another way through files and numbers.
static void make_keys(void) {
    static const size_t bits[KEYS] = {BITS, 1024, 1152};
    for (int i = 0; i < KEYS; i++) {
        zariz_private_key *first = NULL, *second = NULL, *third = NULL;
        OK(zariz_private_key_generate(bits[i], 1, &first));
        CHECK(zariz_private_key_bits(first) == bits[i] && zariz_private_key_size(first) == bits[i] / 8);
        OK(zariz_private_key_validate(first));

        zariz_buffer pem, der;
        OK(zariz_private_key_to_pem(first, (const uint8_t *)"secret", 6, &pem));
        CHECK(memcmp(pem.data, "-----BEGIN ENCRYPTED", 20) == 0);
        CHECK(zariz_private_key_parse(pem.data, pem.len, NULL, 0, &second) == ZARIZ_PASSWORD);
        CHECK(zariz_private_key_parse(pem.data, pem.len, (const uint8_t *)"wrong", 5, &second)
              == ZARIZ_PASSWORD);
        CHECK(zariz_private_key_parse(pem.data, pem.len, NULL, 6, &second) == ZARIZ_NULL_POINTER);
        CHECK(second == NULL);
        CHECK(zariz_private_key_to_pem(first, NULL, 6, &der) == ZARIZ_NULL_POINTER);
        OK(zariz_private_key_parse(pem.data, pem.len, (const uint8_t *)"secret", 6, &second));
        zariz_buffer_free(&pem);
        CHECK(pem.data == NULL && pem.len == 0);
        zariz_buffer_free(&pem);
        OK(zariz_private_key_to_pem(second, NULL, 0, &pem));
        OK(zariz_private_key_to_der(second, &der));
        zariz_private_key_free(second);
        OK(zariz_private_key_parse(pem.data, pem.len, NULL, 0, &second));
        OK(zariz_private_key_parse(der.data, der.len, NULL, 0, &third));
        zariz_buffer_free(&pem);
        zariz_buffer_free(&der);
        zariz_private_key_free(third);

        zariz_buffer number[8];
        OK(zariz_private_key_numbers(second, number));
        zariz_private_numbers numbers;
        zariz_bytes *place = &numbers.n;
        for (int j = 0; j < 8; j++) {
            place[j] = bytes_of(number[j].data, number[j].len);
        }
        OK(zariz_private_key_from_numbers(&numbers, &third));
        zariz_private_key_free(third);
        zariz_bytes dp = numbers.dp;
        numbers.dp = bytes_of("\3", 1);
        CHECK(zariz_private_key_from_numbers(&numbers, &third) == ZARIZ_INVALID_KEY);
        numbers.dp = dp;
        numbers.dp.len = numbers.dq.len = numbers.qinv.len = 0;
        OK(zariz_private_key_from_numbers(&numbers, &keys[i]));
        OK(zariz_public_key_from_numbers(numbers.n, numbers.e, &publics[i]));
        zariz_buffer n, e;
        OK(zariz_public_key_numbers(publics[i], &n, &e));
        CHECK(n.len == bits[i] / 8 && memcmp(n.data, number[0].data + number[0].len - n.len, n.len) == 0);
        CHECK(e.len == 3 && memcmp(e.data, "\1\0\1", 3) == 0);
        zariz_buffer_free(&n);
        zariz_buffer_free(&e);
        for (int j = 0; j < 8; j++) {
            zariz_buffer_free(&number[j]);
        }
        zariz_private_key_free(first);
        zariz_private_key_free(second);

        // The public key goes through its files, and through a clone.
        zariz_public_key *again = NULL, *clone = NULL;
        OK(zariz_private_key_public(keys[i], &again));
        OK(zariz_public_key_to_pem(again, &pem));
        zariz_public_key_free(again);
        OK(zariz_public_key_parse(pem.data, pem.len, &again));
        zariz_buffer_free(&pem);
        OK(zariz_public_key_to_der(again, &der));
        zariz_public_key_free(again);
        OK(zariz_public_key_parse(der.data, der.len, &again));
        zariz_buffer_free(&der);
        OK(zariz_public_key_clone(again, &clone));
        zariz_public_key_free(again);
        CHECK(zariz_public_key_bits(clone) == bits[i] && zariz_public_key_size(clone) == bits[i] / 8);
        zariz_public_key_free(publics[i]);
        publics[i] = clone;
        zariz_private_key *other = NULL;
        OK(zariz_private_key_clone(keys[i], &other));
        zariz_private_key_free(keys[i]);
        keys[i] = other;
    }
}

static uint32_t algorithm_of(int i) {
    switch (i % 6) {
    case 0: return ZARIZ_RS256;
    case 1: return ZARIZ_PS256;
    case 2: return zariz_pkcs1v15(ZARIZ_SHA3_384);
    case 3: return zariz_pss(ZARIZ_SHA384, ZARIZ_SHA1, 7);
    case 4: return zariz_pss(ZARIZ_SHA256, ZARIZ_SHA256, ZARIZ_SALT_AUTO);
    default: return ZARIZ_RS512;
    }
}

// Signatures of all keys and algorithms in one call, with bad jobs among them.
static void signatures(void) {
    enum { COUNT = 37, BAD = 6 };
    static uint8_t signature[COUNT][MOST];
    static char message[COUNT][32];
    zariz_private_job jobs[COUNT];
    zariz_public_job checks[COUNT];
    for (int i = 0; i < COUNT; i++) {
        int len = snprintf(message[i], sizeof message[i], "message %d", i);
        jobs[i] = private_job(keys[i % KEYS], algorithm_of(i), bytes_of(message[i], (size_t)len),
              signature[i], MOST);
    }
    static const int bad[BAD] = {0, 5, 11, 17, 30, 36};
    jobs[bad[0]].key = NULL;
    jobs[bad[1]].key = (const zariz_private_key *)publics[0];
    jobs[bad[2]].algorithm = ZARIZ_OAEP_SHA1;
    jobs[bad[3]].capacity = 10;
    jobs[bad[4]].input.data = NULL;
    jobs[bad[5]].algorithm = ZARIZ_RS256 | ZARIZ_DIGEST; // whose digest has 10 bytes
    static const zariz_status expected[BAD] = {ZARIZ_NULL_POINTER,  ZARIZ_WRONG_HANDLE,
          ZARIZ_INVALID_ARGUMENT,
                                               ZARIZ_OUTPUT_LENGTH, ZARIZ_NULL_POINTER, ZARIZ_INPUT_LENGTH};
    CHECK(zariz_sign_many(jobs, COUNT) == ZARIZ_NULL_POINTER);
    CHECK(strstr(zariz_last_error(), "job 0 of 37") != NULL);
    for (int i = 0, next = 0; i < COUNT; i++) {
        int is_bad = next < BAD && bad[next] == i;
        CHECK(jobs[i].status == (is_bad ? expected[next] : ZARIZ_OK));
        CHECK(jobs[i].output_len == (is_bad ? 0 : zariz_private_key_size(jobs[i].key)));
        next += is_bad;
        checks[i] = public_job(publics[i % KEYS], algorithm_of(i), bytes_of(message[i], strlen(message[i])),
                               bytes_of(signature[i], jobs[i].output_len), NULL, 0);
    }
    CHECK(zariz_verify_many(checks, COUNT) == ZARIZ_VERIFICATION);
    for (int i = 0, next = 0; i < COUNT; i++) {
        int is_bad = next < BAD && bad[next] == i;
        CHECK(checks[i].status == (is_bad ? ZARIZ_VERIFICATION : ZARIZ_OK));
        next += is_bad;
    }
    // Every good one is wrong with another message, another key, and one bit changed.
    for (int i = 1; i < 5; i++) {
        zariz_bytes right = bytes_of(signature[i], jobs[i].output_len);
        OK(zariz_verify(publics[i % KEYS], algorithm_of(i), text(message[i]), right));
        CHECK(zariz_verify(publics[i % KEYS], algorithm_of(i), text("other"), right) == ZARIZ_VERIFICATION);
        CHECK(zariz_verify(publics[(i + 1) % KEYS], algorithm_of(i), text(message[i]), right) != ZARIZ_OK);
        signature[i][9] ^= 1;
        CHECK(zariz_verify(publics[i % KEYS], algorithm_of(i), text(message[i]), right)
              == ZARIZ_VERIFICATION);
    }
    // A digest is signed as its message is.
    uint8_t one[MOST], other[MOST];
    OK(zariz_sign(keys[0], ZARIZ_RS256, text("abc"), one, MOST));
    static const char digest[] = "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23"
                                 "\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61\xf2\x00\x15\xad";
    OK(zariz_sign(keys[0], ZARIZ_RS256 | ZARIZ_DIGEST, bytes_of(digest, 32), other, SIZE));
    CHECK(memcmp(one, other, SIZE) == 0);
    CHECK(zariz_sign(keys[0], ZARIZ_RS256, text("abc"), one, SIZE - 1) == ZARIZ_OUTPUT_LENGTH);
    OK(zariz_sign_many(NULL, 0));
    CHECK(zariz_sign_many(NULL, 1) == ZARIZ_NULL_POINTER);
    CHECK(zariz_sign_many(jobs, SIZE_MAX) == ZARIZ_INVALID_ARGUMENT);
    CHECK(zariz_sign_many((zariz_private_job *)(void *)((char *)jobs + 1), 1) == ZARIZ_INVALID_ARGUMENT);
}

static void encryption(void) {
    const uint32_t paddings[4] = {ZARIZ_PKCS1V15, ZARIZ_OAEP_SHA1, ZARIZ_OAEP_SHA256,
                                  zariz_oaep(ZARIZ_SHA384, ZARIZ_SHA1)};
    uint8_t memory[4][MOST];
    zariz_public_job lock[4];
    zariz_private_job unlock[4];
    for (int i = 0; i < 4; i++) {
        zariz_bytes label = i == 2 ? text("label") : text("");
        // In place: the plaintext is where the ciphertext will be.
        snprintf((char *)memory[i], MOST, "plaintext %d", i);
        lock[i] = public_job(publics[i % KEYS], paddings[i], bytes_of(memory[i], 11), label, memory[i], MOST);
    }
    OK(zariz_encrypt_many(lock, 4));
    for (int i = 0; i < 4; i++) {
        CHECK(lock[i].output_len == zariz_public_key_size(publics[i % KEYS]));
        unlock[i] = private_job(keys[i % KEYS], paddings[i], bytes_of(memory[i], lock[i].output_len),
              memory[i], MOST);
        unlock[i].label = lock[i].other;
    }
    OK(zariz_decrypt_many(unlock, 4));
    for (int i = 0; i < 4; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "plaintext %d", i);
        CHECK(unlock[i].output_len == 11 && memcmp(memory[i], expected, 11) == 0);
    }
    uint8_t ciphertext[MOST], plaintext[MOST];
    size_t len = 1;
    OK(zariz_encrypt(publics[0], ZARIZ_OAEP_SHA256, text("a"), text("hi"), ciphertext, MOST));
    zariz_bytes right = bytes_of(ciphertext, SIZE);
    CHECK(zariz_decrypt(keys[0], ZARIZ_OAEP_SHA256, text("b"), right, plaintext, MOST, &len)
          == ZARIZ_DECRYPTION);
    CHECK(zariz_decrypt(keys[0], ZARIZ_PKCS1V15, text("b"), right, plaintext, MOST, &len)
          == ZARIZ_INVALID_ARGUMENT);
    CHECK(zariz_decrypt(keys[0], ZARIZ_OAEP_SHA256, text("a"), bytes_of(ciphertext, SIZE - 1), plaintext,
          MOST, &len)
          == ZARIZ_INPUT_LENGTH);
    CHECK(zariz_decrypt(keys[0], ZARIZ_OAEP_SHA256, text("a"), right, plaintext, 1, &len)
          == ZARIZ_OUTPUT_LENGTH);
    CHECK(zariz_decrypt(keys[0], ZARIZ_OAEP_SHA256, text("a"), right, plaintext, MOST, NULL)
          == ZARIZ_NULL_POINTER);
    OK(zariz_decrypt(keys[0], ZARIZ_OAEP_SHA256, text("a"), right, plaintext, MOST, &len));
    CHECK(len == 2 && memcmp(plaintext, "hi", 2) == 0);
    uint8_t long_text[SIZE] = {0};
    CHECK(zariz_encrypt(publics[0], ZARIZ_PKCS1V15, text(""), bytes_of(long_text, SIZE - 10), ciphertext,
          MOST)
          == ZARIZ_INPUT_LENGTH);
    memset(plaintext, 7, MOST);
    OK(zariz_encrypt(publics[0], ZARIZ_OAEP_SHA256, text("a"), text("hi"), ciphertext, MOST));
    CHECK(zariz_decrypt(keys[0], ZARIZ_OAEP_SHA256, text("a"), right, plaintext, MOST, NULL)
          == ZARIZ_NULL_POINTER);
    CHECK(plaintext[0] == 7 && plaintext[MOST - 1] == 7);
    // Whether PKCS #1 v1.5's result fits does not depend on the padding: there must be room for any.
    OK(zariz_encrypt(publics[0], ZARIZ_PKCS1V15, text(""), text("hi"), ciphertext, MOST));
    CHECK(zariz_decrypt(keys[0], ZARIZ_PKCS1V15, text(""), right, plaintext, SIZE - 1, &len)
          == ZARIZ_OUTPUT_LENGTH);
    OK(zariz_decrypt(keys[0], ZARIZ_PKCS1V15, text(""), right, plaintext, SIZE, &len));
    CHECK(len == 2);
    // PKCS #1 v1.5 with wrong padding gives other bytes, always the same.
    uint8_t first[MOST], second[MOST];
    size_t first_len, second_len;
    memset(ciphertext, 1, SIZE);
    OK(zariz_decrypt(keys[0], ZARIZ_PKCS1V15, text(""), right, first, MOST, &first_len));
    OK(zariz_decrypt(keys[0], ZARIZ_PKCS1V15, text(""), right, second, MOST, &second_len));
    CHECK(first_len == second_len && memcmp(first, second, first_len) == 0);
    // Numbers: (x^e)^d = x.
    uint8_t x[MOST], y[MOST];
    memset(x, 0x35, MOST);
    zariz_public_job open = public_job(publics[1], 0, bytes_of(x, 128), text(""), y, MOST);
    OK(zariz_public_many(&open, 1));
    zariz_private_job close = private_job(keys[1], 0, bytes_of(y, 128), y, MOST);
    OK(zariz_private_many(&close, 1));
    CHECK(close.output_len == 128 && memcmp(x, y, 128) == 0);
    memset(y, 0xff, MOST);
    close.input = bytes_of(y, 128);
    CHECK(zariz_private_many(&close, 1) == ZARIZ_OUT_OF_RANGE);
}

static uint32_t slow_pow(uint64_t base, uint32_t exponent, uint32_t modulus) {
    uint64_t power = 1 % modulus;
    for (base %= modulus; exponent; exponent >>= 1, base = base * base % modulus) {
        if (exponent & 1) {
            power = power * base % modulus;
        }
    }
    return (uint32_t)power;
}

static void big_endian(uint32_t number, uint8_t *bytes) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(number >> (24 - 8 * i));
    }
}

static void powers(void) {
    enum { COUNT = 20 };
    uint8_t base[COUNT][4], exponent[COUNT][4], output[COUNT][4], expected[COUNT][4];
    zariz_modulus *moduli[COUNT];
    zariz_pow_job jobs[COUNT];
    uint32_t random = 12345;
    for (int i = 0; i < COUNT; i++) {
        uint32_t number[3];
        for (int j = 0; j < 3; j++) {
            random = random * 1664525u + 1013904223u;
            number[j] = random;
        }
        number[0] |= 0x80000001u;
        uint8_t modulus[4];
        big_endian(number[0], modulus);
        big_endian(number[1], base[i]);
        big_endian(number[2], exponent[i]);
        big_endian(slow_pow(number[1], number[2], number[0]), expected[i]);
        OK(zariz_modulus_new(bytes_of(modulus, 4), &moduli[i]));
        CHECK(zariz_modulus_size(moduli[i]) == 4);
        zariz_pow_job job = {moduli[i], bytes_of(base[i], 4), bytes_of(exponent[i], 4), output[i], 4, -1};
        jobs[i] = job;
    }
    OK(zariz_pow_many(jobs, COUNT));
    CHECK(memcmp(output, expected, sizeof output) == 0);
    memset(output, 0, sizeof output);
    OK(zariz_pow_many_vartime(jobs, COUNT));
    CHECK(memcmp(output, expected, sizeof output) == 0);
    memset(output, 0, sizeof output);
    jobs[3].modulus = NULL;
    jobs[7].capacity = 3;
    CHECK(zariz_pow_many(jobs, COUNT) == ZARIZ_NULL_POINTER);
    for (int i = 0; i < COUNT; i++) {
        CHECK(jobs[i].status == (i == 3 ? ZARIZ_NULL_POINTER : i == 7 ? ZARIZ_OUTPUT_LENGTH : ZARIZ_OK));
        CHECK(i == 3 || i == 7 || memcmp(output[i], expected[i], 4) == 0);
    }
    for (int i = 0; i < COUNT; i++) {
        OK(zariz_pow(moduli[i], bytes_of(base[i], 4), bytes_of(exponent[i], 4), output[0], 4));
        CHECK(memcmp(output[0], expected[i], 4) == 0);
        zariz_fixed_base *fixed = NULL;
        OK(zariz_fixed_base_new(moduli[i], bytes_of(base[i], 4), 32, &fixed));
        zariz_bytes exponents[2] = {bytes_of(exponent[i], 4), bytes_of(exponent[(i + 1) % COUNT], 4)};
        OK(zariz_fixed_base_pow_many(fixed, exponents, 2, output[0], 8));
        CHECK(memcmp(output[0], expected[i], 4) == 0);
        OK(zariz_pow(moduli[i], bytes_of(base[i], 4), exponents[1], output[2], 4));
        CHECK(memcmp(output[1], output[2], 4) == 0);
        CHECK(zariz_fixed_base_pow_many(fixed, exponents, 2, output[0], 7) == ZARIZ_OUTPUT_LENGTH);
        exponents[1] = bytes_of("\1\0\0\0\0", 5);
        CHECK(zariz_fixed_base_pow_many(fixed, exponents, 2, output[0], 8) == ZARIZ_INPUT_LENGTH);
        zariz_fixed_base_free(fixed);
        zariz_modulus_free(moduli[i]);
    }
    zariz_modulus *even = NULL;
    CHECK(zariz_modulus_new(bytes_of("\4", 1), &even) == ZARIZ_INVALID_ARGUMENT && even == NULL);
    CHECK(strstr(zariz_last_error(), "odd") != NULL || strstr(zariz_last_error(), "even") != NULL);
    zariz_buffer primes[2];
    OK(zariz_primes_generate(256, 2, 0, primes));
    int is_prime = -1;
    for (int i = 0; i < 2; i++) {
        OK(zariz_is_prime(bytes_of(primes[i].data, primes[i].len), &is_prime));
        CHECK(is_prime == 1 && primes[i].len == 32);
        primes[i].data[31] ^= 1;
        OK(zariz_is_prime(bytes_of(primes[i].data, primes[i].len), &is_prime));
        CHECK(is_prime == 0);
        zariz_buffer_free(&primes[i]);
    }
    OK(zariz_primes_generate(256, 1, 1, primes));
    zariz_buffer_free(&primes[0]);
    CHECK(zariz_primes_generate(1, 1, 0, primes) == ZARIZ_INVALID_ARGUMENT);
}

static void hostile(void) {
    zariz_private_key *key = NULL;
    CHECK(zariz_private_key_parse(NULL, 5, NULL, 0, &key) == ZARIZ_NULL_POINTER);
    CHECK(zariz_private_key_parse((const uint8_t *)"nothing", 7, NULL, 0, &key) == ZARIZ_INVALID_KEY);
    CHECK(zariz_private_key_parse(NULL, 0, NULL, 0, &key) == ZARIZ_INVALID_KEY);
    CHECK(zariz_private_key_parse((const uint8_t *)"nothing", 7, NULL, 0, NULL) != ZARIZ_OK);
    CHECK(zariz_private_key_generate(3, 1, &key) == ZARIZ_INVALID_ARGUMENT);
    CHECK(zariz_private_key_generate(1024, 1, NULL) == ZARIZ_NULL_POINTER);
    CHECK(zariz_private_key_from_numbers(NULL, &key) == ZARIZ_NULL_POINTER && key == NULL);
    CHECK(zariz_private_key_size(NULL) == 0 && zariz_public_key_bits(NULL) == 0
          && zariz_modulus_size(NULL) == 0);
    CHECK(zariz_private_key_size((const zariz_private_key *)publics[0]) == 0);
    CHECK(zariz_private_key_validate(NULL) == ZARIZ_NULL_POINTER);
    CHECK(zariz_private_key_public(keys[0], NULL) == ZARIZ_NULL_POINTER);
    CHECK(zariz_public_key_to_der(publics[0], NULL) == ZARIZ_NULL_POINTER);
    zariz_buffer e = {NULL, 5};
    CHECK(zariz_public_key_numbers(publics[0], NULL, &e) == ZARIZ_NULL_POINTER && e.len == 5);
    CHECK(zariz_public_key_size((const zariz_public_key *)keys[0]) == 0);
    CHECK(strstr(zariz_last_error(), "another kind") != NULL);
    CHECK(zariz_completions_fd(NULL) == -1 && zariz_request_cancel(NULL) == ZARIZ_NULL_POINTER);
    CHECK(zariz_batcher_new(NULL, NULL) == ZARIZ_NULL_POINTER);
    CHECK(zariz_batcher_call(NULL, ZARIZ_SIGN, NULL, 0) == ZARIZ_NULL_POINTER);
    // Freeing what is none is left alone.
    zariz_private_key_free(NULL);
    zariz_private_key_free((zariz_private_key *)publics[0]);
    CHECK(zariz_public_key_bits(publics[0]) == BITS);
    zariz_public_key_free(NULL);
    zariz_modulus_free(NULL);
    zariz_fixed_base_free(NULL);
    zariz_batcher_free(NULL);
    zariz_request_free(NULL);
    zariz_completions_free(NULL);
    zariz_buffer_free(NULL);
}

static void write_file(const char *folder, const char *name, const uint8_t *data, size_t len) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(data, 1, len, file) == len && fclose(file) == 0);
}

int main(int count, char **arguments) {
    about_the_library();
    make_keys();
    signatures();
    encryption();
    powers();
    hostile();
    if (count > 1) {
        uint8_t signature[MOST];
        zariz_buffer pem;
        OK(zariz_sign(keys[0], ZARIZ_PS256, text("to be verified"), signature, MOST));
        OK(zariz_public_key_to_pem(publics[0], &pem));
        write_file(arguments[1], "message", (const uint8_t *)"to be verified", 14);
        write_file(arguments[1], "signature", signature, zariz_private_key_size(keys[0]));
        write_file(arguments[1], "public.pem", pem.data, pem.len);
        zariz_buffer_free(&pem);
    }
    for (int i = 0; i < KEYS; i++) {
        zariz_private_key_free(keys[i]);
        zariz_public_key_free(publics[i]);
    }
    puts("every function of zariz.h does what it says");
    return 0;
}
