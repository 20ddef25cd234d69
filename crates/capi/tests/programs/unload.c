// Loads the library, signs with a batcher, unloads it while the batcher's threads exist, and loads it again.
#define _POSIX_C_SOURCE 200809L
#include "zariz.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *library;
static volatile int results;

static void *find(const char *name) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s: %s\n", name, dlerror());
        exit(1);
    }
    return symbol;
}

static void on_result(void *context, zariz_status status, zariz_bytes result) {
    (void)context;
    (void)result;
    results += status == ZARIZ_OK;
}

// POSIX lets a pointer to an object be one to a function; ISO C asks for a copy.
#define FUNCTION(type, name) \
    type name; \
    do { \
        void *symbol = find(#name); \
        memcpy(&name, &symbol, sizeof symbol); \
    } while (0)

int main(int count, char **arguments) {
    typedef zariz_status (*generate)(size_t, size_t, zariz_private_key **);
    typedef zariz_status (*make)(const zariz_batcher_options *, zariz_batcher **);
    typedef zariz_status (*hand_over)(const zariz_batcher *, uint32_t, const zariz_private_job *, uint64_t,
                                      zariz_callback, void *, zariz_request **);
    for (int round = 1; round <= 3 && count > 1; round++) {
        library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        FUNCTION(generate, zariz_private_key_generate);
        FUNCTION(make, zariz_batcher_new);
        FUNCTION(hand_over, zariz_batcher_submit);
        zariz_private_key *key = NULL;
        zariz_batcher *batcher = NULL;
        if (zariz_private_key_generate(1024, 1, &key) != ZARIZ_OK || zariz_batcher_new(NULL,
              &batcher) != ZARIZ_OK) {
            return 1;
        }
        zariz_private_job job;
        memset(&job, 0, sizeof job);
        job.key = key;
        job.algorithm = ZARIZ_RS256;
        if (zariz_batcher_submit(batcher, ZARIZ_SIGN, &job, 0, on_result, NULL, NULL) != ZARIZ_OK) {
            return 1;
        }
        dlclose(library);
        for (int wait = 0; results < round && wait < 6000; wait++) {
            struct timespec pause = {0, 10000000};
            nanosleep(&pause, NULL);
        }
        if (results != round) {
            return 1;
        }
    }
    puts("results came after the library was unloaded");
    return 0;
}
