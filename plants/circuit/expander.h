/* How a netlist is expanded: what its files share. */
#ifndef HILOCO_CIRCUIT_EXPANDER_H
#define HILOCO_CIRCUIT_EXPANDER_H

#include "netlist.h"
#include "scope.h"

/* Expands one statement of a scope. */
struct cir_expander {
    struct cir_netlist *netlist;
    const struct cir_declarations *declarations;
    struct cir_scope *scope;
    const struct cir_said *said;
    struct cir_tran tran;
};

/* Each function below returns 0, or a negative errno after a message. */

/* The node that a token names in the present scope. */
int cir_node_of(struct cir_expander *x, const struct cir_token *token, unsigned *node);

/* Refuses a statement of fewer words than `form` has. */
int cir_need(struct cir_expander *x, const struct cir_statement *s, unsigned count,
             const char *form);

/* Read a switch and a diode, with the .model that they name. */
int cir_read_switch(struct cir_expander *x, struct cir_element *e, const struct cir_statement *s);
int cir_read_diode(struct cir_expander *x, struct cir_element *e, const struct cir_statement *s);

#endif
