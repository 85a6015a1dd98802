#include "plain_locale.h"

#include <pthread.h>

static locale_t plain;

static void plain_make(void)
{
    plain = newlocale(LC_ALL_MASK, "C", NULL); /* this needs no memory, so it cannot fail */
}

locale_t hil_plain_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, plain_make);
    return uselocale(plain);
}
