/*
 * Checks single values: their notation, and what their keys allow.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/cpus.h"
#include "scenario_check.h"

/* A decimal number: not hexadecimal, which YAML 1.2 and strtod accept, nor .inf. */
size_t scenario_number_length(const char *text)
{
    const char *end = text + (*text == '+' || *text == '-');
    size_t whole = strspn(end, "0123456789");
    end += whole;
    size_t fraction = *end == '.' ? strspn(end + 1, "0123456789") : 0;
    end += *end == '.' ? 1 + fraction : 0;
    if (whole + fraction == 0)
        return 0;
    if (*end != 'e' && *end != 'E')
        return (size_t)(end - text);
    const char *power = end + 1 + (end[1] == '+' || end[1] == '-');
    size_t exponent = strspn(power, "0123456789");
    return (size_t)((exponent > 0 ? power + exponent : end) - text);
}

bool scenario_is_number(const char *text)
{
    size_t length = scenario_number_length(text);
    return length > 0 && text[length] == '\0';
}

/* In libcyaml's notation, where a leading 0 would mean octal. */
static bool is_whole_number(const char *text)
{
    text += *text == '-';
    return strspn(text, "0123456789") == strlen(text) && *text != '\0' &&
           (*text != '0' || text[1] == '\0');
}

/* --- numbers as text ---------------------------------------------------------------- */

/* Shortens the exponent: 1e+06 becomes 1e6. */
static void tidy_exponent(char *text)
{
    char *exponent = strchr(text, 'e');

    if (exponent == NULL)
        return;
    char *to = exponent + 1;
    const char *from = to + (*to == '+');
    if (*from == '-')
        *to++ = *from++;
    from += strspn(from, "0");
    memmove(to, from, strlen(from) + 1);
}

/* How many digits of a number written by %.14e are needed: those up to the last nonzero digit. */
static int count_digits(const char *text)
{
    int digits = 0, seen = 0;

    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9')
            continue;
        seen++;
        if (*text != '0')
            digits = seen;
    }
    return digits;
}

/* A decimal with up to 15 digits survives conversion to double. Therefore, if 15 digits suffice,
 * the fewest are these without trailing zeros. */
void scenario_number_text(char text[SCENARIO_NUMBER_BYTES], double value)
{
    snprintf(text, SCENARIO_NUMBER_BYTES, "%.14e", value);
    int digits = strtod(text, NULL) == value ? count_digits(text) : 16;
    snprintf(text, SCENARIO_NUMBER_BYTES, "%.*g", digits < 6 ? 6 : digits, value);
    if (digits == 16 && strtod(text, NULL) != value)
        snprintf(text, SCENARIO_NUMBER_BYTES, "%.17g", value);
    tidy_exponent(text);
}

uint64_t scenario_ns(double time, double ns_per_unit)
{
    return (uint64_t)llround(time * ns_per_unit);
}

double scenario_ns_per_unit(const struct scenario_key *key)
{
    return strcmp(key->unit, "us") == 0 ? 1e3 : 1e9;
}

/* Whole except for rounding errors of the decimal fraction and of the product. */
static bool is_whole_ns(double ns)
{
    return fabs(ns - round(ns)) <= fmax(1e-6, fabs(ns) * 0x1p-51);
}

static bool number_fits(const struct scenario_key *key, double number)
{
    cpu_set_t cpus;

    if (!isfinite(number))
        return false;
    if (key->rule == SCENARIO_CPU && number == -1)
        return true;
    if (key->rule == SCENARIO_CPU) {
        hil_cpus_allowed(&cpus);
        return number >= 0 && number < CPU_SETSIZE && CPU_ISSET((unsigned)number, &cpus);
    }
    if (number < key->min || number > key->max)
        return false;
    return key->rule != SCENARIO_WHOLE_NS || is_whole_ns(number * scenario_ns_per_unit(key));
}

