'use strict';

/* The figures of all runs: curves with the same name share a figure, whichever run they are
 * from. */

/* [{id, title, curves: [{run, packed}]}] in the order of the first run. */
function figuresOf(runs) {
    const figures = new Map();

    for (const run of runs)
        for (const figure of run.record?.figures ?? []) {
            const key = `${figure.id}\n${figure.curves[0]?.unit ?? ''}`;
            if (!figures.has(key))
                figures.set(key, {...figure, curves: [], missed: [], left_out: 0});
            const all = figures.get(key);
            all.curves.push(...figure.curves.map((packed) => ({run, packed})));
            all.missed.push(...(figure.missed ?? []));
            all.left_out += figure.left_out ?? 0;
        }
    return [...figures.values()].filter((figure) => figure.curves.length > 0);
}

/* "nodes.controller.period_us=20: output_v": distinguishes this curve from others in the figure. */
function curveName({run, packed}, figure, runs) {
    const same = figure.curves.every((one) => one.packed.role === 'reference' ||
                                              one.packed.name === packed.name);

    if (runs.length < 2)
        return packed.name;
    return same ? run.label : `${run.label}: ${packed.name}`;
}

/* With more runs than these, colours stand for verdicts, and runs have no marks of their own. */
const coloursMost = 16;

function inkOfRun(run, runs) {
    const verdict = runs.length > coloursMost && run.summary?.limits?.length ? verdictOf(run) : null;

    return verdict ? {colour: 0, ink: inkOfVerdict[verdict]} : {};
}

/* The value of a constant curve; otherwise undefined. */
function constantOf(curve) {
    const {low, high} = curve.range(0, curve.count);

    return low === high ? low : undefined;
}

/* A reference that several runs share is drawn once. */
function withoutTwins(curves) {
    const twins = (a, b) => a.dashed && b.dashed && a.unit === b.unit &&
                            (a.data === b.data || (constantOf(a.curve) !== undefined &&
                                                   constantOf(a.curve) === constantOf(b.curve)));
    const kept = [];

    for (const curve of curves) {
        const twin = kept.find((one) => twins(one, curve));
        if (twin)
            twin.name = twin.signal;
        else
            kept.push(curve);
    }
    return kept;
}

/* --- marks ------------------------------------------------------------------------------------ */

function eventMarks({summary}) {
    return (summary?.events ?? []).filter((event) => !event.start_up)
        .map((event) => ({from: event.time_s, to: event.over_s ?? event.time_s, kind: 'event',
                          text: eventWords(event)}));
}

/* The deliberate faults of the run, and how long they lasted. */
function faultMarks({summary, record}) {
    const faults = Array.isArray(summary?.faults) ? summary.faults : [];

    return faults.filter((fault) => Number.isFinite(fault.began_s))
        .map((fault) => ({from: fault.began_s, to: fault.ended_s ?? record?.duration_s,
                          kind: 'fault', text: `${fault.name}: ${fault.kind} of ${fault.of}`}));
}

/* Events at steps of nodes; the marks are small because there may be many. */
function noteMarks({record}) {
    return (record?.events ?? []).map((event) => ({from: event.time_s, kind: 'note',
                                                   text: noteWords(event)}));
}

/* Only for a single run, because the windows of several runs would overlap. */
function windowMarks({summary}, names, runs) {
    if (runs.length > 1)
        return [];
    return Object.entries(summary?.measures ?? {}).filter(([name]) => names.includes(name))
        .map(([, measure]) => measure.window ?? measure.each?.[measure.worst ?? 0]?.window)
        .filter((window) => Number.isFinite(window?.from_s))
        .map((window) => ({from: window.from_s, to: window.to_s, kind: 'window'}));
}

function failureMarks({summary}, id, runs) {
    if (runs.length > coloursMost)
        return [];
    return (summary?.limits ?? [])
        .filter((limit) => limit.verdict === 'failed' && Number.isFinite(limit.time_s) &&
                           limit.figure?.replace('.svg', '') === id)
        .map((limit) => ({from: limit.time_s, kind: 'failure', text: `${limit.name} failed`}));
}

/* Each mark once, even if several runs have it. */
function marksOf(figure, runs) {
    const names = figure.curves.map(({packed}) => packed.name), seen = new Set();
    const marks = runs.flatMap((run) => [...windowMarks(run, names, runs), ...eventMarks(run),
                                         ...faultMarks(run), ...noteMarks(run),
                                         ...failureMarks(run, figure.node ?? figure.id, runs)]);
    const missed = figure.missed.map(([from, to, steps]) =>
        ({from, to, kind: 'missed', text: `${count(steps, 'step')} missed`}));

    return [...marks, ...missed].filter((mark) => {
        const key = JSON.stringify(mark);
        return !seen.has(key) && seen.add(key);
    });
}

/* --- times ------------------------------------------------------------------------------------ */

function timesOf(runs) {
    return [0, Math.max(...runs.map((run) => run.record?.duration_s ?? 0))];
}

/* An event and its consequences: three times the settling time of its slowest measure. */
function timesOfEvent(event, next, end) {
    const settled = Object.values(event.measures ?? {})
        .map((one) => (one.worst?.settling_ms ?? one.settling_ms ?? 0) * 1e-3);
    const over = event.over_s ?? event.time_s, last = next?.time_s ?? end;
    const length = Math.max(over - event.time_s + 3 * Math.max(0, ...settled),
                            (last - event.time_s) * 1e-3);

    return [Math.max(0, event.time_s - 0.1 * length), Math.min(last, event.time_s + length)];
}

