#include "greet.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

/* --- speaking ------------------------------------------------------------------------------- */

struct control_greeting control_greeting_make(const struct control_self *self, uint32_t to,
                                              enum control_step step)
{
    return (struct control_greeting){.magic = self->magic,
                                     .version = self->version,
                                     .step = (uint8_t)step,
                                     .from = self->id,
                                     .to = to,
                                     .count = self->count,
                                     .process = self->process};
}

bool control_greeting_send(int fd, const struct control_greeting *g)
{
    return send(fd, g, sizeof *g, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof *g;
}

/* The claim that this end proves. The next function makes the claim of the other end. */
static struct loco_claim greet_own_claim(const struct control_greet *g, enum loco_purpose purpose)
{
    const struct control_self *s = g->self;

    return loco_claim_of(s->purpose + purpose, s->id, g->other_id, s->count, &g->other, &g->own);
}

static struct loco_claim greet_other_claim(const struct control_greet *g, enum loco_purpose purpose)
{
    const struct control_self *s = g->self;

    return loco_claim_of(s->purpose + purpose, g->other_id, s->id, g->other_count, &g->own,
                         &g->other);
}

static bool greet_say(const struct control_greet *g, int fd, enum control_step step,
                      enum loco_refusal refusal, const struct loco_claim *claim)
{
    struct control_greeting said = control_greeting_make(g->self, g->other_id, step);

    said.refusal = (uint8_t)refusal;
    said.nonce = g->own;
    if (claim)
        said.proof = loco_prove(&g->self->key, claim);
    return control_greeting_send(fd, &said);
}

int control_greet_call(struct control_greet *g, const struct control_self *self, uint32_t other)
{
    *g = (struct control_greet){
        .self = self, .active = true, .step = CONTROL_CHALLENGE, .other_id = other};
    return loco_nonce_new(&g->own);
}

void control_greet_await(struct control_greet *g, const struct control_self *self)
{
    *g = (struct control_greet){.self = self, .step = CONTROL_HELLO};
}

bool control_greet_hello(const struct control_greet *g, int fd)
{
    return greet_say(g, fd, CONTROL_HELLO, LOCO_WELCOME, NULL);
}

bool control_greet_challenge(struct control_greet *g, int fd)
{
    g->step = CONTROL_PROOF;
    return !loco_nonce_new(&g->own) && greet_say(g, fd, CONTROL_CHALLENGE, LOCO_WELCOME, NULL);
}

bool control_greet_welcome(struct control_greet *g, int fd)
{
    const struct loco_claim answer = greet_own_claim(g, LOCO_OF_ANSWER);
    const struct loco_claim links = greet_other_claim(g, LOCO_OF_LINKS);

    loco_key_between(&g->links, &g->self->key, &links);
    g->proven = true;
    return greet_say(g, fd, CONTROL_WELCOME, LOCO_WELCOME, &answer);
}

void control_greet_refuse(const struct control_greet *g, int fd, enum loco_refusal why)
{
    const struct loco_claim answer = greet_own_claim(g, LOCO_OF_ANSWER);

    greet_say(g, fd, CONTROL_REFUSAL, why, why == LOCO_FOREIGN && g->right ? &answer : NULL);
}

/* --- hearing -------------------------------------------------------------------------------- */

static enum control_event greet_hear_hello(struct control_greet *g)
{
    g->other_id = g->heard.from;
    g->other_count = g->heard.count;
    g->other = g->heard.nonce;
    return CONTROL_CALLED;
}

static enum control_event greet_hear_challenge(struct control_greet *g, int fd)
{
    g->other = g->heard.nonce;
    g->other_count = g->heard.count;
    const struct loco_claim claim = greet_own_claim(g, LOCO_OF_REQUEST);
    g->step = CONTROL_WELCOME;
    return greet_say(g, fd, CONTROL_PROOF, LOCO_WELCOME, &claim) ? CONTROL_NOTHING : CONTROL_ENDED;
}

static bool greet_proves(const struct control_greet *g, enum loco_purpose purpose)
{
    const struct loco_claim claim = greet_other_claim(g, purpose);

    return loco_proves(&g->self->key, &claim, &g->heard.proof);
}

static enum control_event greet_hear_proof(struct control_greet *g)
{
    g->right = greet_proves(g, LOCO_OF_REQUEST);
    g->process = g->heard.process;
    return g->right ? CONTROL_PROVEN : CONTROL_UNPROVEN;
}

/* The called end must prove itself as well, before this end listens to anything else. */
static enum control_event greet_hear_welcome(struct control_greet *g)
{
    const struct loco_claim links = greet_own_claim(g, LOCO_OF_LINKS);

    g->right = g->proven = greet_proves(g, LOCO_OF_ANSWER);
    g->process = g->heard.process;
    loco_key_between(&g->links, &g->self->key, &links);
    return g->right ? CONTROL_PROVEN : CONTROL_UNPROVEN;
}

bool control_greet_is_foreign(const struct control_greet *g)
{
    return g->heard.refusal == LOCO_FOREIGN && g->heard.count == g->other_count &&
           g->other_count != g->self->count && g->step == CONTROL_WELCOME &&
           greet_proves(g, LOCO_OF_ANSWER);
}

static enum control_event greet_understand(struct control_greet *g, int fd)
{
    const struct control_greeting *h = &g->heard;

    if (g->active && h->step == CONTROL_REFUSAL)
        return CONTROL_REFUSED;
    if (g->step == CONTROL_HELLO && h->step == CONTROL_LINK)
        return CONTROL_LINKED;
    if (h->step != g->step || (g->active && h->from != g->other_id))
        return CONTROL_STRANGE;
    if (g->step == CONTROL_HELLO)
        return greet_hear_hello(g);
    if (g->step == CONTROL_CHALLENGE)
        return greet_hear_challenge(g, fd);
    return g->step == CONTROL_PROOF ? greet_hear_proof(g) : greet_hear_welcome(g);
}

bool control_is_alike(const struct control_self *self, const struct control_greeting *g)
{
    return g->magic == self->magic && g->version == self->version;
}

/* What does not begin as a greeting is not waited for. */
enum control_event control_greet_hear(struct control_greet *g, int fd)
{
    const ssize_t got =
        recv(fd, (unsigned char *)&g->heard + g->in, sizeof g->heard - g->in, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return CONTROL_NOTHING;
    if (got <= 0)
        return CONTROL_ENDED;
    g->in += (size_t)got;
    if (g->in >= offsetof(struct control_greeting, step) && !control_is_alike(g->self, &g->heard))
        return CONTROL_STRANGE;
    if (g->in < sizeof g->heard)
        return CONTROL_NOTHING;
    g->in = 0;
    return greet_understand(g, fd);
}
