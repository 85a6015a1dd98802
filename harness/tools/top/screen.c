#include "screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../base/digits.h"
#include "table.h"

enum { MEASURE_PAIR = 1, REFERENCE_PAIR, ALARM_PAIR };

enum { REDRAW = 'L' & 0x1f }; /* Ctrl-L: redraws a terminal on which others wrote */

enum {
    AXIS = 10,              /* characters to the left of the chart */
    COLUMN_SLICES = 5,      /* slices of the history per column of the chart: 50 ms */
    TITLE = 0,              /* line numbers: the title */
    MEASURE,                /* the measure, then the chart */
    CHART,                  /* the chart; then the time axis, the table's head, the nodes, the
                             * keys */
    LINES_WITHOUT_NODES = 5 /* title, measure, time axis, head, keys */
};

struct screen {
    struct hil_watch *watch;
    struct hil_sample *sample;         /* the displayed sample: a sorted copy */
    const struct hil_history *history; /* the watch's; while paused, a copy */
    struct hil_history *held;          /* this copy */
    struct hil_table_order order;
    unsigned first; /* the node in the first line of the table */
    bool unicode, quit;
};

static volatile sig_atomic_t asked_to_end;

static void on_signal(int signal)
{
    (void)signal;
    asked_to_end = 1;
}

uint64_t hil_watch_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- lines of text -------------------------------------------------------------------------- */

static void show_line(int y, attr_t attributes, const char *text)
{
    attrset((int)attributes);
    mvhline(y, 0, ' ', COLS);
    mvaddnstr(y, 0, text, COLS);
    attrset(A_NORMAL);
}

static void show_title(const struct screen *s)
{
    const struct hil_attached *run = &s->watch->run->attached;
    const struct hil_card *card = &run->card;
    char text[256];

    snprintf(text, sizeof text, " %s%s  %.3f of %g s in %s time  process %d  %u nodes  missed %llu",
             s->held                           ? "PAUSED  "
             : hil_state_is_paused(run->state) ? "RUN PAUSED  "
                                               : "",
             card->name, (double)s->sample->elapsed_ns * 1e-9, (double)card->duration_ns * 1e-9,
             card->virtual_time ? "virtual" : "real", (int)s->watch->run->pid, s->sample->count,
             (unsigned long long)s->sample->missed);
    show_line(TITLE, A_REVERSE, text);
}

static void show_measure(const struct screen *s)
{
    const struct hil_card *card = &s->watch->run->attached.card;
    const struct hil_sample *now = s->sample;
    const double size = fmax(fmax(fabs(now->value), fabs(now->reference)), now->pp);
    const int decimals = hil_decimals(size, 5);
    char text[256], against[120] = "", value[HIL_VALUE_BYTES], pp[HIL_VALUE_BYTES];

    if (isfinite(now->reference))
        snprintf(against, sizeof against, ", reference %s, error %+.2f %%",
                 hil_value(value, now->reference, decimals, card->unit),
                 100 * (now->value - now->reference) / now->reference);
    if (!hil_watch_measures(s->watch))
        snprintf(text, sizeof text, "%s -", card->measure[0] ? card->measure : "no measure");
    else
        snprintf(text, sizeof text, "%s %s%s, peak to peak %s", card->measure,
                 hil_value(value, now->value, decimals, card->unit), against,
                 hil_value(pp, now->pp, decimals, card->unit));
    show_line(MEASURE, A_BOLD, text);
}

/* --- the chart ------------------------------------------------------------------------------ */

static void show_cell(const struct screen *s, int y, int x, const struct hil_cell *cell)
{
    if (!cell->dots && !cell->reference)
        return;
    attrset(COLOR_PAIR(cell->dots ? MEASURE_PAIR : REFERENCE_PAIR));
    if (!s->unicode)
        mvaddch(y, x, cell->dots ? '*' : '-');
    else if (cell->dots)
        mvaddnwstr(y, x, (wchar_t[]){(wchar_t)(0x2800 + cell->dots)}, 1);
    else
        mvaddch(y, x, ACS_HLINE);
}

