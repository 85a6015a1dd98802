/*
 * Tests the linearizability checker, on which other tests rely. It is checked in three ways: with
 * classical histories; with histories that are linearizable by construction (each operation is
 * performed on a plain object at a moment within its interval); and against a brute force that
 * tries every order.
 */
#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/redirect.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "channels/loco-sim/workload.h"

enum { OPS_MAX = 128, THREADS = 4, KEYS = 2 };

static struct loco_sim_history h, small;
static struct loco_sim_linear *checker;
static struct loco_sim_linear_report report;

static void setup(void)
{
    cr_assert_eq(loco_sim_history_init(&h, OPS_MAX), 0);
    cr_assert_eq(loco_sim_history_init(&small, OPS_MAX), 0);
    cr_assert_eq(loco_sim_linear_open(&checker, OPS_MAX, LOCO_SIM_CONFIGS), 0);
}

static void teardown(void)
{
    loco_sim_history_fini(&h);
    loco_sim_history_fini(&small);
    loco_sim_linear_close(checker);
}

TestSuite(linear, .init = setup, .fini = teardown);

/* --- writing histories ---------------------------------------------------------------- */

static int invoke(uint32_t thread, enum loco_sim_history_code code, uint64_t a)
{
    return loco_sim_history_invoke(&h, thread, code, 0, a, 0);
}

static void ok(int op)
{
    loco_sim_history_return(&h, op, true, 0);
}

static void gives(int op, uint64_t value)
{
    loco_sim_history_return(&h, op, true, value);
}

static void refused(int op)
{
    loco_sim_history_return(&h, op, false, 0);
}

static enum loco_sim_linear_verdict check(struct loco_sim_model model)
{
    return loco_sim_linear_check(checker, &h, &model, &report);
}

#define PASSES(model) cr_assert_eq(check(model), LOCO_SIM_LINEARIZABLE)
#define FAILS(model)  cr_assert_eq(check(model), LOCO_SIM_NOT_LINEARIZABLE)

/* --- classical histories -------------------------------------------------------------- */

Test(linear, nothing_is_linearizable)
{
    PASSES(loco_sim_model_word(0));
    cr_assert_eq(report.configs, 0);
}

Test(linear, word_overlapping_load_may_see_old_or_new)
{
    for (uint64_t seen = 0; seen < 2; seen++) {
        loco_sim_history_clear(&h);
        int store = invoke(0, LOCO_SIM_STORE, 1);
        gives(invoke(1, LOCO_SIM_LOAD, 0), seen);
        ok(store);
        PASSES(loco_sim_model_word(0));
    }
}

Test(linear, word_stale_load)
{
    ok(invoke(0, LOCO_SIM_STORE, 1));
    gives(invoke(1, LOCO_SIM_LOAD, 0), 0);
    FAILS(loco_sim_model_word(0));
    cr_assert_eq(report.culprit, 1);
    cr_assert_eq(report.at, 3);
}

/* A load gives the new value and a later one the old value, while the store is in flight: the
 * inversion that atomics forbid. */
Test(linear, word_new_old_inversion)
{
    int store = invoke(0, LOCO_SIM_STORE, 1);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 1);
    gives(invoke(2, LOCO_SIM_LOAD, 0), 0);
    ok(store);
    FAILS(loco_sim_model_word(0));
    cr_assert_eq(report.culprit, 2);
}

Test(linear, word_lost_update)
{
    int a = invoke(0, LOCO_SIM_FETCH_ADD, 1);
    int b = invoke(1, LOCO_SIM_FETCH_ADD, 1);
    gives(a, 0);
    gives(b, 0);
    FAILS(loco_sim_model_word(0));
}

Test(linear, word_concurrent_adds)
{
    int a = invoke(0, LOCO_SIM_FETCH_ADD, 1);
    int b = invoke(1, LOCO_SIM_FETCH_ADD, 2);
    gives(a, 2);
    gives(b, 0);
    PASSES(loco_sim_model_word(0));
}

static int cas(uint32_t thread, uint64_t expected, uint64_t desired)
{
    return loco_sim_history_invoke(&h, thread, LOCO_SIM_CAS, 0, expected, desired);
}

Test(linear, word_two_cas_cannot_both_win)
{
    int a = cas(0, 0, 1);
    int b = cas(1, 0, 2);
    gives(a, 0);
    gives(b, 0);
    FAILS(loco_sim_model_word(0));

    loco_sim_history_clear(&h);
    a = cas(0, 0, 1);
    b = cas(1, 0, 2);
    gives(a, 2);
    gives(b, 0);
    gives(invoke(0, LOCO_SIM_LOAD, 0), 2);
    PASSES(loco_sim_model_word(0));
}

Test(linear, word_exchange_hands_over_each_value_once)
{
    int a = invoke(0, LOCO_SIM_EXCHANGE, 1);
    int b = invoke(1, LOCO_SIM_EXCHANGE, 2);
    gives(a, 2);
    gives(b, 1);
    FAILS(loco_sim_model_word(0));
}

