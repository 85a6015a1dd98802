#include "expression.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An expression is parsed by recursive descent: each function below reads one kind of term, and
 * calls the function of the kind that binds tighter. */
struct expression {
    const struct cir_token *token;
    const char *at;
    cir_lookup *lookup;
    void *arg;
    const struct cir_said *said;
    unsigned depth;
};

enum { DEPTH_MAX = 64 };

static const char allowed[] =
    "numbers, parameters, + - * / ** ^ ( ), comparisons, ?:, and abs sqrt exp ln log log10 sin cos "
    "tan atan min max pow";

static int expression_value(struct expression *e, double *value);

static int refuse_at(const struct expression *e, const char *at, const char *what)
{
    struct cir_token here = *e->token;

    here.column += (unsigned)(at - here.text);
    return cir_refuse(e->said, &here, "%s; allowed: %s", what, allowed);
}

static void skip_spaces(struct expression *e)
{
    e->at += strspn(e->at, " \t");
}

/* Takes the operator if it is next. */
static bool take(struct expression *e, const char *what)
{
    skip_spaces(e);
    if (strncmp(e->at, what, strlen(what)) != 0)
        return false;
    e->at += strlen(what);
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* A number, its scale factor and the letters after it, which mean nothing: 10uF. */
static bool read_number(const char **at, double *value)
{
    static const struct {
        const char *letters;
        double times, per; /* two, as 1e-6 is no double, and 1e6 is one */
    } scales[] = {{"meg", 1e6, 1}, {"mil", 25.4, 1e6}, {"t", 1e12, 1}, {"g", 1e9, 1},
                  {"k", 1e3, 1},   {"m", 1, 1e3},      {"u", 1, 1e6},  {"n", 1, 1e9},
                  {"p", 1, 1e12},  {"f", 1, 1e15},     {"a", 1, 1e18}};
    const char *digit = *at + strspn(*at, "+-");
    char *end;

    if (digit - *at > 1 || !isdigit((unsigned char)digit[*digit == '.']) ||
        strncasecmp(digit, "0x", 2) == 0)
        return false;
    *value = strtod(*at, &end);
    for (unsigned i = 0; i < sizeof scales / sizeof scales[0]; i++)
        if (strncmp(end, scales[i].letters, strlen(scales[i].letters)) == 0) {
            *value = *value * scales[i].times / scales[i].per;
            break;
        }
    while (isalpha((unsigned char)*end))
        end++;
    *at = end;
    return true;
}

/* --- terms ------------------------------------------------------------------------------------ */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static int call(struct expression *e, const char *name, const char *name_at, double *value)
{
    static const struct {
        const char *name;
        double (*of_one)(double);
        double (*of_two)(double, double);
    } functions[] = {
        {"abs", fabs, NULL}, {"sqrt", sqrt, NULL},   {"exp", exp, NULL},     {"ln", log, NULL},
        {"log", log, NULL},  {"log10", log10, NULL}, {"sin", sin, NULL},     {"cos", cos, NULL},
        {"tan", tan, NULL},  {"atan", atan, NULL},   {"min", NULL, smaller}, {"max", NULL, greater},
        {"pow", NULL, pow},
    };

    for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        double first, second = 0;
        if (strcmp(functions[i].name, name) != 0)
            continue;
        int rc = expression_value(e, &first);
        if (!rc && functions[i].of_two)
            rc = take(e, ",") ? expression_value(e, &second)
                              : refuse_at(e, e->at, "found no second value");
        if (rc)
            return rc;
        *value =
            functions[i].of_two ? functions[i].of_two(first, second) : functions[i].of_one(first);
        return take(e, ")") ? 0 : refuse_at(e, e->at, "found no )");
    }
    return refuse_at(e, name_at, "found an unknown function");
}

