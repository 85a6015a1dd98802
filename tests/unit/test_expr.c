/* Tests formulas, against the compiler's value of the same formula, and the model that has them. */
#include <math.h>

#include "controllers/expression.h"
#include "harness/scenario/system.h"
#include "test_scenario.h"

static const char *const names[] = {"a", "b", "c"};
static const double values[] = {0.75, -2, 3};

static double value_of(const char *text)
{
    struct expression_mistake mistake = {0, ""};
    struct expression *e;

    cr_assert_eq(expression_parse(&e, text, names, 3, &mistake), 0, "%s: %s", text, mistake.text);
    const double value = expression_value(e, values);
    expression_free(e);
    return value;
}

/* A formula that reads the same in C, where it is computed by the same library, not by the
 * compiler. */
#define EXPECT_AS_IN_C(formula)                                                                    \
    do {                                                                                           \
        volatile double a = values[0], b = values[1], c = values[2];                               \
        (void)a, (void)b, (void)c;                                                                 \
        cr_expect_eq(value_of(#formula), (double)(formula), "%s is %.17g", #formula,               \
                     value_of(#formula));                                                          \
    } while (0)

Test(expr, formulas_have_the_values_that_they_have_in_c)
{
    EXPECT_AS_IN_C(1.5e-3);
    EXPECT_AS_IN_C(a + b * c);
    EXPECT_AS_IN_C((a + b) * c);
    EXPECT_AS_IN_C(a - b - c);
    EXPECT_AS_IN_C(a / b / c);
    EXPECT_AS_IN_C(-a - -b + +c);
    EXPECT_AS_IN_C(2 * a <= c);
    EXPECT_AS_IN_C(a + b > c - 4);
    EXPECT_AS_IN_C(b == -2);
    EXPECT_AS_IN_C(b != -2);
    EXPECT_AS_IN_C(sin(a) * cos(b) + tan(c) - atan2(a, b));
    EXPECT_AS_IN_C(asin(a) + acos(a) * atan(a) - sinh(b) / cosh(b) + tanh(b));
    EXPECT_AS_IN_C(exp(b) + log(c) * log10(c) - sqrt(a));
    EXPECT_AS_IN_C(floor(b / 3) + ceil(a) * round(a) + hypot(a, b));
}

Test(expr, what_c_writes_in_other_words)
{
    cr_expect_eq(value_of("-c^2"), -9);
    cr_expect_eq(value_of("2^c^2"), 512);
    cr_expect_eq(value_of("2^-2"), 0.25);
    cr_expect_eq(value_of("abs(b) + sign(b) + mod(7, c)"), 2);
    cr_expect_eq(value_of("min(c, b, a)"), -2);
    cr_expect_eq(value_of("max(a, b, c, 4)"), 4);
    cr_expect_eq(value_of("clamp(c, 0, a) + clamp(b, 0, a)"), 0.75);
    cr_expect_eq(value_of("if(b < 0 and not a > 1, c, 1/0)"), 3);
    cr_expect_eq(value_of("if(0 or 0 and 1, 1, 2)"), 2);
    cr_expect_eq(value_of("if(0.5, 1, 2) + if(0.49, 1, 2)"), 3);
    cr_expect_eq(value_of("cos(pi)"), -1);
    cr_expect(isnan(value_of("min(1, 0/0)")) && isnan(value_of("max(0/0, 1)")), "not hidden");
}

static void refused(const char *text, size_t at, const char *wrong)
{
    struct expression_mistake mistake = {0, ""};
    struct expression *e;

    cr_expect_eq(expression_parse(&e, text, names, 3, &mistake), -EINVAL, "%s", text);
    cr_expect_eq(mistake.at, at, "%s: at %zu", text, mistake.at);
    cr_expect_not_null(strstr(mistake.text, wrong), "%s: %s", text, mistake.text);
}

Test(expr, mistakes_have_a_place)
{
    char deep[400];

    refused("", 0, "ends too early");
    refused("a *", 3, "ends too early");
    refused("a + d", 4, "there is no value 'd'; allowed: a, b, c, pi and functions");
    refused("2a", 0, "'2a' is not a number");
    refused("1.2.3", 0, "'1.2.3' is not a number");
    refused("1 + 1e", 4, "'1e' is not a number");
    refused("1e999", 0, "is not a number");
    refused("0x10", 0, "is not a number");
    refused("sin", 3, "ends too early; allowed: ( after");
    refused("a + sin(1, 2)", 4, "the arguments of sin are 2; allowed: 1");
    refused("min(1)", 0, "allowed: 2 or more");
    refused("if(1, 2)", 0, "allowed: 3");
    refused("sen(a)", 0, "there is no function 'sen'");
    refused("(a", 2, "allowed: an operator or )");
    refused("a)", 1, "')'; allowed: an operator, or the end");
    refused("a < b < c", 6, "a second comparison");
    refused("a b", 2, "'b'; allowed: an operator");
    refused("a \xc3\x97 b", 2, "not ASCII");
    memset(deep, '(', 300);
    snprintf(deep + 300, 10, "a");
    refused(deep, 40, "too deep");
    memset(deep, '-', 300);
    refused(deep, 40, "too deep");
    for (unsigned i = 0; i < 300; i += 4)
        memcpy(deep + i, "not ", 4);
    refused(deep, 163, "too deep");
}

/* --- the model ------------------------------------------------------------------------------- */

#define EXPR_HEAD                                                                                  \
    "name: power\nduration_s: 0.01\nnodes:\n  desk: {period_us: 100}\ncomponents:\n"               \
    "  power:\n    node: desk\n    model: expr\n    settings:\n"
#define EXPR_GOOD                                                                                  \
    EXPR_HEAD                                                                                      \
    "      takes: {voltage_v: V, current_a: A}\n      parameters: {gain: \"-\"}\n"                 \
    "      gives: {power_w: W, loss_w: W}\n      formulas:\n"
#define EXPR_TAIL                                                                                  \
    "    inputs: {voltage_v: 3, current_a: 2}\n    parameters: {gain: 2}\n"                        \
    "record:\n  - {signals: power.power_w, node: desk}\n"

static void expect_mistake(const char *text, const char *const *sets, const char *expected)
{
    static char message[MESSAGE_BYTES];
    struct hil_scenario *scenario = NULL;

    cr_expect_eq(load_text(&scenario, text, strlen(text), sets, message), -EINVAL, "%s", expected);
    cr_expect_not_null(strstr(message, expected), "%s", message);
}

Test(expr, a_mistake_is_shown_in_the_file)
{
    static const char *const set[] = {"components.power.settings.formulas.loss_w=3 +", NULL};

    expect_mistake(EXPR_GOOD "        power_w: gain * volts\n        loss_w: 1\n" EXPR_TAIL, NULL,
                   "FILE:14:25: components.power.settings.formulas.power_w: there is no value "
                   "'volts'; allowed: voltage_v, current_a, gain, pi and functions");
    expect_mistake(EXPR_GOOD "        power_w: 1\n        loss_w: \"gain *\"\n" EXPR_TAIL, NULL,
                   "FILE:15:24: components.power.settings.formulas.loss_w: the formula ends");
    expect_mistake(EXPR_GOOD "        power_w: 1\n        loss_w: >\n          1 +\n" EXPR_TAIL,
                   NULL, "FILE:15:17: components.power.settings.formulas.loss_w");
    expect_mistake(EXPR_GOOD "        power_w: loss_w\n        loss_w: 1\n" EXPR_TAIL, NULL,
                   "there is no value 'loss_w'");
    expect_mistake(EXPR_GOOD "        power_w: 1\n        loss_w: 1\n" EXPR_TAIL, set,
                   "--set components.power.settings.formulas.loss_w=3 +: ");
}

Test(expr, a_table_has_its_rules)
{
    expect_mistake(EXPR_HEAD "      gives: {power_w: W}\n" EXPR_TAIL, NULL,
                   "power_w has no formula; required: settings.formulas.power_w");
    expect_mistake(EXPR_HEAD "      gives: {}\n" EXPR_TAIL, NULL, "it gives nothing");
    expect_mistake(EXPR_HEAD "      gives: {max: W}\n" EXPR_TAIL, NULL,
                   "FILE:10:20: components.power.settings.gives.max: max has a meaning");
    expect_mistake(EXPR_HEAD "      takes: {x: W}\n      gives: {x: W}\n" EXPR_TAIL, NULL,
                   "x is there twice");
    expect_mistake(EXPR_HEAD "      gives: {x: W}\n      formulas: {x: 1, y: 2}\n" EXPR_TAIL, NULL,
                   "y is not among gives");
    expect_mistake(EXPR_HEAD "      gives: {x: W}\n      formulas: {x: 1}\n      held: 2\n", NULL,
                   "its setting held is not known");
    expect_mistake(EXPR_HEAD "      gives: {x: }\n      formulas: {x: 1}\n", NULL,
                   "there is no unit");
    expect_mistake(EXPR_HEAD "      gives: {X: W}\n      formulas: {X: 1}\n", NULL,
                   "'X' is no name; allowed: one that begins with a letter");
    expect_mistake(EXPR_HEAD "      takes: [V, A]\n      gives: {x: W}\n      formulas: {x: 1}\n",
                   NULL, "'0' is no name; allowed: one that begins with a letter");
    expect_mistake(EXPR_HEAD "      parameters: {k: V}\n      gives: {x: W}\n      formulas: {x: "
                             "k}\nrecord:\n  - {signals: power.x, node: desk}\n",
                   NULL, "k has no value; required under parameters");
}

Test(expr, a_component_computes_and_is_tuned)
{
    static const char text[] = EXPR_GOOD
        "        power_w: gain * voltage_v * current_a\n        loss_w: power_w / 4\n" EXPR_TAIL;
    static char message[MESSAGE_BYTES];
    struct hil_scenario *scenario = NULL;

    cr_assert_eq(load_text(&scenario, text, strlen(text), NULL, message), 0, "%s", message);
    const struct hil_model *m = scenario->system->components[0].model;
    const struct hil_config config = {
        .size = sizeof config, .period_s = 1e-4, .parameters = (const double[]){2}, .model = m};
    const double in[] = {3, 5};
    double out[2] = {0, 0};
    void *self;
    cr_assert_eq(m->create(&self, &config), 0);
    cr_expect_eq(m->step(self, 0, in, out), 0);
    cr_expect(out[0] == 30 && out[1] == 7.5, "%g %g", out[0], out[1]);
    cr_expect_eq(m->tune(self, 0, -1), 0);
    cr_expect_eq(m->step(self, 0, in, out), 0);
    cr_expect(out[0] == -15 && out[1] == -3.75, "%g %g", out[0], out[1]);
    cr_expect_str_eq(m->inputs.at[1].unit, "A");
    cr_expect_str_eq(m->parameters.at[0].unit, "");
    m->destroy(self);
    hil_scenario_free(scenario);
}
