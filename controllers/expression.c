#include "expression.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "least.h"

enum { EXPRESSION_STACK = 64, EXPRESSION_NESTED_MAX = 40 };

typedef double of_one_fn(double a);
typedef double of_two_fn(double a, double b);
typedef double of_three_fn(double a, double b, double c);

enum operation { PUSH, LOAD, OF_ONE, OF_TWO, OF_THREE };

struct instruction {
    enum operation operation;
    union {
        double value;
        size_t place;
        of_one_fn *of_one;
        of_two_fn *of_two;
        of_three_fn *of_three;
    };
};

struct expression {
    size_t count;
    struct instruction at[];
};

/* --- what a formula can compute --------------------------------------------------------------- */

/* As in the blocks, 0.5 and above is on. */
static bool is_on(double a)
{
    return a >= 0.5;
}

static double negative(double a)
{
    return -a;
}

static double opposite(double a)
{
    return !is_on(a);
}

static double sign(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}

static double plus(double a, double b)
{
    return a + b;
}

static double minus(double a, double b)
{
    return a - b;
}

static double times(double a, double b)
{
    return a * b;
}

static double divided(double a, double b)
{
    return a / b;
}

static double both(double a, double b)
{
    return is_on(a) && is_on(b);
}

static double either(double a, double b)
{
    return is_on(a) || is_on(b);
}

static double less(double a, double b)
{
    return a < b;
}

static double at_most(double a, double b)
{
    return a <= b;
}

static double more(double a, double b)
{
    return a > b;
}

static double at_least(double a, double b)
{
    return a >= b;
}

static double equal(double a, double b)
{
    return a == b;
}

static double different(double a, double b)
{
    return a != b;
}

static double chosen(double condition, double a, double b)
{
    return is_on(condition) ? a : b;
}

static double clamped(double a, double low, double high)
{
    return greatest_of(least_of(a, high), low);
}

