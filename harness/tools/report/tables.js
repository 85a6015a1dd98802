'use strict';

/* A table from [[...] ...]: numbers are aligned to the right. On a narrow screen it scrolls by
 * itself. */
function table(heads, rows) {
    const kind = (value) => typeof value === 'number' ? 'number' : typeof value !== 'string' ? null
        : value.length <= 16 ? 'word' : value.length > 40 ? 'words' : null;
    const cell = (value) => element('td', {class: kind(value)},
                                    typeof value === 'number' ? shownNumber(value) : value ?? '-');
    const body = rows.map(({id, cells, state}) =>
        element('tr', {id, class: state}, cells.map(cell)));

    return element('div', {class: 'wide'},
                   element('table', {},
                           element('thead', {},
                                   element('tr', {}, heads.map((head) =>
                                       element('th', {scope: 'col'}, head)))),
                           element('tbody', {}, body)));
}

/* A table with many rows. Clicking a head sorts it, and only the first rows are shown initially. A
 * cell that is a state becomes a badge, and Infinity is shown as 'never'. */
const rowsSeen = 100;

function longTable(heads, rows) {
    const made = element('div', {}), sorted = [...rows];
    let most = rowsSeen, by = -1, way = 1;
    const shown = (cell, state) => cell === state ? badge(state) : cell === Infinity ? 'never' : cell;
    const compare = (a, b) => typeof a === 'number' && typeof b === 'number'
        ? a - b : String(a ?? '').localeCompare(String(b ?? ''), 'en', {numeric: true});
    const sort = (i) => {
        [by, way] = [i, by === i ? -way : 1];
        sorted.sort((a, b) => way * compare(a.cells[i], b.cells[i]));
        draw();
    };
    const head = (text, i) => element('button', {type: 'button', class: 'sort', onclick: () => sort(i)},
                                      text, by === i ? (way > 0 ? ' ↑' : ' ↓') : '');
    const more = () => element('button', {type: 'button', onclick: () => {
        most = Infinity;
        draw();
    }}, `show all ${rows.length}`);
    const draw = () => made.replaceChildren(
        table(heads.map(head), sorted.slice(0, most).map(({cells, state}) =>
            ({state, cells: cells.map((cell) => shown(cell, state))}))),
        ...(rows.length > most ? [element('p', {class: 'faint'},
                                          `The first ${most} rows of ${rows.length}. `, more())] : []));

    draw();
    return made;
}

function badge(verdict) {
    return element('span', {class: `badge ${verdict}`}, verdict);
}

/* passed, failed, inconclusive or error, as in `hiloco test`; for a run without limits, whether it
 * is valid. */
function verdictOf(run) {
    const {summary, status} = run;

    if (!summary)
        return status === null ? 'not run' : 'error';
    if (summary.validity?.valid === false && summary.verdict !== 'error')
        return 'inconclusive';
    return summary.verdict ?? (summary.validity?.valid ? 'valid' : 'error');
}

function worstMissed({nodes = {}}) {
    const shares = Object.values(nodes).filter((node) => node?.steps !== undefined)
        .map((node) => 100 * node.missed / Math.max(1, node.steps + (node.left_out ?? 0)));

    return shares.length ? Math.max(...shares) : NaN;
}

/* --- the runs ------------------------------------------------------------------------------- */

function firstMeasure(summary) {
    const [name, measure] = Object.entries(summary?.measures ?? {})[0] ?? [];

    return measure && {name, ...measure};
}

/* "load 10 to 8 Ω at 0.2 s"; a run of a sweep has these words in place of the event's number. */
function eventAt(summary, event) {
    const one = summary?.events?.[event];

    return typeof event === 'string' ? event
        : one && eventWords(one) + (one.time_s > 0 ? ` at ${duration(one.time_s)}` : '');
}

/* "104 ms after load 10 to 8 Ω at 0.2 s": the longest of all events. */
function settling(measure, summary) {
    if (!measure || typeof measure.settled !== 'boolean')
        return '-';
    const after = eventAt(summary, measure.settling_event);

    return (measure.settled ? duration(measure.settling_ms * 1e-3) : 'does not settle') +
           (after ? ` after ${after}` : '');
}

function overshoot(measure, summary) {
    const after = eventAt(summary, measure?.overshoot_event);

    return measure?.overshoot_pct === undefined || measure.overshoot_pct === null ? '-'
        : `${shownNumber(measure.overshoot_pct)}${after ? ` after ${after}` : ''}`;
}

/* "2 of 3" limits kept; skipped and inconclusive ones do not count as kept. */
function keptWords(limits = []) {
    const kept = limits.filter(({verdict}) => verdict === 'passed').length;

    return limits.length ? `${kept} of ${limits.length}` : '-';
}

function runRow(run, i) {
    const {summary} = run, measure = firstMeasure(summary);
    const link = run.tested ? run.label : element('a', {href: `#run-${i}`}, run.label);

    return {state: verdictOf(run), cells: [
        badge(verdictOf(run)), link, summary?.scenario,
        summary?.mode === 'realtime' ? 'real time' : summary?.mode, duration(summary?.elapsed_s),
        keptWords(summary?.limits),
        `${digits(worstMissed(summary ?? {}), 3)} %`, settling(measure, summary),
        overshoot(measure, summary), withUnit(shownNumber(measure?.pp, 3), measure?.unit)]};
}