/* Buttons that show everything, or an event of the first run with events. */
function eventButtons(runs, view) {
    const events = runs.find((run) => run.summary?.events?.length)?.summary.events ?? [];
    const end = timesOf(runs)[1];
    const button = (text, times) =>
        element('button', {type: 'button', onclick: () => view(...times)}, text);

    return element('div', {class: 'tools', role: 'group', 'aria-label': 'What figures show'},
                   button('all', [0, end]), events.map((event, i) =>
                       button(eventWords(event), timesOfEvent(event, events[i + 1], end))));
}

/* --- a figure --------------------------------------------------------------------------------- */

/* The page's data of each curve: one row for each block. Only the record has all rows. */
function csvOf(plot) {
    const lines = ['signal,unit,time_s,rows,least,greatest'];

    for (const {name, unit, curve} of plot.curves)
        for (let i = 0; i < curve.count; i++)
            if (curve.end[i] >= plot.x.from && curve.x[i] <= plot.x.to)
                lines.push(`${csvCell(name)},${csvCell(unit)},${Number(curve.x[i].toFixed(9))},` +
                           `${curve.rows[i]},${curve.low[i]},${curve.high[i]}`);
    return `${lines.join('\n')}\n`;
}

function figureTools(figure, plot) {
    const tool = (text, title, action) =>
        element('button', {type: 'button', title, onclick: action}, text);

    return element('div', {class: 'tools'},
                   tool('+', 'zoom in', () => plot().zoom(0.5)),
                   tool('−', 'zoom out', () => plot().zoom(2)),
                   tool('all', 'show all', () => plot().view(...plot().all)),
                   tool('CSV', 'the data that is seen, as a file',
                        () => download(`${figure.id}.csv`, 'text/csv', csvOf(plot()))));
}

async function plotOf(place, figure, runs) {
    const curves = await Promise.all(figure.curves.map(async (one) => ({
        name: curveName(one, figure, runs), signal: one.packed.name, unit: one.packed.unit,
        dashed: one.packed.role === 'reference', data: one.packed.data, ...inkOfRun(one.run, runs),
        curve: await unpackCurve(one.packed)})));
    const unit = figure.curves[0].packed.unit;

    return new Plot(place, {label: figure.title, x: {label: 'time', unit: 's', whole: timesOf(runs)},
                            y: {label: figure.title, unit}, curves: withoutTwins(curves),
                            marks: marksOf(figure, runs)});
}

function figureElement(figure) {
    const place = element('div', {class: 'plot'});
    const left = figure.left_out ? `, ${figure.left_out} of which are not shown` : '';
    const made = element('figure', {id: `figure-${figure.id}`},
                         element('figcaption', {},
                                 element('h3', {}, figure.title + left),
                                 figureTools(figure, () => place.plot)),
                         place);

    return {made, place};
}

/* Figures with a time axis show the same time span, and the same moment. */
function linkPlots(plots) {
    for (const plot of plots) {
        const others = plots.filter((other) => other !== plot);
        plot.onView = (from, to) => others.forEach((other) => other.show(from, to));
        plot.onCursor = (x) => others.forEach((other) => other.point(x));
    }
}

/* "One run of every 7 is in the figures, and the worst: 170 are left out." */
function leftOutWords({every, runs}) {
    const left = runs.filter((run) => !run.record).length;

    return left ? `One run of every ${every}, from the first on, and those that are named above: ` +
                  `${left} left out.` : null;
}

async function drawFigures(section, runs, sweeps) {
    const plots = [];

    section.append(...sweeps.map(leftOutWords).filter(Boolean)
        .map((words) => element('p', {class: 'faint'}, words)));
    section.append(eventButtons(runs, (from, to) => plots.forEach((plot) => plot.show(from, to))));
    for (const figure of figuresOf(runs)) {
        const {made, place} = figureElement(figure);
        section.append(made);
        plots.push(await plotOf(place, figure, runs));
        linkPlots(plots);
    }
}

/* --- histograms ------------------------------------------------------------------------------- */

function histogramCurve(bars) {
    const low = 0.7; /* below any count */

    return new Curve({x: bars.map(([from]) => Math.max(from, 1e-3)), end: bars.map(([, to]) => to),
                      low: bars.map(() => low), high: bars.map(([, , values]) => values),
                      rows: bars.map(([, , values]) => values), apart: bars.map(() => 1)});
}

function histogramPlot(name, all, runs) {
    const place = element('div', {class: 'plot small'});
    const made = element('figure', {}, element('figcaption', {}, element('h3', {}, name)), place);
    const curves = all.map(({run, histogram}) => ({
        name: runs.length > 1 ? run.label : 'values', unit: '',
        curve: histogramCurve(histogram.bars),
        say: (i) => count(histogram.bars[i][2], 'value')}));

    return {made, draw: () => new Plot(place, {label: name, x: {label: name, unit: 'µs', log: true},
                                               y: {label: 'values', log: true}, curves})};
}

function drawHistograms(section, runs) {
    const names = new Map();

    for (const run of runs)
        for (const histogram of run.record?.histograms ?? []) {
            const all = names.get(histogram.name) ?? [];
            names.set(histogram.name, [...all, {run, histogram}]);
        }
    const grid = element('div', {class: 'grid'});
    section.append(grid);
    for (const [name, all] of names) {
        const {made, draw} = histogramPlot(name.replaceAll('_', ' '), all, runs);
        grid.append(made);
        draw();
    }
}
