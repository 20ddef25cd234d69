// A signing server with one thread. A client sends lines, and gets the RS256 signature of each line in
// hexadecimal. Lines of several connections that wait at the same time are signed in one batch.
//
//     cc -O2 -o signer signer.c $(pkg-config --cflags --libs zariz)
//     ./signer key.pem 8080 &
//     echo hello | nc -N localhost 8080
//
// The event loop is poll(). zariz computes on threads of its own. A list of completions has a descriptor,
// which tells the loop that there are results. A loop on epoll, io_uring or libuv waits for it in the same
// way.
#define _POSIX_C_SOURCE 200809L

#include <zariz.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 256, LONGEST_LINE = 4096, LONGEST_SIGNATURE = 2048 };

typedef struct {
    int fd; // 0: the place is free
    // A signature is being made. Until it has been sent, nothing more is read.
    int is_signing;
    int has_ended; // the client sends no more
    size_t line_len, reply_len, reply_sent;
    char line[LONGEST_LINE];
    char reply[2 * LONGEST_SIGNATURE + 1];
} connection;

static connection connections[CONNECTIONS];
static zariz_private_key *key;
static zariz_batcher *batcher;
static zariz_completions *completions;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(zariz_status status, const char *what) {
    if (status != ZARIZ_OK) {
        fail(what, zariz_last_error());
    }
}

static zariz_private_key *read_key(const char *path) {
    static uint8_t pem[65536];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail(path, "cannot be read");
    }
    size_t len = fread(pem, 1, sizeof pem, file);
    fclose(file);
    zariz_private_key *read = NULL;
    check(zariz_private_key_parse(pem, len, NULL, 0, &read), path);
    memset(pem, 0, sizeof pem);
    return read;
}

static void close_connection(connection *it) {
    close(it->fd);
    memset(it, 0, sizeof *it);
}

// Submits the first line for signing, if it is complete.
static void sign_next(connection *it) {
    char *end = memchr(it->line, '\n', it->line_len);
    if (it->is_signing || it->reply_len > 0) {
        return;
    }
    if (end == NULL) {
        if (it->has_ended || it->line_len == sizeof it->line) {
            close_connection(it); // there is no further line, or one that is too long
        }
        return;
    }
    zariz_private_job job;
    memset(&job, 0, sizeof job);
    job.key = key;
    job.algorithm = ZARIZ_RS256;
    job.input.data = (const uint8_t *)it->line;
    job.input.len = (size_t)(end - it->line);
    // zariz has hashed the line when this returns.
    if (zariz_batcher_submit_to(batcher, ZARIZ_SIGN, &job, 0, completions, it, NULL) != ZARIZ_OK) {
        fprintf(stderr, "a line cannot be signed: %s\n", zariz_last_error());
        close_connection(it);
        return;
    }
    it->is_signing = 1;
    it->line_len -= job.input.len + 1;
    memmove(it->line, end + 1, it->line_len);
}

static void receive(connection *it) {
    ssize_t count = read(it->fd, it->line + it->line_len, sizeof it->line - it->line_len);
    if (count > 0) {
        it->line_len += (size_t)count;
    } else if (count == 0 || errno != EAGAIN) {
        it->has_ended = 1;
    }
    sign_next(it);
}

static void send_reply(connection *it) {
    ssize_t count = write(it->fd, it->reply + it->reply_sent, it->reply_len - it->reply_sent);
    if (count < 0) {
        if (errno != EAGAIN) {
            close_connection(it);
        }
        return;
    }
    it->reply_sent += (size_t)count;
    if (it->reply_sent == it->reply_len) {
        it->reply_len = it->reply_sent = 0;
        sign_next(it);
    }
}

// Takes all results that are there.
static void take_results(void) {
    zariz_completion result;
    while (zariz_completions_next(completions, &result) == ZARIZ_OK) {
        connection *it = result.context;
        it->is_signing = 0;
        if (result.status != ZARIZ_OK) {
            fprintf(stderr, "a signature failed: %s\n", zariz_status_text(result.status));
            close_connection(it);
            continue;
        }
        for (size_t i = 0; i < result.result.len; i++) {
            snprintf(it->reply + 2 * i, 3, "%02x", result.result.data[i]);
        }
        it->reply_len = 2 * result.result.len;
        it->reply[it->reply_len++] = '\n';
        zariz_buffer_free(&result.result);
        send_reply(it);
    }
}

static void accept_connection(int listener) {
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) {
        return;
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        if (connections[i].fd == 0) {
            fcntl(fd, F_SETFL, O_NONBLOCK);
            connections[i].fd = fd;
            return;
        }
    }
    close(fd); // all places are taken
}

static int listen_on(unsigned short port) {
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    socklen_t len = sizeof address;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, 128) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &len) != 0) {
        fail("the port", "cannot be listened on");
    }
    printf("listening on port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fail("usage", "signer KEY.pem PORT (0: any)");
    }
    signal(SIGPIPE, SIG_IGN);
    key = read_key(arguments[1]);
    check(zariz_batcher_new(NULL, &batcher), "batcher");
    check(zariz_completions_new(&completions), "completions");
    int listener = listen_on((unsigned short)atoi(arguments[2]));
    for (;;) {
        struct pollfd polled[CONNECTIONS + 2];
        connection *owner[CONNECTIONS + 2];
        nfds_t used = 2;
        polled[0] = (struct pollfd){zariz_completions_fd(completions), POLLIN, 0};
        polled[1] = (struct pollfd){listener, POLLIN, 0};
        for (int i = 0; i < CONNECTIONS; i++) {
            connection *it = &connections[i];
            // While a signature is made, nothing is read: the client waits, and memory stays bounded.
            if (it->fd != 0 && !it->is_signing) {
                owner[used] = it;
                polled[used++] = (struct pollfd){it->fd, it->reply_len > 0 ? POLLOUT : POLLIN, 0};
            }
        }
        if (poll(polled, used, -1) < 0) {
            continue;
        }
        if (polled[0].revents) {
            take_results();
        }
        for (nfds_t i = 2; i < used; i++) {
            connection *it = owner[i];
            // `take_results` may have closed it, or given it a reply.
            if (polled[i].revents && it->fd == polled[i].fd && !it->is_signing) {
                if (it->reply_len > 0) {
                    send_reply(it);
                } else {
                    receive(it);
                }
            }
        }
        if (polled[1].revents) {
            accept_connection(listener);
        }
    }
}