function runsTable(runs) {
    const measure = firstMeasure(runs.find((run) => run.summary)?.summary)?.name ?? 'measure';

    return table(['verdict', 'run', 'scenario', 'time', 'length', 'limits kept', 'missed at most',
                  `${measure} settles at the longest in`, 'greatest overshoot %',
                  'p-p after the last event'], runs.map(runRow));
}

/* --- limits and validity ---------------------------------------------------------------------- */

const verdictOrder = ['failed', 'inconclusive', 'skipped', 'passed'];

function boundOf({at_most: most, at_least: least, unit}) {
    if (!Number.isFinite(most ?? least))
        return '-';
    return `${most !== undefined ? 'at most' : 'at least'} ${withUnit(digits(most ?? least), unit)}`;
}

function limitRow(limit, figure) {
    return {state: limit.verdict, cells: [
        badge(limit.verdict), limit.name, limit.signal, withUnit(shownNumber(limit.value), limit.unit),
        boundOf(limit), duration(limit.time_s ?? NaN), limit.words,
        limit.figure && figure(limit.figure)]};
}

function limitsTable(limits, figure) {
    const sorted = limits.toSorted((a, b) => verdictOrder.indexOf(a.verdict) -
                                             verdictOrder.indexOf(b.verdict));

    return table(['', 'limit', 'signal', 'value', 'bound', 'at', 'what came of it', 'figure'],
                 sorted.map((limit) => limitRow(limit, figure)));
}

function validityTable({checks = {}}) {
    const rows = Array.isArray(checks) ? checks.map((check) => [check.name, check])
                                       : Object.entries(checks);

    return table(['check', 'value', 'bound'], rows.map(([name, check]) =>
        ({cells: [name, check?.value, check?.bound]})));
}

/* --- events and faults ------------------------------------------------------------------------ */

function changeWords([source, {from, to, unit}]) {
    return `${source.replaceAll('_', ' ')} ${digits(from, 4)} to ` +
           withUnit(digits(to, 4), unit === 'Ohm' ? 'Ω' : unit);
}

function eventWords(event) {
    return event.start_up ? 'start-up'
                          : Object.entries(event.changes ?? {}).map(changeWords).join(', ');
}

function eventRows(event) {
    return Object.entries(event.measures ?? {}).map(([name, one]) => {
        const figures = one.worst && typeof one.worst === 'object' ? one.worst : one;
        const index = figures.index === undefined ? '' : `[${figures.index}]`;

        return {cells: [duration(event.time_s), eventWords(event), name + index, figures.extreme,
                        figures.overshoot_pct ?? figures.deviation_pct,
                        figures.rise_time_ms,
                        figures.settled === false ? 'does not' : figures.settling_ms,
                        figures.steady_error, figures.pp]};
    });
}

function eventsTable(events) {
    return table(['at', 'event', 'measure (the worst)', 'extreme', 'beyond %', 'rises in ms',
                  'settles in ms', 'then error', 'then p-p'], events.flatMap(eventRows));
}

/* "controller: stale converter[0], 0.0002" */
function noteWords({node, kind, of, value}) {
    return `${node}: ${kind}${of ? ` ${of}` : ''}${value === null ? '' : `, ${digits(value)}`}`;
}

const notesMost = 200;

function notesTable(events) {
    return table(['at', 'node', 'step', 'what', 'of', 'value'],
                 events.slice(0, notesMost).map((one) => ({cells: [
                     duration(one.time_s), one.node, one.step, one.kind, one.of, one.value]})));
}

function faultsTable(faults) {
    return table(['fault', 'what', 'of', 'began', 'ended'], faults.map((one) => ({cells: [
        one.name, one.kind, one.of, duration(one.began_s ?? NaN), duration(one.ended_s ?? NaN)]})));
}

/* --- timing ----------------------------------------------------------------------------------- */

function timingTable(histograms) {
    return table(['time (µs)', 'values', 'p50', 'p99', 'p99.9', 'p99.99', 'max'],
                 histograms.map((one) => ({cells: [
                     one.name.replaceAll('_', ' '), one.count, one.p50, one.p99, one.p999,
                     one.p9999, one.max]})));
}

function missesTable(misses) {
    return table(['at', 'node', 'step', 'over its period µs', 'late µs', 'step took µs',
                  'steps missed'], misses.map((miss) => ({cells: [
        duration(miss.time_s), miss.node, miss.step, miss.over_us, miss.late_us, miss.step_us,
        miss.steps_missed]})));
}

/* --- the machine ------------------------------------------------------------------------------ */

const severities = ['serious', 'warning', 'unknown', 'note', 'ok'];

function findingsTable(findings) {
    const sorted = findings.toSorted((a, b) => severities.indexOf(a.severity) -
                                               severities.indexOf(b.severity));

    return table(['', 'finding', 'found', 'why', 'what mends it'], sorted.map((one) => ({
        state: one.severity, cells: [
            badge(one.severity), one.name, one.found, one.severity === 'ok' ? '' : one.why,
            one.command ? element('code', {}, one.command) : one.advice ?? '']})));
}

/* --- results of a trace ----------------------------------------------------------------------- */

/* Misses with one cause form a stretch. If the kernel was traced, the stretch names what occupied
 * the core. */
function causesTable(worst) {
    return table(['at', 'core', 'first', 'step', 'misses', 'over its period µs', 'most of it',
                  'who had the core'], worst.map((one) => ({cells: [
        duration(one.at_s), one.core, one.first, one.step, one.misses, one.over_us, one.most_of_it,
        one.intruder ?? 'not traced']})));
}