Test(linear, pending_store_must_take_effect)
{
    invoke(0, LOCO_SIM_STORE, 1);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 0);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 1);
    PASSES(loco_sim_model_word(0));
}

Test(linear, pending_store_need_not_take_effect)
{
    invoke(0, LOCO_SIM_STORE, 1);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 0);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 0);
    PASSES(loco_sim_model_word(0));
}

Test(linear, pending_store_takes_effect_once)
{
    invoke(0, LOCO_SIM_STORE, 1);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 1);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 0);
    FAILS(loco_sim_model_word(0));
}

Test(linear, pending_store_cannot_precede_its_invocation)
{
    gives(invoke(1, LOCO_SIM_LOAD, 0), 1);
    invoke(0, LOCO_SIM_STORE, 1);
    FAILS(loco_sim_model_word(0));
}

/* An operation ended in an error with unknown effect, and its thread continued. */
Test(linear, thread_may_go_on_past_a_pending_operation)
{
    invoke(0, LOCO_SIM_STORE, 1);
    ok(invoke(0, LOCO_SIM_STORE, 2));
    gives(invoke(1, LOCO_SIM_LOAD, 0), 1);
    PASSES(loco_sim_model_word(0));
}

Test(linear, queue_fifo)
{
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    ok(invoke(0, LOCO_SIM_PUSH, 2));
    gives(invoke(1, LOCO_SIM_POP, 0), 1);
    gives(invoke(1, LOCO_SIM_POP, 0), 2);
    refused(invoke(1, LOCO_SIM_POP, 0));
    PASSES(loco_sim_model_queue(4));
}

Test(linear, queue_inversion)
{
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    ok(invoke(0, LOCO_SIM_PUSH, 2));
    gives(invoke(1, LOCO_SIM_POP, 0), 2);
    gives(invoke(1, LOCO_SIM_POP, 0), 1);
    FAILS(loco_sim_model_queue(4));
    cr_assert_eq(report.culprit, 2);
}

Test(linear, queue_overlapping_pushes_have_either_order)
{
    int a = invoke(0, LOCO_SIM_PUSH, 1);
    int b = invoke(1, LOCO_SIM_PUSH, 2);
    ok(a);
    ok(b);
    gives(invoke(0, LOCO_SIM_POP, 0), 2);
    gives(invoke(0, LOCO_SIM_POP, 0), 1);
    PASSES(loco_sim_model_queue(4));
}

Test(linear, queue_duplicated_pop)
{
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    int a = invoke(1, LOCO_SIM_POP, 0);
    int b = invoke(2, LOCO_SIM_POP, 0);
    gives(a, 1);
    gives(b, 1);
    FAILS(loco_sim_model_queue(4));
}

Test(linear, queue_empty_while_it_holds_an_item)
{
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    refused(invoke(1, LOCO_SIM_POP, 0));
    FAILS(loco_sim_model_queue(4));
}

Test(linear, queue_full)
{
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    refused(invoke(0, LOCO_SIM_PUSH, 2));
    PASSES(loco_sim_model_queue(1));
    FAILS(loco_sim_model_queue(2));

    loco_sim_history_clear(&h);
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    ok(invoke(0, LOCO_SIM_PUSH, 2));
    FAILS(loco_sim_model_queue(1));
}

Test(linear, queue_pop_of_a_pending_push)
{
    invoke(0, LOCO_SIM_PUSH, 1);
    gives(invoke(1, LOCO_SIM_POP, 0), 1);
    PASSES(loco_sim_model_queue(1));
    gives(invoke(1, LOCO_SIM_POP, 0), 1);
    FAILS(loco_sim_model_queue(1));
}

/* A popper that died may have taken the oldest item with it, but not a later one alone. */
Test(linear, queue_pending_pop)
{
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    ok(invoke(0, LOCO_SIM_PUSH, 2));
    invoke(1, LOCO_SIM_POP, 0);
    gives(invoke(2, LOCO_SIM_POP, 0), 2);
    PASSES(loco_sim_model_queue(4));

    loco_sim_history_clear(&h);
    ok(invoke(0, LOCO_SIM_PUSH, 1));
    ok(invoke(0, LOCO_SIM_PUSH, 2));
    ok(invoke(0, LOCO_SIM_PUSH, 3));
    invoke(1, LOCO_SIM_POP, 0);
    gives(invoke(2, LOCO_SIM_POP, 0), 3);
    FAILS(loco_sim_model_queue(4));
}

Test(linear, lock_hand_over)
{
    ok(invoke(1, LOCO_SIM_ACQUIRE, 1));
    int waits = invoke(2, LOCO_SIM_ACQUIRE, 2);
    refused(invoke(3, LOCO_SIM_TRY_ACQUIRE, 3));
    int release = invoke(1, LOCO_SIM_RELEASE, 1);
    ok(waits);
    ok(release);
    PASSES(loco_sim_model_lock());
}