/* The functions of a formula; those of two values marked `many` take more, from left to right. */
static const struct function {
    const char *name;
    of_one_fn *of_one;
    of_two_fn *of_two;
    of_three_fn *of_three;
    bool many;
} functions[] = {
    {"sin", sin, NULL, NULL, false},        {"cos", cos, NULL, NULL, false},
    {"tan", tan, NULL, NULL, false},        {"asin", asin, NULL, NULL, false},
    {"acos", acos, NULL, NULL, false},      {"atan", atan, NULL, NULL, false},
    {"sinh", sinh, NULL, NULL, false},      {"cosh", cosh, NULL, NULL, false},
    {"tanh", tanh, NULL, NULL, false},      {"exp", exp, NULL, NULL, false},
    {"log", log, NULL, NULL, false},        {"log10", log10, NULL, NULL, false},
    {"sqrt", sqrt, NULL, NULL, false},      {"abs", fabs, NULL, NULL, false},
    {"floor", floor, NULL, NULL, false},    {"ceil", ceil, NULL, NULL, false},
    {"round", round, NULL, NULL, false},    {"sign", sign, NULL, NULL, false},
    {"atan2", NULL, atan2, NULL, false},    {"hypot", NULL, hypot, NULL, true},
    {"mod", NULL, fmod, NULL, false},       {"min", NULL, least_of, NULL, true},
    {"max", NULL, greatest_of, NULL, true}, {"if", NULL, NULL, chosen, false},
    {"clamp", NULL, NULL, clamped, false},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static const char function_names[] =
    "sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, exp, log, log10, sqrt, abs, floor, "
    "ceil, round, sign, hypot, mod, min, max, clamp and if";

static const struct function *function_find(const char *name, size_t length)
{
    for (unsigned i = 0; i < FUNCTIONS; i++)
        if (strlen(functions[i].name) == length && strncmp(functions[i].name, name, length) == 0)
            return &functions[i];
    return NULL;
}

bool expression_is_reserved(const char *name)
{
    static const char *const words[] = {"and", "or", "not", "pi"};

    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return function_find(name, strlen(name)) != NULL;
}

/* --- emitting --------------------------------------------------------------------------------- */

struct parser {
    const char *text, *at;
    const char *const *names;
    size_t count;
    struct expression_mistake *mistake;
    struct expression *made; /* has a place for each character of the text, and one more */
    unsigned depth, nested;
};

__attribute__((format(printf, 3, 4))) static int
parser_wrong(const struct parser *p, const char *at, const char *format, ...)
{
    va_list args;

    p->mistake->at = (size_t)(at - p->text);
    va_start(args, format);
    vsnprintf(p->mistake->text, sizeof p->mistake->text, format, args);
    va_end(args);
    return -EINVAL;
}

/* Each instruction comes from at least one character of its own. */
static int parser_emit(struct parser *p, struct instruction instruction)
{
    static const unsigned takes[] = {[OF_ONE] = 1, [OF_TWO] = 2, [OF_THREE] = 3};

    p->depth += 1 - takes[instruction.operation];
    if (p->depth > EXPRESSION_STACK)
        return parser_wrong(p, p->at, "the formula is too deep; allowed: up to %d values at once",
                            EXPRESSION_STACK);
    p->made->at[p->made->count++] = instruction;
    return 0;
}

static int parser_emit_two(struct parser *p, of_two_fn *of_two)
{
    return parser_emit(p, (struct instruction){.operation = OF_TWO, .of_two = of_two});
}

/* --- reading ---------------------------------------------------------------------------------- */

static void parser_spaces(struct parser *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t name_length(const char *at)
{
    size_t length = 0;

    while (is_of_name(at[length]))
        length++;
    return length;
}

/* Takes an operator or a word, if it is next. */
static bool parser_takes(struct parser *p, const char *word)
{
    const size_t length = strlen(word);

    parser_spaces(p);
    if (strncmp(p->at, word, length) != 0 || (is_of_name(*word) && name_length(p->at) != length))
        return false;
    p->at += length;
    return true;
}

/* Describes what is next, for messages. */
static int parser_unexpected(const struct parser *p, const char *allowed)
{
    const size_t length = name_length(p->at);

    if (!*p->at)
        return parser_wrong(p, p->at, "the formula ends too early; allowed: %s", allowed);
    if ((unsigned char)*p->at >= 0x80)
        return parser_wrong(p, p->at, "a character that is not ASCII; allowed: %s", allowed);
    return parser_wrong(p, p->at, "'%.*s'; allowed: %s",
                        (int)(length > 40 ? 40
                              : length    ? length
                                          : 1),
                        p->at, allowed);
}

static int parse_or(struct parser *p);
static int parse_sign(struct parser *p);

/* The number may be followed by anything but a letter, as in 2x. */
static int parse_number(struct parser *p)
{
    static const char digits[] = "0123456789";
    const char *begin = p->at, *end = begin + strspn(begin, digits);
    size_t whole = (size_t)(end - begin), part = 0;

    if (*end == '.') {
        part = strspn(end + 1, digits);
        end += 1 + part;
    }
    if (*end == 'e' || *end == 'E') {
        const char *power = end + 1 + (end[1] == '+' || end[1] == '-');
        end = power + strspn(power, digits);
        whole = end == power ? 0 : whole;
        part = end == power ? 0 : part;
    }
    const double value = strtod(begin, NULL);
    if (whole + part == 0 || is_of_name(*end) || *end == '.' || !isfinite(value))
        return parser_wrong(p, begin, "'%.*s' is not a number; allowed: one such as 1.5e-3",
                            (int)strcspn(begin, " \t\r\n+-*/^(),<>=!"), begin);
    p->at = end;
    return parser_emit(p, (struct instruction){.operation = PUSH, .value = value});
}

/* Emits a call of a function of two, for each argument after the first. */
static int parse_argument(struct parser *p, const struct function *f, unsigned place)
{
    const int rc = parse_or(p);

    return rc || !f->many || place == 0 ? rc : parser_emit_two(p, f->of_two);
}

static int parse_call(struct parser *p, const struct function *f)
{
    const char *begin = p->at;
    const unsigned wanted = f->of_one ? 1 : f->of_two ? 2 : 3;
    unsigned given = 0;

    p->at += strlen(f->name);
    if (!parser_takes(p, "("))
        return parser_unexpected(p, "( after the name of a function");
    do {
        const int rc = parse_argument(p, f, given++);
        if (rc)
            return rc;
    } while (parser_takes(p, ","));
    if (!parser_takes(p, ")"))
        return parser_unexpected(p, "an operator, a comma or )");
    if (given != wanted && !(f->many && given > wanted))
        return parser_wrong(p, begin, "the arguments of %s are %u; allowed: %u%s", f->name, given,
                            wanted, f->many ? " or more" : "");
    if (f->many)
        return 0;
    if (f->of_one)
        return parser_emit(p, (struct instruction){.operation = OF_ONE, .of_one = f->of_one});
    if (f->of_two)
        return parser_emit_two(p, f->of_two);
    return parser_emit(p, (struct instruction){.operation = OF_THREE, .of_three = f->of_three});
}

/* The names that a formula can use, for a message. */
static void parser_say_names(const struct parser *p, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < p->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s, ", p->names[i]);
    if (used >= size) /* a part of a name would mislead */
        snprintf(text, size, "its values, ");
}

static int parse_name(struct parser *p)
{
    const size_t length = name_length(p->at);
    char names[60];

    for (size_t i = 0; i < p->count; i++)
        if (strlen(p->names[i]) == length && strncmp(p->names[i], p->at, length) == 0) {
            p->at += length;
            return parser_emit(p, (struct instruction){.operation = LOAD, .place = i});
        }
    if (length == 2 && strncmp(p->at, "pi", 2) == 0) {
        p->at += length;
        return parser_emit(
            p, (struct instruction){.operation = PUSH, .value = 3.14159265358979323846});
    }
    parser_say_names(p, names, sizeof names);
    return parser_wrong(p, p->at, "there is no value '%.*s'; allowed: %spi and functions",
                        (int)(length > 40 ? 40 : length), p->at, names);
}

static int parse_primary(struct parser *p)
{
    parser_spaces(p);
    const size_t length = name_length(p->at);
    const struct function *f = function_find(p->at, length);

    if (parser_takes(p, "(")) {
        const int rc = parse_or(p);
        return rc || parser_takes(p, ")") ? rc : parser_unexpected(p, "an operator or )");
    }
    if (*p->at == '.' || (*p->at >= '0' && *p->at <= '9'))
        return parse_number(p);
    if (length == 0)
        return parser_unexpected(p, "a number, a name, a function or (");
    if (!f && p->at[length + strspn(p->at + length, " \t")] == '(')
        return parser_wrong(p, p->at, "there is no function '%.*s'; allowed: %s",
                            (int)(length > 40 ? 40 : length), p->at, function_names);
    return f ? parse_call(p, f) : parse_name(p);
}

/* A power binds more tightly than the sign before it, and less so than that after it: -2^-2. */
static int parse_power(struct parser *p)
{
    int rc = parse_primary(p);

    if (!rc && parser_takes(p, "^")) {
        rc = parse_sign(p);
        if (!rc)
            rc = parser_emit_two(p, pow);
    }
    return rc;
}

static int parse_sign(struct parser *p)
{
    int rc = 0;

    if (++p->nested > EXPRESSION_NESTED_MAX)
        return parser_wrong(p, p->at, "the formula is too deep; allowed: up to %d in each other",
                            EXPRESSION_NESTED_MAX);
    if (parser_takes(p, "-")) {
        rc = parse_sign(p);
        if (!rc)
            rc = parser_emit(p, (struct instruction){.operation = OF_ONE, .of_one = negative});
    } else {
        rc = parser_takes(p, "+") ? parse_sign(p) : parse_power(p);
    }
    p->nested--;
    return rc;
}

struct operator
{
    const char *word;
    of_two_fn *of_two;
};

/* The operator that is next, of a list that ends without a word. */
static const struct operator* parser_operator(struct parser *p, const struct operator* list)
{
    for (; list->word; list++)
        if (parser_takes(p, list->word))
            return list;
    return NULL;
}

/* A chain of operators of one rank, from left to right. */
static int parse_chain(struct parser *p, const struct operator* list, int (*part)(struct parser *))
{
    const struct operator* o;
    int rc = part(p);

    while (!rc && (o = parser_operator(p, list)) != NULL) {
        rc = part(p);
        if (!rc)
            rc = parser_emit_two(p, o->of_two);
    }
    return rc;
}

static int parse_product(struct parser *p)
{
    static const struct operator list[] = {{"*", times}, {"/", divided}, {NULL, NULL}};

    return parse_chain(p, list, parse_sign);
}

static int parse_sum(struct parser *p)
{
    static const struct operator list[] = {{"+", plus}, {"-", minus}, {NULL, NULL}};

    return parse_chain(p, list, parse_product);
}

/* A second comparison is refused, as a < b < c would not mean what it does on paper. */
static int parse_comparison(struct parser *p)
{
    static const struct operator list[] = {{"<=", at_most},   {">=", at_least}, {"==", equal},
                                           {"!=", different}, {"<", less},      {">", more},
                                           {NULL, NULL}};
    int rc = parse_sum(p);
    const struct operator* o = rc ? NULL : parser_operator(p, list);

    if (!o)
        return rc;
    rc = parse_sum(p);
    if (rc)
        return rc;
    const char *second = p->at;
    if (parser_operator(p, list)) {
        second += strspn(second, " \t\r\n");
        return parser_wrong(p, second,
                            "a second comparison; allowed: two, with 'and' between them");
    }
    return parser_emit_two(p, o->of_two);
}

static int parse_not(struct parser *p)
{
    int rc;

    if (!parser_takes(p, "not"))
        return parse_comparison(p);
    if (++p->nested > EXPRESSION_NESTED_MAX)
        return parser_wrong(p, p->at, "the formula is too deep; allowed: up to %d in each other",
                            EXPRESSION_NESTED_MAX);
    rc = parse_not(p);
    p->nested--;
    return rc ? rc : parser_emit(p, (struct instruction){.operation = OF_ONE, .of_one = opposite});
}

static int parse_and(struct parser *p)
{
    static const struct operator list[] = {{"and", both}, {NULL, NULL}};

    return parse_chain(p, list, parse_not);
}

static int parse_or(struct parser *p)
{
    static const struct operator list[] = {{"or", either}, {NULL, NULL}};

    return parse_chain(p, list, parse_and);
}

int expression_parse(struct expression **made, const char *text, const char *const *names,
                     size_t count, struct expression_mistake *mistake)
{
    struct parser p = {.text = text, .at = text, .names = names, .count = count};

    p.mistake = mistake;
    p.made = malloc(sizeof *p.made + (strlen(text) + 1) * sizeof p.made->at[0]);
    if (!p.made)
        return -ENOMEM;
    p.made->count = 0;
    int rc = parse_or(&p);
    parser_spaces(&p);
    if (!rc && *p.at)
        rc = parser_unexpected(&p, "an operator, or the end");
    if (rc)
        free(p.made);
    else
        *made = p.made;
    return rc;
}

void expression_free(struct expression *expression)
{
    free(expression);
}

/* --- computing -------------------------------------------------------------------------------- */

double expression_value(const struct expression *expression, const double *values)
{
    double stack[EXPRESSION_STACK], *top = stack - 1;

    for (size_t i = 0; i < expression->count; i++) {
        const struct instruction *n = &expression->at[i];
        switch (n->operation) {
        case PUSH:
            *++top = n->value;
            break;
        case LOAD:
            *++top = values[n->place];
            break;
        case OF_ONE:
            *top = n->of_one(*top);
            break;
        case OF_TWO:
            top--;
            *top = n->of_two(top[0], top[1]);
            break;
        case OF_THREE:
            top -= 2;
            *top = n->of_three(top[0], top[1], top[2]);
            break;
        }
    }
    return *top;
}