static void show_axes(int y, int height, int width, struct hil_scale scale, const char *unit)
{
    double seconds = (double)width * HIL_CELL_COLUMNS * COLUMN_SLICES * HIL_BLOCK_NS * 1e-9;

    attrset(A_NORMAL);
    mvprintw(y, 0, "%*g", AXIS - 3, scale.high);
    mvprintw(y + height - 1, 0, "%*g", AXIS - 3, scale.low);
    mvprintw(y + height / 2, 0, "%*.*s", AXIS - 3, AXIS - 3, unit);
    mvvline(y, AXIS - 1, ACS_VLINE, height);
    mvaddch(y + height, AXIS - 1, ACS_LLCORNER);
    mvhline(y + height, AXIS, ACS_HLINE, width);
    mvprintw(y + height, AXIS + 1, " -%.1f s ", seconds);
    mvaddstr(y + height, AXIS + width - 5, " now ");
}

/* Without memory there is no chart. */
static void show_chart(const struct screen *s, int height)
{
    unsigned width = (unsigned)(COLS - AXIS), count = width * HIL_CELL_COLUMNS;
    struct hil_chart_column *columns = malloc(count * sizeof *columns);
    struct hil_cell *cells = malloc(width * (size_t)height * sizeof *cells);

    if (columns && cells) {
        hil_history_columns(s->history, COLUMN_SLICES, columns, count);
        struct hil_scale scale = hil_chart_scale(columns, count);
        hil_chart_draw(columns, width, (unsigned)height, scale, cells);
        show_axes(CHART, height, (int)width, scale, s->watch->run->attached.card.unit);
        for (unsigned i = 0; i < width * (unsigned)height; i++)
            show_cell(s, CHART + (int)(i / width), AXIS + (int)(i % width), &cells[i]);
        attrset(A_NORMAL);
    }
    free(columns);
    free(cells);
}

/* A third of the height that the nodes do not need, or of the remaining height; 0 in a low
 * window. */
static int chart_height(const struct screen *s)
{
    int room = LINES - LINES_WITHOUT_NODES, spare = room - (int)s->sample->count;
    int height = spare > room / 3 ? spare : room / 3;

    if (COLS < 3 * AXIS || room < 6 || !s->watch->run->attached.card.measure[0])
        return 0;
    return height > 16 ? 16 : height;
}

/* --- the nodes ------------------------------------------------------------------------------ */

static attr_t attributes_of(const struct hil_node_sample *n)
{
    bool alarm = n->silent || n->misses || n->told.stage == HIL_FAILED;

    return alarm ? COLOR_PAIR(ALARM_PAIR) | A_BOLD : A_NORMAL;
}

static void show_nodes(struct screen *s, int top, int bottom)
{
    unsigned room = bottom > top + 1 ? (unsigned)(bottom - top - 1) : 0, count = s->sample->count;
    char text[256];

    if (s->first + room > count)
        s->first = count > room ? count - room : 0;
    hil_table_head(&s->order, text, sizeof text);
    show_line(top, A_REVERSE, text);
    for (unsigned i = 0; i < room && s->first + i < count; i++) {
        const struct hil_node_sample *n = &s->sample->nodes[s->first + i];
        hil_table_row(n, text, sizeof text);
        show_line(top + 1 + (int)i, attributes_of(n), text);
    }
    unsigned last = s->first + room < count ? s->first + room : count;
    snprintf(text, sizeof text,
             "q quit  p pause  s sort: %s  r reverse  arrows scroll  %u-%u of %u",
             hil_table_key_name(s->order.key), count ? s->first + 1 : 0, last, count);
    show_line(bottom, A_DIM, text);
}

static void draw(struct screen *s)
{
    int height = chart_height(s), top = height ? CHART + height + 1 : CHART;

    erase();
    hil_table_sort(s->sample, &s->order);
    show_title(s);
    show_measure(s);
    if (height)
        show_chart(s, height);
    show_nodes(s, top, LINES - 1);
    refresh();
}

