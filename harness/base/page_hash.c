#include "page_hash.h"

#include <sodium.h>
#include <string.h>

void hil_page_hash(const char *text, FILE *to)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char name[sodium_base64_ENCODED_LEN(sizeof hash, sodium_base64_VARIANT_ORIGINAL)];

    crypto_hash_sha256(hash, (const unsigned char *)text, strlen(text));
    sodium_bin2base64(name, sizeof name, hash, sizeof hash, sodium_base64_VARIANT_ORIGINAL);
    fprintf(to, " 'sha256-%s'", name);
}
