/*
 * A netlist as a model: stage.cir becomes a plant. The tables are what the netlist declares; a
 * plain netlist has all voltages of nodes and all currents of sources and inductors as outputs.
 */
#ifndef HILOCO_CIRCUIT_CIRCUIT_MODEL_H
#define HILOCO_CIRCUIT_CIRCUIT_MODEL_H

#include <pthread.h>

#include "declarations.h"
#include "netlist.h"

/* A circuit that is ready for real time, and that no component has any more. */
struct cir_spare {
    struct cir_spare *next;
    struct cir_assembly *circuit;
    double *parameters;
};

struct cir_model {
    struct hil_model model; /* the descriptor of this netlist */
    const char *doc;
    struct cir_text text;
    struct cir_declarations declarations;
    struct cir_tran tran;
    struct cir_block *blocks;
    pthread_mutex_t lock; /* of the spares */
    struct cir_spare *spares;
};

/* Reads a netlist, and checks that a component of it can be made with the defaults. `own_sources`
 * is as for cir_declarations_read(). Returns 0, or a negative errno after a message. */
int cir_model_load(struct cir_model **model, const char *path, bool own_sources,
                   const struct cir_said *said);
void cir_model_unload(struct cir_model *model);

#endif
