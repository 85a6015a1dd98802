/*
 * A node on tcp that calls another: whatever answers, or nothing, it calls again until the right
 * node does. The test plays node 0.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <unistd.h>

#include "intruder.h"
#include "tests/ends.h"

/* An eighth of its time-out is longer than the tests wait. */
static struct loco_fabric *open_patient(void)
{
    struct loco_fabric *fabric;

    cr_assert_eq(open_tcp(&fabric, (struct loco_tcp_config){.timeout_ms = 1000000}), 0);
    return fabric;
}

/* Waits for a call to node 0, whose part the test plays. */
static int take_call(int listener)
{
    struct pollfd call = {.fd = listener, .events = POLLIN};

    test_moved();
    cr_assert_eq(poll(&call, 1, 60000), 1, "no call came");
    return accept(listener, NULL, NULL);
}

static int listen_as_node_0(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(LOCO_TCP_PORT)};
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, own_loopback(), &at.sin_addr);
    cr_assert_eq(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(listener, 1), 0);
    return listener;
}

/* A call may end long after it began, in any way. An eighth of the time-out is too late for the
 * next one: it is longer than this test waits. */
Test(tcp, who_is_not_answered_calls_again)
{
    enum { LONGER_THAN_A_LOOK_US = 100000 };
    struct loco_fabric *fabric = open_patient();
    const int listener = listen_as_node_0();
    struct end e;

    cr_assert_eq(open_node(&e, fabric, 1, 2), 0);
    for (int i = 0; i < 3; i++) {
        const int call = take_call(listener);
        usleep(LONGER_THAN_A_LOOK_US);
        close(call);
    }
    close_node(&e);
    loco_tcp_close(fabric);
    close(listener);
}

/* Answers a call as a program does that knows nothing of the network. */
static void answer_call(int call, uint8_t step, uint8_t refusal)
{
    struct control_greeting g;

    cr_assert_eq(recv(call, &g, sizeof g, MSG_WAITALL), (ssize_t)sizeof g);
    g.to = g.from;
    g.from = 0;
    g.step = step;
    g.refusal = refusal;
    send(call, &g, sizeof g, MSG_NOSIGNAL);
}

/* Whatever an unproven program says, the right one may come later. */
Test(tcp, who_is_answered_by_an_unproven_program_calls_again)
{
    struct loco_fabric *fabric = open_patient();
    const int listener = listen_as_node_0();
    struct end e;

    cr_assert_eq(open_node(&e, fabric, 1, 2), 0);
    for (int i = 0; i < 4; i++) {
        const int call = take_call(listener);
        if (i == 3)
            answer_call(call, CONTROL_CHALLENGE, 0);
        answer_call(call, i == 3 ? CONTROL_WELCOME : CONTROL_REFUSAL,
                    i == 0   ? LOCO_UNPROVEN
                    : i == 1 ? LOCO_FOREIGN
                             : LOCO_STRAY);
        close(call);
    }
    close(take_call(listener));
    close_node(&e);
    loco_tcp_close(fabric);
    close(listener);
}

/* A stranger that says nothing, and one that drips, are sent away after two seconds, whatever the
 * time-out of the nodes is. */
Test(tcp, a_stranger_does_not_stay_as_long_as_a_node_may_be_silent)
{
    const struct control_greeting hello = intruder_greeting(CONTROL_HELLO);
    struct loco_fabric *fabric = open_patient();
    struct pollfd end = {.events = POLLIN};
    struct end e;

    cr_assert_eq(open_node(&e, fabric, 0, 2), 0);
    for (unsigned said = 0; said < 2; said++) {
        end.fd = intruder_call(own_loopback());
        cr_assert(intruder_say(end.fd, &hello, said));
        test_moved();
        cr_expect_eq(poll(&end, 1, 60000), 1, "it stays");
        cr_expect(intruder_is_cut_off(end.fd));
    }
    close_node(&e);
    loco_tcp_close(fabric);
}
