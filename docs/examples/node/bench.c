/* A motor on a bench, as a node of a run: it takes a voltage, and gives the speed. */
#include <stdio.h>
#include <string.h>

#include <hiloco_node.h>

static void say(void *arg, enum hiloco_level level, const char *line)
{
    (void)arg;
    fprintf(stderr, "bench: %s: %s\n", level == HILOCO_ERROR ? "error" : "warning", line);
}

/* What stands here for the bench: the speed goes to 20 rad/s for each volt, in some 50 ms. */
static double motor_turn(double speed_rad_per_s, double voltage_v, double period_s)
{
    return speed_rad_per_s + (20 * voltage_v - speed_rad_per_s) * period_s / 0.05;
}

int main(int argc, char **argv)
{
    struct hiloco_join join = HILOCO_JOIN;
    struct hiloco_node *node;
    double in[1], out[1] = {0};

    join.scenario = argc > 1 ? argv[1] : "bench.yaml";
    join.node = "bench";
    join.out = argc > 2 ? argv[2] : NULL;
    join.log = say;
    int rc = hiloco_node_join(&node, &join);
    if (rc) {
        fprintf(stderr, "bench: %s\n", strerror(-rc));
        return 1;
    }
    const double period_s = (double)hiloco_node_period_ns(node) * 1e-9;
    while ((rc = hiloco_node_step(node, in, out)) > 0)
        out[0] = motor_turn(out[0], in[0], period_s);
    printf("the run has ended at %.1f rad/s\n", out[0]);
    return hiloco_node_leave(node) ? 1 : 0;
}