Test(linear, lock_double_acquire)
{
    ok(invoke(1, LOCO_SIM_ACQUIRE, 1));
    ok(invoke(2, LOCO_SIM_ACQUIRE, 2));
    FAILS(loco_sim_model_lock());

    loco_sim_history_clear(&h);
    ok(invoke(1, LOCO_SIM_ACQUIRE, 1));
    ok(invoke(2, LOCO_SIM_TRY_ACQUIRE, 2));
    FAILS(loco_sim_model_lock());
}

Test(linear, lock_busy_while_free)
{
    ok(invoke(1, LOCO_SIM_ACQUIRE, 1));
    ok(invoke(1, LOCO_SIM_RELEASE, 1));
    refused(invoke(2, LOCO_SIM_TRY_ACQUIRE, 2));
    FAILS(loco_sim_model_lock());
}

Test(linear, lock_release_by_another)
{
    ok(invoke(1, LOCO_SIM_ACQUIRE, 1));
    int release = invoke(2, LOCO_SIM_RELEASE, 2);
    loco_sim_history_return(&h, release, false, 0);
    PASSES(loco_sim_model_lock());
    ok(invoke(2, LOCO_SIM_RELEASE, 2));
    FAILS(loco_sim_model_lock());
}

/* Owner 1 crashed in release: the lock may be free or held, but not both. */
Test(linear, lock_pending_release)
{
    ok(invoke(1, LOCO_SIM_ACQUIRE, 1));
    invoke(1, LOCO_SIM_RELEASE, 1);
    refused(invoke(2, LOCO_SIM_TRY_ACQUIRE, 2));
    ok(invoke(2, LOCO_SIM_TRY_ACQUIRE, 2));
    PASSES(loco_sim_model_lock());
    ok(invoke(3, LOCO_SIM_TRY_ACQUIRE, 3));
    FAILS(loco_sim_model_lock());
}

Test(linear, map_life_of_a_key)
{
    refused(invoke(0, LOCO_SIM_READ, 0));
    refused(invoke(0, LOCO_SIM_UPDATE, 1));
    ok(invoke(0, LOCO_SIM_INSERT, 1));
    refused(invoke(0, LOCO_SIM_INSERT, 2));
    gives(invoke(0, LOCO_SIM_READ, 0), 1);
    ok(invoke(0, LOCO_SIM_UPDATE, 3));
    gives(invoke(0, LOCO_SIM_READ, 0), 3);
    ok(invoke(0, LOCO_SIM_DELETE, 0));
    refused(invoke(0, LOCO_SIM_DELETE, 0));
    refused(invoke(0, LOCO_SIM_READ, 0));
    PASSES(loco_sim_model_map());
}

Test(linear, map_read_of_a_deleted_key)
{
    ok(invoke(0, LOCO_SIM_INSERT, 1));
    ok(invoke(0, LOCO_SIM_DELETE, 0));
    gives(invoke(1, LOCO_SIM_READ, 0), 1);
    FAILS(loco_sim_model_map());
    cr_assert_eq(report.culprit, 2);
}

/* The read began before the delete returned: it may still see the value ... */
Test(linear, map_read_overlapping_a_delete)
{
    ok(invoke(0, LOCO_SIM_INSERT, 1));
    int read = invoke(1, LOCO_SIM_READ, 0);
    ok(invoke(0, LOCO_SIM_DELETE, 0));
    gives(read, 1);
    PASSES(loco_sim_model_map());
}

/* ... but one that began between delete and re-insert cannot see the first value. */
Test(linear, map_read_across_delete_and_insert)
{
    ok(invoke(0, LOCO_SIM_INSERT, 1));
    ok(invoke(0, LOCO_SIM_DELETE, 0));
    int read = invoke(1, LOCO_SIM_READ, 0);
    ok(invoke(0, LOCO_SIM_INSERT, 2));
    gives(read, 1);
    FAILS(loco_sim_model_map());
}

Test(linear, map_two_inserts_cannot_both_win)
{
    int a = invoke(0, LOCO_SIM_INSERT, 1);
    int b = invoke(1, LOCO_SIM_INSERT, 2);
    ok(a);
    ok(b);
    FAILS(loco_sim_model_map());
}

Test(linear, an_operation_of_another_model_is_never_legal)
{
    const struct loco_sim_model models[] = {loco_sim_model_word(0), loco_sim_model_queue(4),
                                            loco_sim_model_lock(), loco_sim_model_map()};
    const enum loco_sim_history_code foreign[] = {LOCO_SIM_PUSH, LOCO_SIM_READ, LOCO_SIM_LOAD,
                                                  LOCO_SIM_ACQUIRE};

    for (size_t i = 0; i < 4; i++) {
        loco_sim_history_clear(&h);
        ok(invoke(0, foreign[i], 0));
        FAILS(models[i]);
    }
}

/* --- keys, limits, printing ----------------------------------------------------------- */

