// A batcher with threads, callbacks and completions; time limits, cancelled requests, a full queue and a
// fork.
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, EACH = 12, SIZE = 128, REQUESTS = 100 };

static zariz_private_key *keys[2];
static zariz_public_key *publics[2];
static zariz_batcher *batcher;

static void check_signature(int key, const char *message, const uint8_t *signature) {
    OK(zariz_verify(publics[key], ZARIZ_RS256, text(message), bytes_of(signature, SIZE)));
}

static void *blocking(void *number) {
    int thread = *(int *)number;
    for (int i = 0; i < EACH; i++) {
        char message[32];
        uint8_t signature[SIZE];
        snprintf(message, sizeof message, "thread %d, message %d", thread, i);
        zariz_private_job job = private_job(keys[i % 2], ZARIZ_RS256, text(message), signature, SIZE);
        if (i == 5) { // a bad one among good ones
            job.capacity = SIZE - 1;
            CHECK(zariz_batcher_call(batcher, ZARIZ_SIGN, &job, 0) == ZARIZ_OUTPUT_LENGTH);
            CHECK(job.status == ZARIZ_OUTPUT_LENGTH && job.output_len == 0);
            job.capacity = SIZE;
        }
        OK(zariz_batcher_call(batcher, ZARIZ_SIGN, &job, 0));
        CHECK(job.status == ZARIZ_OK && job.output_len == SIZE);
        check_signature(i % 2, message, signature);
    }
    return NULL;
}

