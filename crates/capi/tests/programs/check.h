// What the programs share.
#ifndef CHECK_H
#define CHECK_H

#include "zariz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Ends the program with the line of what does not hold.
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, zariz_last_error()); \
            exit(1); \
        } \
    } while (0)
#define OK(call) CHECK((call) == ZARIZ_OK)

static inline zariz_bytes bytes_of(const void *data, size_t len) {
    zariz_bytes bytes;
    bytes.data = (const uint8_t *)data;
    bytes.len = len;
    return bytes;
}

static inline zariz_bytes text(const char *characters) {
    return bytes_of(characters, strlen(characters));
}

static inline zariz_private_job private_job(const zariz_private_key *key, uint32_t algorithm,
      zariz_bytes input,
                                            uint8_t *output, size_t capacity) {
    zariz_private_job job;
    memset(&job, 0, sizeof job);
    job.key = key;
    job.algorithm = algorithm;
    job.input = input;
    job.output = output;
    job.capacity = capacity;
    job.status = -1;
    return job;
}

static inline zariz_public_job public_job(const zariz_public_key *key, uint32_t algorithm, zariz_bytes input,
                                          zariz_bytes other, uint8_t *output, size_t capacity) {
    zariz_public_job job;
    memset(&job, 0, sizeof job);
    job.key = key;
    job.algorithm = algorithm;
    job.input = input;
    job.other = other;
    job.output = output;
    job.capacity = capacity;
    job.status = -1;
    return job;
}

#endif