Test(linear, keys_are_independent_and_the_failing_one_is_named)
{
    loco_sim_history_return(&h, loco_sim_history_invoke(&h, 0, LOCO_SIM_STORE, 5, 1, 0), true, 0);
    loco_sim_history_return(&h, loco_sim_history_invoke(&h, 0, LOCO_SIM_LOAD, 9, 0, 0), true, 0);
    PASSES(loco_sim_model_word(0));
    loco_sim_history_return(&h, loco_sim_history_invoke(&h, 0, LOCO_SIM_LOAD, 9, 0, 0), true, 1);
    FAILS(loco_sim_model_word(0));
    cr_assert_eq(report.key, 9);
    cr_assert_eq(report.culprit, 2);
}

Test(linear, an_overflowed_history_has_no_verdict)
{
    for (uint32_t i = 0; i < OPS_MAX; i++)
        ok(invoke(0, LOCO_SIM_STORE, i));
    PASSES(loco_sim_model_word(0));
    cr_assert_eq(invoke(0, LOCO_SIM_STORE, 0), -ENOSPC);
    ok(-ENOSPC);
    cr_assert_eq(check(loco_sim_model_word(0)), LOCO_SIM_GAVE_UP);
    loco_sim_history_clear(&h);
    PASSES(loco_sim_model_word(0));
}

Test(linear, more_open_operations_than_slots_have_no_verdict)
{
    for (uint32_t i = 0; i < 64; i++)
        invoke(i, LOCO_SIM_STORE, i);
    PASSES(loco_sim_model_word(0));
    invoke(64, LOCO_SIM_STORE, 64);
    cr_assert_eq(check(loco_sim_model_word(0)), LOCO_SIM_GAVE_UP);
}

Test(linear, a_failing_key_outweighs_one_given_up)
{
    for (uint32_t i = 0; i < 65; i++)
        invoke(i, LOCO_SIM_STORE, i);
    loco_sim_history_return(&h, loco_sim_history_invoke(&h, 0, LOCO_SIM_LOAD, 1, 0, 0), true, 7);
    FAILS(loco_sim_model_word(0));
    cr_assert_eq(report.key, 1);
}

/* Forty adds with distinct bits can give 2^40 sums, so the search must limit its own work. */
Test(linear, work_is_bounded)
{
    for (uint32_t i = 0; i < 40; i++)
        invoke(i, LOCO_SIM_FETCH_ADD, 1ull << i);
    gives(invoke(40, LOCO_SIM_LOAD, 0), 1ull << 50);
    cr_assert_eq(check(loco_sim_model_word(0)), LOCO_SIM_GAVE_UP);
    cr_assert_eq(report.configs, LOCO_SIM_CONFIGS);
}

Test(linear, bad_sizes_are_refused)
{
    struct loco_sim_linear *none;
    struct loco_sim_history nothing;

    cr_assert_eq(loco_sim_linear_open(&none, 0, 1), -EINVAL);
    cr_assert_eq(loco_sim_linear_open(&none, 1, 0), -EINVAL);
    cr_assert_eq(loco_sim_history_init(&nothing, 0), -EINVAL);
    cr_assert_eq(loco_sim_history_init(&nothing, UINT32_MAX), -EINVAL);
}

static void printed_is(const char *expected, bool of_report)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (of_report)
        loco_sim_linear_print(file, &h, &report);
    else
        loco_sim_history_print(file, &h);
    fclose(file);
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(linear, history_prints)
{
    cas(1, 3, 4);
    gives(invoke(2, LOCO_SIM_FETCH_ADD, 5), 6);
    refused(invoke(10, LOCO_SIM_POP, 0));
    ok(loco_sim_history_invoke(&h, 0, LOCO_SIM_INSERT, 77, 8, 0));
    printed_is("#0   t1  [   0,    -]  key 0  cas(3, 4)  pending\n"
               "#1   t2  [   1,    2]  key 0  fetch_add(5) -> 6\n"
               "#2   t10 [   3,    4]  key 0  pop() -> empty\n"
               "#3   t0  [   5,    6]  key 77  insert(8)\n",
               false);
}

Test(linear, report_prints)
{
    ok(invoke(0, LOCO_SIM_STORE, 1));
    int store = invoke(0, LOCO_SIM_STORE, 2);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 2);
    gives(invoke(2, LOCO_SIM_LOAD, 0), 1);
    ok(store);
    gives(invoke(3, LOCO_SIM_LOAD, 0), 2);
    FAILS(loco_sim_model_word(0));
    printed_is("key 0 is not linearizable: no order explains the return of #3 at 6\n"
               "  #0   t0  [   0,    1]  key 0  store(1)\n"
               "  #1   t0  [   2,    -]  key 0  store(2)  pending\n"
               "  #2   t1  [   3,    4]  key 0  load() -> 2\n"
               "> #3   t2  [   5,    6]  key 0  load() -> 1\n"
               "  an order that comes so far: #0 #1 #2, which leaves the state [2]\n",
               true);
}

/* --- histories that are linearizable by construction ---------------------------------- */

static uint64_t seed;

static uint64_t below(uint64_t n) /* splitmix64 */
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

enum { QUEUE_SIZE = 3 };

/* Plain objects, written independently of the models, so that a fault in one does not hide a fault
 * in the other. */
