#include <stdio.h>
#include <zariz.h>
int main(void) {
    zariz_private_key *key = NULL;
    uint8_t signature[256];
    zariz_bytes message = {(const uint8_t *)"message", 7};
    if (zariz_private_key_generate(2048, 1, &key) != ZARIZ_OK ||
        zariz_sign(key, ZARIZ_RS256, message, signature, sizeof signature) != ZARIZ_OK) {
        fprintf(stderr, "%s\n", zariz_last_error());
        return 1;
    }
    zariz_private_key_free(key);
    printf("libzariz %s signed on %s\n", zariz_version(), zariz_engine());
    return 0;
}