static void threads(void) {
    pthread_t thread[THREADS];
    int number[THREADS];
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        CHECK(pthread_create(&thread[i], NULL, blocking, &number[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
    zariz_metrics metrics;
    OK(zariz_batcher_metrics(batcher, &metrics));
    // The bad ones were computed too.
    CHECK(metrics.operations == THREADS * (EACH + 1) && metrics.batches > 0);
}

static void every_operation(void) {
    uint8_t ciphertext[SIZE], result[SIZE];
    OK(zariz_encrypt(publics[0], ZARIZ_OAEP_SHA1, text(""), text("hello"), ciphertext, SIZE));
    zariz_private_job job = private_job(keys[0], ZARIZ_OAEP_SHA1, bytes_of(ciphertext, SIZE), result, SIZE);
    OK(zariz_batcher_call(batcher, ZARIZ_DECRYPT, &job, 0));
    CHECK(job.output_len == 5 && memcmp(result, "hello", 5) == 0);
    OK(zariz_batcher_call(batcher, ZARIZ_PRIVATE, &job, 0));
    zariz_public_job back = public_job(publics[0], 0, bytes_of(result, SIZE), text(""), result, SIZE);
    OK(zariz_public_many(&back, 1));
    CHECK(memcmp(result, ciphertext, SIZE) == 0);
    CHECK(zariz_batcher_call(batcher, 9, &job, 0) == ZARIZ_INVALID_ARGUMENT);
    zariz_modulus *modulus = NULL;
    OK(zariz_modulus_new(bytes_of("\7", 1), &modulus));
    zariz_pow_job pow = {modulus, bytes_of("\3", 1), bytes_of("\5", 1), result, 1, -1};
    OK(zariz_batcher_pow(batcher, &pow, 0)); // 3^5 = 243 = 34·7 + 5
    CHECK(result[0] == 5 && pow.status == ZARIZ_OK);
    zariz_modulus_free(modulus);
}

typedef struct {
    char message[32];
    int key, cancelled;
    int called; // guarded by the mutex
    zariz_status status;
    uint8_t signature[SIZE];
    zariz_request *handle;
} request;

static request requests[REQUESTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;

static void on_result(void *context, zariz_status status, zariz_bytes result) {
    request *it = context;
    CHECK(status == ZARIZ_OK ? result.len == SIZE : result.len == 0);
    if (status == ZARIZ_OK) {
        memcpy(it->signature, result.data, SIZE);
    }
    // A callback may call the library.
    CHECK(zariz_private_key_size(keys[it->key]) == SIZE);
    pthread_mutex_lock(&mutex);
    it->called++;
    it->status = status;
    done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static zariz_private_job job_of(request *it, int i) {
    memset(it, 0, sizeof *it);
    it->key = i % 2;
    snprintf(it->message, sizeof it->message, "request %d", i);
    return private_job(keys[it->key], ZARIZ_RS256, text(it->message), NULL, 0);
}

// Submits another request from the callback, which joins the queue at once.
static void on_first(void *context, zariz_status status, zariz_bytes result) {
    (void)result;
    CHECK(status == ZARIZ_OK);
    zariz_private_job job = job_of(context, 1);
    OK(zariz_batcher_submit(batcher, ZARIZ_SIGN, &job, 0, on_result, context, NULL));
}

static void wait_for(int count) {
    pthread_mutex_lock(&mutex);
    while (done < count) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

static void check_requests(void) {
    for (int i = 0; i < REQUESTS; i++) {
        request *it = &requests[i];
        CHECK(it->called == 1);
        if (it->status == ZARIZ_OK) {
            check_signature(it->key, it->message, it->signature);
        } else {
            CHECK(it->status == ZARIZ_CANCELLED && it->cancelled);
        }
        zariz_request_free(it->handle);
    }
}

static void callbacks(void) {
    done = 0;
    for (int i = 0; i < REQUESTS; i++) {
        zariz_private_job job = job_of(&requests[i], i);
        CHECK(zariz_batcher_submit(batcher, ZARIZ_SIGN, &job, 0, NULL, NULL, NULL) == ZARIZ_NULL_POINTER);
        zariz_request **handle = i % 3 ? &requests[i].handle : NULL;
        OK(zariz_batcher_submit(batcher, ZARIZ_SIGN, &job, 0, on_result, &requests[i], handle));
        memset(&job, 0xff, sizeof job); // the library has copied it
        if (i % 3 == 2) {
            requests[i].cancelled = 1;
            OK(zariz_request_cancel(requests[i].handle));
            OK(zariz_request_cancel(requests[i].handle));
        }
    }
    wait_for(REQUESTS);
    check_requests();
    zariz_private_job chained = job_of(&requests[0], 0);
    OK(zariz_batcher_submit(batcher, ZARIZ_SIGN, &chained, 0, on_first, &requests[0], NULL));
    wait_for(REQUESTS + 1);
    check_signature(1, requests[0].message, requests[0].signature);
    // Refused requests have no callback.
    zariz_private_job job = job_of(&requests[0], 0);
    job.algorithm = 0;
    CHECK(zariz_batcher_submit(batcher, ZARIZ_SIGN, &job, 0, on_result, NULL, NULL)
          == ZARIZ_INVALID_ARGUMENT);
}

static int is_readable(zariz_completions *list, int milliseconds) {
    struct pollfd descriptor = {zariz_completions_fd(list), POLLIN, 0};
    return poll(&descriptor, 1, milliseconds) == 1;
}

static void completions(void) {
    zariz_completions *list = NULL;
    zariz_completion completion;
    OK(zariz_completions_new(&list));
    CHECK(!is_readable(list, 0) && zariz_completions_next(list, &completion) == ZARIZ_EMPTY);
    for (int i = 0; i < REQUESTS; i++) {
        zariz_private_job job = job_of(&requests[i], i);
        OK(zariz_batcher_submit_to(batcher, ZARIZ_SIGN, &job, 0, list, &requests[i], &requests[i].handle));
    }
    for (int taken = 0; taken < REQUESTS;) {
        CHECK(is_readable(list, 60000));
        while (zariz_completions_next(list, &completion) == ZARIZ_OK) {
            request *it = completion.context;
            it->called++;
            it->status = completion.status;
            CHECK(completion.result.len == SIZE);
            memcpy(it->signature, completion.result.data, SIZE);
            zariz_buffer_free(&completion.result);
            taken++;
        }
    }
    CHECK(!is_readable(list, 0));
    check_requests();
    // Results that nobody takes are freed with the list; a pow goes there too.
    zariz_modulus *modulus = NULL;
    OK(zariz_modulus_new(bytes_of("\7", 1), &modulus));
    zariz_pow_job pow = {modulus, bytes_of("\3", 1), bytes_of("\5", 1), NULL, 0, -1};
    OK(zariz_batcher_submit_pow_to(batcher, &pow, 0, list, NULL, NULL));
    zariz_modulus_free(modulus); // the library has what it needs
    CHECK(is_readable(list, 60000));
    zariz_completions_free(list);
}

static void limits(void) {
    zariz_batcher_options options;
    memset(&options, 0, sizeof options);
    options.threads = 1;
    options.capacity = 1;
    options.max_batch = 1;
    zariz_batcher *small = NULL;
    OK(zariz_batcher_new(&options, &small));
    done = 0;
    int full = 0, expired = 0;
    for (int i = 0; i < REQUESTS; i++) {
        zariz_private_job job = job_of(&requests[i], i);
        // One microsecond is over when the computation begins.
        OK(zariz_batcher_submit(small, ZARIZ_SIGN, &job, i % 2, on_result, &requests[i], NULL));
    }
    wait_for(REQUESTS);
    for (int i = 0; i < REQUESTS; i++) {
        CHECK(requests[i].called == 1);
        full += requests[i].status == ZARIZ_FULL;
        expired += requests[i].status == ZARIZ_EXPIRED;
        CHECK(requests[i].status != ZARIZ_OK || memcmp(requests[i].signature, "\0\0\0\0", 4) != 0);
    }
    zariz_metrics metrics;
    OK(zariz_batcher_metrics(small, &metrics));
    CHECK((int)metrics.refused == full && full > 0 && (int)metrics.expired == expired);
    zariz_batcher_free(small);
}

// The parent's threads are not in the child, which gets a queue of its own. Requests and lists stay the
// parent's.
static void child(void) {
    zariz_completions *list = NULL;
    zariz_completion completion;
    OK(zariz_completions_new(&list));
    zariz_private_job job = job_of(&requests[0], 0), other = job_of(&requests[1], 1);
    OK(zariz_batcher_submit_to(batcher, ZARIZ_SIGN, &job, 0, list, &requests[0], NULL));
    CHECK(is_readable(list, 60000));
    // One that has no result yet: a worker waits for more requests. No thread starts while we fork.
    zariz_batcher_options options;
    memset(&options, 0, sizeof options);
    options.linger_us = 1000000;
    zariz_batcher *slow = NULL;
    OK(zariz_batcher_new(&options, &slow));
    OK(zariz_batcher_submit_to(slow, ZARIZ_SIGN, &other, 0, list, &requests[1], &requests[1].handle));
    struct timespec pause = {0, 200000000};
    nanosleep(&pause, NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        int number = 0;
        blocking(&number);
        CHECK(zariz_completions_next(list, &completion) == ZARIZ_FORKED);
        CHECK(zariz_batcher_submit_to(batcher, ZARIZ_SIGN, &job, 0, list, NULL, NULL) == ZARIZ_FORKED);
        OK(zariz_request_cancel(requests[1].handle));
        zariz_completions_free(list);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    // The child has taken nothing of it.
    for (int taken = 0; taken < 2;) {
        CHECK(is_readable(list, 60000));
        while (zariz_completions_next(list, &completion) == ZARIZ_OK) {
            request *it = completion.context;
            CHECK(completion.status == ZARIZ_OK);
            check_signature(it->key, it->message, completion.result.data);
            zariz_buffer_free(&completion.result);
            taken++;
        }
    }
    CHECK(!is_readable(list, 0));
    zariz_request_free(requests[1].handle);
    zariz_completions_free(list);
    zariz_batcher_free(slow);
}

int main(void) {
    OK(zariz_private_key_generate(8 * SIZE, 2, keys));
    for (int i = 0; i < 2; i++) {
        OK(zariz_private_key_public(keys[i], &publics[i]));
    }
    OK(zariz_batcher_new(NULL, &batcher));
    threads();
    every_operation();
    callbacks();
    completions();
    limits();
    child();
    zariz_batcher_free(batcher);
    for (int i = 0; i < 2; i++) {
        zariz_private_key_free(keys[i]);
        zariz_public_key_free(publics[i]);
    }
    puts("every request had one result");
    return 0;
}