struct object {
    uint64_t word;
    uint64_t queue[QUEUE_SIZE], head, tail;
    uint64_t holder; /* owner plus one */
    uint64_t value;
    bool present;
};

static bool perform_word(struct object *o, struct loco_sim_history_op *op)
{
    op->value = op->code == LOCO_SIM_STORE ? 0 : o->word;
    if (op->code == LOCO_SIM_STORE || op->code == LOCO_SIM_EXCHANGE)
        o->word = op->a;
    if (op->code == LOCO_SIM_FETCH_ADD)
        o->word += op->a;
    if (op->code == LOCO_SIM_CAS && o->word == op->a)
        o->word = op->b;
    return op->ok = true;
}

static bool perform_queue(struct object *o, struct loco_sim_history_op *op)
{
    op->ok = op->code == LOCO_SIM_PUSH ? o->tail - o->head < QUEUE_SIZE : o->tail != o->head;
    if (op->ok && op->code == LOCO_SIM_PUSH)
        o->queue[o->tail++ % QUEUE_SIZE] = op->a;
    else if (op->ok)
        op->value = o->queue[o->head++ % QUEUE_SIZE];
    return true;
}

static bool perform_lock(struct object *o, struct loco_sim_history_op *op)
{
    if (op->code == LOCO_SIM_ACQUIRE && o->holder)
        return false;
    op->ok = op->code == LOCO_SIM_RELEASE ? o->holder == op->a + 1 : !o->holder;
    if (op->ok)
        o->holder = op->code == LOCO_SIM_RELEASE ? 0 : op->a + 1;
    return true;
}

static bool perform_map(struct object *o, struct loco_sim_history_op *op)
{
    op->ok = (op->code == LOCO_SIM_INSERT) != o->present;
    if (op->ok && (op->code == LOCO_SIM_INSERT || op->code == LOCO_SIM_UPDATE))
        o->value = op->a;
    if (op->ok && op->code == LOCO_SIM_READ)
        op->value = o->value;
    if (op->code == LOCO_SIM_INSERT)
        o->present = true;
    if (op->code == LOCO_SIM_DELETE)
        o->present = false;
    return true;
}

static const struct kind {
    const char *name;
    uint64_t first, codes;                                          /* its range of codes */
    bool (*perform)(struct object *, struct loco_sim_history_op *); /* false: it must wait */
} kinds[] = {
    {"word", LOCO_SIM_LOAD, 5, perform_word},
    {"queue", LOCO_SIM_PUSH, 2, perform_queue},
    {"lock", LOCO_SIM_ACQUIRE, 3, perform_lock},
    {"map", LOCO_SIM_INSERT, 4, perform_map},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct loco_sim_model model_of(unsigned kind)
{
    const struct loco_sim_model models[] = {loco_sim_model_word(0),
                                            loco_sim_model_queue(QUEUE_SIZE), loco_sim_model_lock(),
                                            loco_sim_model_map()};
    return models[kind];
}

struct shape {
    unsigned kind;
    uint32_t ops, threads;
    uint64_t keys, values;
};

struct caller {
    int op; /* the operation in progress; -1: idle */
    bool performed;
};

static int invoke_any(const struct shape *shape, uint32_t thread)
{
    const struct kind *kind = &kinds[shape->kind];
    const enum loco_sim_history_code code =
        (enum loco_sim_history_code)(kind->first + below(kind->codes));
    const bool by_owner = kind->perform == perform_lock;
    const uint64_t a = by_owner ? thread : below(shape->values);

    return loco_sim_history_invoke(&h, thread, code, below(shape->keys), a, below(shape->values));
}

/* Takes one step of one thread: it begins an operation, has it performed, or gets the result. */
static void advance(const struct shape *shape, struct object *objects, struct caller *c,
                    uint32_t thread)
{
    if (c->op < 0) {
        if (h.ops < shape->ops)
            *c = (struct caller){.op = invoke_any(shape, thread)};
        return;
    }
    struct loco_sim_history_op *op = &h.op[c->op];
    if (!c->performed) {
        c->performed = kinds[shape->kind].perform(&objects[op->key], op);
        return;
    }
    loco_sim_history_return(&h, c->op, op->ok, op->value);
    c->op = -1;
}

/* Generates a history. It ends anywhere, so some operations are pending, performed or not. */
static void generate(const struct shape *shape)
{
    struct object objects[KEYS] = {0};
    struct caller callers[THREADS] = {{-1, 0}, {-1, 0}, {-1, 0}, {-1, 0}};
    uint64_t steps = 3 * shape->ops + below(2 * THREADS);

    loco_sim_history_clear(&h);
    while (steps-- > 0) {
        const uint32_t thread = (uint32_t)below(shape->threads);
        advance(shape, objects, &callers[thread], thread);
    }
}

/* Alters one result. Returns false if there was none to alter. */
static bool mutate(uint64_t values)
{
    struct loco_sim_history_op *op = &h.op[below(h.ops)];

    if (loco_sim_history_pending(op))
        return false;
    if (op->code > LOCO_SIM_CAS && below(2))
        op->ok = !op->ok;
    else
        op->value = below(values + 1);
    return true;
}

Test(linear, constructed_histories_pass)
{
    for (unsigned n = 0; n < 8000; n++) {
        const struct shape shape = {n % KINDS, 40 + n % 80, 2 + n % 3, 1 + n % KEYS, 5};

        seed = n;
        generate(&shape);
        cr_assert_eq(check(model_of(shape.kind)), LOCO_SIM_LINEARIZABLE, "%s, seed %u",
                     kinds[shape.kind].name, n);
    }
}

/* Checking a typical history takes hardly more than one configuration per operation. */
Test(linear, passing_costs_little)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct shape shape = {kind, 40, THREADS, 1, 1000};
        const struct loco_sim_model model = model_of(kind);
        struct timespec from, to;
        uint64_t configs = 0, ops = 0;
        double ns = 0;

        for (seed = 0; ops < 400000;) {
            generate(&shape);
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
            cr_assert_eq(loco_sim_linear_check(checker, &h, &model, &report),
                         LOCO_SIM_LINEARIZABLE);
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
            ns += (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
            configs += report.configs;
            ops += h.ops;
        }
        cr_log_info("%s: %.2f us and %.1f configurations for 40 operations", kinds[kind].name,
                    ns * 40 / 1e3 / (double)ops, (double)configs * 40 / (double)ops);
        cr_assert_lt(configs, 2 * ops);
    }
}