static bool name_fits(const char *name)
{
    size_t length = strlen(name);

    if (length == 0 || length > 64 || !(isalnum((unsigned char)name[0]) || name[0] == '_'))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("._-", name[i]) == NULL)
            return false;
    return true;
}

const char scenario_names_allowed[] =
    "up to 64 letters, digits, '_' and '-', the first a letter or '_'";

bool scenario_name_fits(const char *name)
{
    return name_fits(name) && !isdigit((unsigned char)name[0]) && strchr(name, '.') == NULL;
}

/* A name is not looked up, because another machine may run the scenario. A link-local address would
 * mean another host on each machine. */
static bool address_fits(const char *address)
{
    struct in6_addr six;
    struct in_addr four;
    size_t digits = strspn(address, "0123456789.");

    if (strchr(address, ':') != NULL)
        return inet_pton(AF_INET6, address, &six) == 1 && !IN6_IS_ADDR_LINKLOCAL(&six);
    if (address[digits] == '\0')
        return inet_pton(AF_INET, address, &four) == 1;
    for (const char *c = address; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
            return false;
    return true;
}

/* The last colon is before the port, except in an IPv6 address without brackets. */
bool hil_rendezvous_place_parse(const char *text, struct hil_rendezvous_place *place)
{
    const bool bracket = text[0] == '[';
    const char *end = bracket ? strchr(text, ']') : strchr(text, ':'), *rest;
    unsigned long port = HIL_RENDEZVOUS_PORT;
    char *after;

    if (!bracket && (end == NULL || strchr(end + 1, ':') != NULL))
        end = text + strlen(text);
    if (end == NULL || (size_t)(end - text) >= sizeof(place->host))
        return false;
    snprintf(place->host, sizeof(place->host), "%.*s", (int)(end - text - bracket), text + bracket);
    rest = end + bracket;
    if (rest[0] == ':' && isdigit((unsigned char)rest[1])) {
        port = strtoul(rest + 1, &after, 10);
        rest = after;
    }
    place->port = (uint16_t)port;
    return place->host[0] != '\0' && address_fits(place->host) && rest[0] == '\0' && port > 0 &&
           port <= 65535;
}

bool scenario_ids_parse(const char *text, unsigned *first, unsigned *last)
{
    unsigned long ends[2];
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return false;
    ends[0] = ends[1] = strtoul(text, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        ends[1] = strtoul(end + 1, &end, 10);
    if (*end != '\0' || ends[0] > ends[1] || ends[1] > INT32_MAX)
        return false;
    *first = (unsigned)ends[0];
    *last = (unsigned)ends[1];
    return true;
}

static bool count_fits(const struct scenario_key *key, const char *text)
{
    return is_whole_number(text) ? number_fits(key, strtod(text, NULL)) : scenario_name_fits(text);
}

static bool text_fits(const struct scenario_key *key, const char *text)
{
    if (key->rule == SCENARIO_TEXT)
        return true;
    if (key->rule == SCENARIO_COUNT)
        return count_fits(key, text);
    if (key->rule == SCENARIO_NAME)
        return name_fits(text);
    if (key->rule == SCENARIO_ADDRESS)
        return address_fits(text);
    return hil_rendezvous_place_parse(text, &(struct hil_rendezvous_place){.port = 0});
}

bool scenario_scalar_fits(const struct scenario_key *key, enum cyaml_type type,
                          const struct scenario_node *node)
{
    switch (type) {
    case CYAML_FLOAT:
        return node->plain && scenario_is_number(node->text) &&
               number_fits(key, strtod(node->text, NULL));
    case CYAML_INT:
    case CYAML_UINT:
        return node->plain && is_whole_number(node->text) &&
               number_fits(key, strtod(node->text, NULL));
    case CYAML_BOOL:
        return node->plain && (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0);
    default:
        return !scenario_node_empty(node) && text_fits(key, node->text);
    }
}