static int named(struct expression *e, double *value)
{
    const char *start = e->at;
    char name[64], what[128];
    size_t length = 0;

    while (isalnum((unsigned char)e->at[length]) || e->at[length] == '_' || e->at[length] == '.')
        length++;
    snprintf(name, sizeof name, "%.*s", (int)length, start);
    e->at += length;
    if (take(e, "("))
        return call(e, name, start, value);
    const int rc = e->lookup ? e->lookup(e->arg, name, value) : -ENOENT;
    if (rc != -ENOENT)
        return rc;
    if (strcmp(name, "pi") == 0) {
        *value = M_PI;
        return 0;
    }
    snprintf(what, sizeof what, "there is no parameter %s", name);
    return refuse_at(e, start, what);
}

static int atom(struct expression *e, double *value)
{
    skip_spaces(e);
    if (take(e, "(")) {
        const int rc = expression_value(e, value);
        if (rc)
            return rc;
        return take(e, ")") ? 0 : refuse_at(e, e->at, "found no )");
    }
    if (isalpha((unsigned char)*e->at) || *e->at == '_')
        return named(e, value);
    if (read_number(&e->at, value))
        return 0;
    return refuse_at(e, e->at, *e->at ? "found something that is no value" : "found no value");
}

static int signed_power(struct expression *e, double *value)
{
    double exponent;
    int rc;

    skip_spaces(e);
    if (take(e, "-")) {
        rc = signed_power(e, value);
        *value = -*value;
        return rc;
    }
    if (take(e, "+"))
        return signed_power(e, value);
    rc = atom(e, value);
    if (rc || !(take(e, "**") || take(e, "^")))
        return rc;
    rc = signed_power(e, &exponent);
    if (!rc)
        *value = pow(*value, exponent);
    return rc;
}

static int product(struct expression *e, double *value)
{
    int rc = signed_power(e, value);

    while (!rc) {
        double factor;
        const bool times = take(e, "*");
        if (!times && !take(e, "/"))
            return 0;
        rc = signed_power(e, &factor);
        if (!rc)
            *value = times ? *value * factor : *value / factor;
    }
    return rc;
}

static int sum(struct expression *e, double *value)
{
    int rc = product(e, value);

    while (!rc) {
        double term;
        const bool plus = take(e, "+");
        if (!plus && !take(e, "-"))
            return 0;
        rc = product(e, &term);
        if (!rc)
            *value = plus ? *value + term : *value - term;
    }
    return rc;
}

static int comparison(struct expression *e, double *value)
{
    static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">"};
    int rc = sum(e, value);

    for (unsigned i = 0; !rc && i < sizeof operators / sizeof operators[0]; i++) {
        double right;
        if (!take(e, operators[i]))
            continue;
        rc = sum(e, &right);
        const bool is[] = {*value <= right, *value >= right, *value == right, *value != right,
                           *value<right, *value> right};
        *value = is[i];
        return rc;
    }
    return rc;
}

static int expression_value(struct expression *e, double *value)
{
    double yes, no;

    if (++e->depth > DEPTH_MAX)
        return refuse_at(e, e->at, "found too many parentheses");
    int rc = comparison(e, value);
    if (!rc && take(e, "?")) {
        rc = expression_value(e, &yes);
        if (!rc && !take(e, ":"))
            rc = refuse_at(e, e->at, "found no :");
        if (!rc)
            rc = expression_value(e, &no);
        if (!rc)
            *value = *value != 0 ? yes : no;
    }
    e->depth--;
    return rc;
}

int cir_number(double *value, const struct cir_token *token, cir_lookup *lookup, void *arg,
               const struct cir_said *said)
{
    struct expression e = {token, token->text, lookup, arg, said, 0};

    if (token->text[0] == '{') {
        e.at++;
        const int rc = expression_value(&e, value);
        if (rc)
            return rc;
        if (!take(&e, "}") || *e.at)
            return refuse_at(&e, e.at, "found more than an expression");
    } else if (!read_number(&e.at, value) || *e.at) {
        return cir_refuse(said, token, "found %s; allowed: a number such as 4.7u, or {EXPRESSION}",
                          token->text);
    }
    return isfinite(*value) ? 0
                            : cir_refuse(said, token,
                                         "found %s, which is no finite number; "
                                         "allowed: a finite number",
                                         token->text);
}