/* --- against brute force -------------------------------------------------------------- */

static bool may_be_next(const struct loco_sim_history *of, uint32_t taken, uint32_t op)
{
    for (uint32_t i = 0; i < of->ops; i++) {
        if (!(taken >> i & 1) && of->op[i].returned < of->op[op].invoked)
            return false;
    }
    return true;
}

static bool all_returned_taken(const struct loco_sim_history *of, uint32_t taken)
{
    for (uint32_t i = 0; i < of->ops; i++) {
        if (!(taken >> i & 1) && !loco_sim_history_pending(&of->op[i]))
            return false;
    }
    return true;
}

/* Tries every order of the operations of all keys together, and does not use locality. */
static bool brute(const struct loco_sim_history *of, const struct loco_sim_model *model,
                  const struct loco_sim_model_state *states, uint32_t taken)
{
    if (all_returned_taken(of, taken))
        return true;
    for (uint32_t i = 0; i < of->ops; i++) {
        struct loco_sim_model_state next[KEYS];

        if ((taken >> i & 1) || !may_be_next(of, taken, i))
            continue;
        memcpy(next, states, sizeof(next));
        if (model->step(model, &next[of->op[i].key], &of->op[i]) &&
            brute(of, model, next, taken | 1u << i))
            return true;
    }
    return false;
}

static bool brute_force(const struct loco_sim_history *of, const struct loco_sim_model *model)
{
    const struct loco_sim_model_state states[KEYS] = {model->initial, model->initial};

    return brute(of, model, states, 0);
}

/* Finds the first event whose prefix has no linearization. */
static uint32_t brute_prefix(const struct loco_sim_model *model)
{
    uint8_t choice[OPS_MAX];
    uint32_t events = 0;

    memset(choice, LOCO_SIM_KEEP, sizeof(choice));
    do
        loco_sim_history_select(&small, &h, choice, ++events);
    while (brute_force(&small, model));
    return events - 1;
}

/* Checks that the order in the report is legal and complete, and leaves the reported state. */
static void replay(const struct loco_sim_model *model)
{
    struct loco_sim_model_state state = model->initial;
    uint32_t taken = 0;

    for (uint32_t i = 0; i < report.ordered; i++) {
        struct loco_sim_history_op op = h.op[report.order[i]];

        cr_assert(may_be_next(&h, taken, report.order[i]));
        taken |= 1u << report.order[i];
        if (op.returned >= report.at)
            op.returned = LOCO_SIM_PENDING;
        cr_assert(model->step(model, &state, &op));
    }
    for (uint32_t i = 0; i < h.ops; i++)
        cr_assert(h.op[i].returned >= report.at || (taken >> i & 1));
    cr_assert(loco_sim_model_state_equal(&state, &report.state));
}

static bool agrees(const struct shape *shape)
{
    const struct loco_sim_model model = model_of(shape->kind);
    const bool linearizable = brute_force(&h, &model);

    cr_assert_eq(check(model), linearizable ? LOCO_SIM_LINEARIZABLE : LOCO_SIM_NOT_LINEARIZABLE,
                 "%s, seed %llu", kinds[shape->kind].name, (unsigned long long)seed);
    if (!linearizable && shape->keys == 1) {
        cr_assert_eq(report.at, brute_prefix(&model));
        replay(&model);
    }
    return linearizable;
}

