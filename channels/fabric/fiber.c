/* How fibers get a stack, and how they switch, in assembly for each processor. */
#include "../loco/fabric/fiber.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../loco/fabric/language.h"

/* The sanitizers keep track of a program's stacks, so they must be told of each switch. */
#if defined(LOCO_ASAN)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define FIBER_LEAVES(f, to)                                                                        \
    __sanitizer_start_switch_fiber(&(f)->shadow, (to)->stack, (to)->stack_size)
#define FIBER_ARRIVED(f) __sanitizer_finish_switch_fiber((f)->shadow, NULL, NULL)
#elif defined(LOCO_TSAN)
#include <sanitizer/tsan_interface.h>
#define FIBER_LEAVES(f, to) __tsan_switch_to_fiber((to)->shadow, 0)
#define FIBER_ARRIVED(f)    ((void)0)
#else
#define FIBER_LEAVES(f, to) ((void)0)
#define FIBER_ARRIVED(f)    ((void)0)
#endif

struct loco_fiber {
    void *stack_pointer; /* while it is switched away */
    void (*entry)(void *arg);
    void *arg;
    void *stack; /* its lowest byte; NULL: the stack of a thread */
    size_t stack_size;
    void *mapping; /* the stack with its guard page */
    size_t mapping_size;
    void *shadow; /* the sanitizer's handle of the fiber */
};

/*
 * Saves the registers that a call has to preserve, and the stack pointer; then loads those of the
 * other fiber. swapcontext() of the C library would make two system calls for a signal mask that
 * never changes here.
 */
#if defined(__x86_64__)

void fiber_swap(void **save, void *load);
__asm__(".text\n"
        ".type fiber_swap, @function\n"
        ".hidden fiber_swap\n"
        ".globl fiber_swap\n"
        "fiber_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_swap, .-fiber_swap\n");

enum { SAVED_WORDS = 8 }; /* six registers, the return address, and one word of padding */

static void fiber_lay_first_frame(struct loco_fiber *f, uintptr_t top, void (*fiber_start)(void))
{
    uintptr_t *frame = (uintptr_t *)(top & ~(uintptr_t)15) - SAVED_WORDS;

    frame[6] = (uintptr_t)fiber_start;
    f->stack_pointer = frame;
}

#elif defined(__aarch64__)

void fiber_swap(void **save, void *load);
__asm__(".text\n"
        ".type fiber_swap, %function\n"
        ".hidden fiber_swap\n"
        ".globl fiber_swap\n"
        "fiber_swap:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size fiber_swap, .-fiber_swap\n");

enum { SAVED_WORDS = 20 };

static void fiber_lay_first_frame(struct loco_fiber *f, uintptr_t top, void (*fiber_start)(void))
{
    uintptr_t *frame = (uintptr_t *)(top & ~(uintptr_t)15) - SAVED_WORDS;

    frame[11] = (uintptr_t)fiber_start; /* x30 */
    f->stack_pointer = frame;
}

#else
#error "fibers need a few lines of assembly for this processor: see fiber.c"
#endif

static _Thread_local struct loco_fiber *fiber_starting; /* read by the fiber that starts */

static void fiber_start(void)
{
    struct loco_fiber *self = fiber_starting;

    FIBER_ARRIVED(self);
    self->entry(self->arg);
    abort(); /* an entry does not return */
}

/* Stacks that begin at the same offset in their pages would compete for the same few sets of the
 * cache. So each stack begins lower by one of sixteen amounts: a multiple of four cache lines. */
static size_t fiber_colour(const struct loco_fiber *f)
{
    return ((uintptr_t)f >> 6) % 16 * 4 * 64;
}

static int fiber_map_stack(struct loco_fiber *f, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    f->mapping_size = size + page;
    f->mapping = mmap(NULL, f->mapping_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (f->mapping == MAP_FAILED)
        return -1;
    mprotect(f->mapping, page, PROT_NONE); /* so that an overflow faults */
    f->stack = (char *)f->mapping + page;
    f->stack_size = size;
    return 0;
}

static void fiber_unmap(struct loco_fiber *f)
{
    munmap(f->mapping, f->mapping_size);
    free(f);
}

/* Some fibers that were freed are kept with their stacks. A test opens a sim for each seed, and the
 * kernel would take longer to make and to clear its stacks than many a run takes. */
enum { KEPT = 16 };

static struct loco_fiber *_Atomic fiber_kept[KEPT];

static struct loco_fiber *fiber_take_kept(size_t stack_size)
{
    for (int i = 0; i < KEPT; i++) {
        struct loco_fiber *f = atomic_exchange(&fiber_kept[i], NULL);
        if (f && f->stack_size == stack_size)
            return f;
        if (f)
            fiber_unmap(f);
    }
    return NULL;
}

static void fiber_keep(struct loco_fiber *f)
{
    struct loco_fiber *none = NULL;

    for (int i = 0; i < KEPT; i++, none = NULL)
        if (atomic_compare_exchange_strong(&fiber_kept[i], &none, f))
            return;
    fiber_unmap(f);
}

static struct loco_fiber *fiber_make(size_t stack_size)
{
    struct loco_fiber *f = calloc(1, sizeof *f);

    if (f && fiber_map_stack(f, stack_size)) {
        free(f);
        return NULL;
    }
    return f;
}

struct loco_fiber *loco_fiber_new(void (*entry)(void *arg), void *arg, size_t stack_size)
{
    struct loco_fiber *f = fiber_take_kept(stack_size);

    if (!f)
        f = fiber_make(stack_size);
    if (!f)
        return NULL;
    f->entry = entry;
    f->arg = arg;
    f->shadow = NULL;
#if defined(LOCO_ASAN)
    __asan_unpoison_memory_region(f->stack, f->stack_size); /* an earlier stack was here */
#endif
    fiber_lay_first_frame(f, (uintptr_t)f->stack + stack_size - fiber_colour(f), fiber_start);
#if defined(LOCO_TSAN)
    f->shadow = __tsan_create_fiber(0);
#endif
    return f;
}

struct loco_fiber *loco_fiber_current(void)
{
    struct loco_fiber *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
#if defined(LOCO_TSAN)
    f->shadow = __tsan_get_current_fiber();
#elif defined(LOCO_ASAN)
    pthread_attr_t attr;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &f->stack, &f->stack_size);
    pthread_attr_destroy(&attr);
#endif
    return f;
}

void loco_fiber_switch(struct loco_fiber *from, struct loco_fiber *to)
{
    fiber_starting = to;
    FIBER_LEAVES(from, to);
    fiber_swap(&from->stack_pointer, to->stack_pointer);
    FIBER_ARRIVED(from);
}

void loco_fiber_free(struct loco_fiber *f)
{
    if (!f)
        return;
#if defined(LOCO_TSAN)
    if (f->mapping)
        __tsan_destroy_fiber(f->shadow);
#endif
    if (f->mapping)
        fiber_keep(f);
    else
        free(f);
}