/* --- keys ----------------------------------------------------------------------------------- */

static void toggle_pause(struct screen *s)
{
    struct hil_history *copy = s->held ? NULL : malloc(sizeof *copy);

    if (copy)
        *copy = s->watch->history;
    free(s->held);
    s->held = copy;
    s->history = copy ? copy : &s->watch->history;
}

static void scroll_by(struct screen *s, int lines)
{
    int first = (int)s->first + lines; /* a position too far down is corrected when drawing */

    s->first = first > 0 ? (unsigned)first : 0;
}

static void obey(struct screen *s, int key)
{
    switch (key) {
    case 'q':
        s->quit = true;
        break;
    case 'p':
    case ' ':
        toggle_pause(s);
        break;
    case 's':
        s->order.key = (s->order.key + 1) % HIL_TABLE_KEYS;
        break;
    case 'r':
        s->order.reversed = !s->order.reversed;
        break;
    case REDRAW:
        clearok(stdscr, TRUE);
        break;
    case KEY_UP:
        scroll_by(s, -1);
        break;
    case KEY_DOWN:
        scroll_by(s, 1);
        break;
    case KEY_PPAGE:
        scroll_by(s, -LINES / 2);
        break;
    case KEY_NPAGE:
        scroll_by(s, LINES / 2);
        break;
    default:
        break; /* also KEY_RESIZE: everything is redrawn */
    }
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Takes a sample; while paused it is not shown. */
static int look(struct screen *s)
{
    hil_watch_look(s->watch, hil_watch_clock());
    if (s->held && s->sample)
        return 0;
    free(s->sample);
    s->sample = hil_sample_copy(s->watch->sample);
    return s->sample ? 0 : -ENOMEM;
}

/* Handles keys until the next sample is due. */
static void take_keys(struct screen *s, uint64_t until_ns)
{
    for (uint64_t now; !s->quit && !asked_to_end && (now = hil_watch_clock()) < until_ns;) {
        timeout((int)((until_ns - now) / 1000000) + 1);
        int key = getch();
        if (key == ERR)
            continue;
        obey(s, key);
        draw(s);
    }
}

static int show(struct screen *s, unsigned interval_ms)
{
    uint64_t next = hil_watch_clock();
    int rc = 0, status;

    while (!rc && !s->quit && !asked_to_end && !hil_run_ended(s->watch->run, &status)) {
        rc = look(s);
        if (rc)
            break;
        draw(s);
        next += interval_ms * 1000000ull;
        if (next < hil_watch_clock())
            next = hil_watch_clock(); /* after a stop it does not catch up */
        take_keys(s, next);
    }
    return rc;
}

static void prepare_terminal(void)
{
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    if (has_colors()) {
        start_color();
        use_default_colors();
        init_pair(MEASURE_PAIR, COLOR_CYAN, -1);
        init_pair(REFERENCE_PAIR, COLOR_GREEN, -1);
        init_pair(ALARM_PAIR, COLOR_RED, -1);
    }
}

/* The fonts of the Linux console have no Braille. */
static bool has_braille(void)
{
    const char *term = getenv("TERM");

    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 && term && strcmp(term, "linux") != 0;
}

static void catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

int hil_screen_show(struct hil_watch *watch, unsigned interval_ms)
{
    struct screen s = {.watch = watch, .history = &watch->history};

    setlocale(LC_CTYPE, "");
    uselocale(LC_GLOBAL_LOCALE); /* ncurses asks it about characters */
    s.unicode = has_braille();
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return -ENOTTY;
    SCREEN *terminal = newterm(NULL, stdout, stdin);
    if (!terminal)
        return -ENOTTY;
    catch_signals(); /* after ncurses has installed its own handlers, which do not return */
    prepare_terminal();
    int rc = show(&s, interval_ms);
    endwin();
    delscreen(terminal);
    free(s.sample);
    free(s.held);
    return rc;
}