/* The histories have few values, so another order often explains an altered result. */
Test(linear, agrees_with_brute_force)
{
    unsigned passed[KINDS] = {0}, failed[KINDS] = {0};

    for (unsigned n = 0; n < 20000; n++) {
        const struct shape shape = {n % KINDS, 3 + n % 5, 2 + n / 4 % 3, 1 + n / 16 % KEYS, 3};

        seed = n;
        generate(&shape);
        if (h.ops == 0)
            continue;
        cr_assert(agrees(&shape));
        for (unsigned m = 0; m <= n % 3; m++)
            mutate(shape.values);
        if (agrees(&shape))
            passed[shape.kind]++;
        else
            failed[shape.kind]++;
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        cr_log_info("%s: %u mutants pass, %u fail", kinds[kind].name, passed[kind], failed[kind]);
        cr_assert(passed[kind] > 500 && failed[kind] > 500);
    }
}

/* The results are random, without any construction. */
Test(linear, agrees_with_brute_force_on_noise)
{
    unsigned passed = 0, failed = 0;

    for (unsigned n = 0; n < 20000; n++) {
        const struct shape shape = {n % KINDS, 2 + n % 5, 2 + n / 4 % 3, 1, 2};

        seed = n;
        generate(&shape);
        for (uint32_t i = 0; i < h.ops; i++) {
            h.op[i].value = below(shape.values);
            h.op[i].ok = h.op[i].code <= LOCO_SIM_CAS || below(4);
        }
        if (agrees(&shape))
            passed++;
        else
            failed++;
    }
    cr_assert(passed > 1000 && failed > 1000);
}

/* --- shrinking ------------------------------------------------------------------------ */

/* Adds a busy, correct past of the same objects. */
static void noise(unsigned kind)
{
    generate(&(struct shape){kind, 40, THREADS, 1, 1000});
    for (uint32_t i = 0; i < h.ops; i++) {
        if (loco_sim_history_pending(&h.op[i]))
            loco_sim_history_return(&h, (int)i, h.op[i].ok, h.op[i].value);
    }
}

static void shrinks_to(struct loco_sim_model model, uint32_t ops)
{
    cr_assert_eq(loco_sim_linear_shrink(checker, &h, &model, &small), 0);
    if (small.ops != ops)
        loco_sim_history_print(stderr, &small);
    cr_assert_eq(small.ops, ops);
    cr_assert_eq(loco_sim_linear_check(checker, &small, &model, &report),
                 LOCO_SIM_NOT_LINEARIZABLE);
}

Test(linear, shrinks_a_stale_load)
{
    noise(0);
    for (uint64_t i = 0; i < 10; i++)
        ok(invoke(0, LOCO_SIM_STORE, 2000 + i));
    gives(invoke(1, LOCO_SIM_LOAD, 0), 2005);
    for (uint64_t i = 0; i < 10; i++)
        ok(invoke(0, LOCO_SIM_STORE, 3000 + i));
    shrinks_to(loco_sim_model_word(0), 3); /* the store, a later store, and the load */
    cr_assert_eq(small.op[0].a, 2005);
    cr_assert_eq(small.op[2].code, LOCO_SIM_LOAD);
    cr_assert_eq(small.op[2].id, h.ops - 11);
}

/* To refute a load of a value that nobody stored, no other operation is needed. */
Test(linear, shrinks_a_value_out_of_thin_air)
{
    noise(0);
    gives(invoke(1, LOCO_SIM_LOAD, 0), 12345678);
    shrinks_to(loco_sim_model_word(0), 1);
}

Test(linear, shrinks_a_lost_update_to_its_chain)
{
    for (uint64_t i = 0; i < 6; i++) {
        gives(invoke(0, LOCO_SIM_FETCH_ADD, 1), i);
        gives(invoke(1, LOCO_SIM_LOAD, 0), i + 1);
    }
    gives(invoke(1, LOCO_SIM_FETCH_ADD, 1), 5);
    shrinks_to(loco_sim_model_word(0), 7);
}

Test(linear, shrinks_a_duplicated_pop)
{
    for (uint64_t i = 0; i < 15; i++) {
        ok(invoke(0, LOCO_SIM_PUSH, i));
        gives(invoke(1, LOCO_SIM_POP, 0), i);
    }
    ok(invoke(0, LOCO_SIM_PUSH, 100));
    ok(invoke(0, LOCO_SIM_PUSH, 101));
    gives(invoke(1, LOCO_SIM_POP, 0), 100);
    gives(invoke(1, LOCO_SIM_POP, 0), 100);
    shrinks_to(loco_sim_model_queue(4), 3);
}

Test(linear, shrinks_an_inversion)
{
    for (uint64_t i = 0; i < 15; i++) {
        ok(invoke(0, LOCO_SIM_PUSH, i));
        gives(invoke(1, LOCO_SIM_POP, 0), i);
    }
    ok(invoke(0, LOCO_SIM_PUSH, 100));
    ok(invoke(0, LOCO_SIM_PUSH, 101));
    gives(invoke(1, LOCO_SIM_POP, 0), 101);
    shrinks_to(loco_sim_model_queue(4), 3);
}

Test(linear, shrinks_a_double_acquire)
{
    for (uint64_t i = 0; i < 15; i++) {
        ok(invoke(0, LOCO_SIM_ACQUIRE, i % 3));
        refused(invoke(1, LOCO_SIM_TRY_ACQUIRE, 4));
        ok(invoke(0, LOCO_SIM_RELEASE, i % 3));
    }
    ok(invoke(0, LOCO_SIM_ACQUIRE, 7));
    ok(invoke(0, LOCO_SIM_ACQUIRE, 8));
    shrinks_to(loco_sim_model_lock(), 2);
    cr_assert_eq(small.op[0].a, 7);
}

Test(linear, shrinks_a_read_after_delete)
{
    for (uint64_t i = 0; i < 15; i++) {
        ok(invoke(0, LOCO_SIM_INSERT, i));
        gives(invoke(0, LOCO_SIM_READ, 0), i);
        ok(invoke(0, LOCO_SIM_DELETE, 0));
    }
    gives(invoke(1, LOCO_SIM_READ, 0), 14);
    shrinks_to(loco_sim_model_map(), 3);
}

Test(linear, shrinking_needs_a_failure)
{
    const struct loco_sim_model model = loco_sim_model_word(0);

    noise(0);
    cr_assert_eq(loco_sim_linear_shrink(checker, &h, &model, &small), -EINVAL);
}

/* Checks that each remaining operation is one of the original, unchanged or left open at the
 * failure. */
static void is_part_of_original(void)
{
    for (uint32_t i = 0; i < small.ops; i++) {
        const struct loco_sim_history_op *part = &small.op[i], *whole = &h.op[part->id];

        cr_assert(part->code == whole->code && part->a == whole->a && part->b == whole->b);
        cr_assert(loco_sim_history_pending(part) || !loco_sim_history_pending(whole));
        cr_assert(loco_sim_history_pending(part) || part->value == whole->value);
        for (uint32_t j = 0; j < i; j++) {
            const struct loco_sim_history_op *before = &small.op[j];
            cr_assert_eq(before->returned < part->invoked,
                         h.op[before->id].returned < whole->invoked);
        }
    }
}

Test(linear, shrunk_mutants_still_fail)
{
    uint64_t before = 0, after = 0;

    for (unsigned n = 0; n < 400; n++) {
        const struct shape shape = {n % KINDS, 30, THREADS, 1 + n / 4 % KEYS, 1000};
        const struct loco_sim_model model = model_of(shape.kind);

        seed = n;
        generate(&shape);
        mutate(shape.values);
        if (check(model) == LOCO_SIM_LINEARIZABLE)
            continue;
        cr_assert_eq(loco_sim_linear_shrink(checker, &h, &model, &small), 0);
        cr_assert_eq(loco_sim_linear_check(checker, &small, &model, &report),
                     LOCO_SIM_NOT_LINEARIZABLE);
        cr_assert_eq(report.at, small.events - 1);
        is_part_of_original();
        if (small.ops < 9)
            cr_assert_not(brute_force(&small, &model));
        before += h.ops;
        after += small.ops;
    }
    cr_log_info("%llu operations shrank to %llu", (unsigned long long)before,
                (unsigned long long)after);
    cr_assert_lt(4 * after, before);
}

/* --- a workload ----------------------------------------------------------------------------- */

Test(workload, one_that_is_too_large_is_refused)
{
    struct loco_sim_workload w = {.name = "large", .nodes = LOCO_SIM_NODES_MAX + 1, .threads = 1};

    cr_expect_eq(loco_sim_workload_run(&w, 1, LOCO_SIM_CALM, true), 1);
    w.nodes = 2;
    w.threads = LOCO_SIM_ACTORS_MAX / 2 + 1;
    cr_expect_eq(loco_sim_workload_run(&w, 1, LOCO_SIM_CALM, true), 1);
    w.threads = 0;
    cr_expect_eq(loco_sim_workload_run(&w, 1, LOCO_SIM_CALM, true), 1);
}

static int open_not(struct loco_manager *mgr, void *object)
{
    (void)mgr;
    (void)object;
    return -EINVAL;
}

static void close_never(void *object)
{
    (void)object;
    cr_assert_fail("an endpoint that was not opened is closed");
}

static void act_never(struct loco_sim_actor *actor)
{
    (void)actor;
    cr_assert_fail("an actor acts without an endpoint");
}

static struct loco_sim_model any_model(void)
{
    return loco_sim_model_word(0);
}

Test(workload, one_that_cannot_open_fails)
{
    const struct loco_sim_workload w = {.name = "shut",
                                        .nodes = 2,
                                        .threads = 1,
                                        .model = any_model,
                                        .object_size = 1,
                                        .open = open_not,
                                        .close = close_never,
                                        .act = act_never};

    cr_redirect_stderr();
    cr_expect_eq(loco_sim_workload_run(&w, 1, LOCO_SIM_CALM, true), 1);
    fflush(stderr);
    cr_assert_stderr_eq_str("workload shut: node 0 cannot open: Invalid argument\n"
                            "workload shut: node 1 cannot open: Invalid argument\n"
                            "workload shut fails with seed 1 at chaos 0\n");
}
