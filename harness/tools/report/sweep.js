'use strict';

/* A sweep: the results of its runs as tables, distributions, maps, and the path of a bisection. */

/* --- keys ------------------------------------------------------------------------------------- */

/* The keys whose value varies: [{key, unit, words, i, drawn}]. */
function varyingKeys({keys, drawn, runs}) {
    return keys.map((key, i) => ({...key, i, drawn: Object.hasOwn(drawn?.keys ?? {}, key.key)}))
        .filter(({i}) => new Set(runs.map((run) => run.values?.[i])).size > 1);
}

function keyTitle({words, unit}) {
    return unit ? `${words} (${unit})` : words;
}

/* --- figures of measures ---------------------------------------------------------------------- */

const measureFigures = {
    settling_ms: {words: 'longest settling time', unit: 'ms', bound: 'settling_ms'},
    overshoot_pct: {words: 'greatest overshoot', unit: '%', bound: 'overshoot_pct'},
    rise_time_ms: {words: 'longest rise time', unit: 'ms', bound: 'rise_time_ms'},
    steady_error: {words: 'steady-state error after the last event'},
    pp: {words: 'peak to peak after the last event', bound: 'ripple'},
    mean: {words: 'mean after the last event'},
};

/* NaN: there is none; infinite: it does not settle. */
function figureValue(run, measure, figure) {
    const one = run.summary?.measures?.[measure];

    if (figure === 'settling_ms' && one?.settled === false)
        return Infinity;
    return one?.[figure] ?? NaN;
}

/* --- distributions ---------------------------------------------------------------------------- */

function entryOf(run, value) {
    return {value, verdict: verdictOf(run)};
}

function spreadOfFigure(runs, {measure, figure, unit, p5, p50, p95}) {
    const values = runs.map((run) => figureValue(run, measure, figure));
    const entries = runs.map((run, i) => entryOf(run, values[i]));

    return {measure, figure, unit, values, title: `${measure}: ${measureFigures[figure].words}`,
            entries: entries.filter(({value}) => Number.isFinite(value)),
            never: values.filter((value) => value === Infinity).length,
            neverWords: 'that do not settle', limits: [], percentiles: {p5, p50, p95}};
}

/* A limit that was judged in these runs; its bound may differ between runs. */
function spreadOfLimit(runs, name) {
    const limits = runs.map((run) => run.summary?.limits?.find((limit) => limit.name === name));
    const judged = limits.filter((limit) => limit?.verdict === 'passed' || limit?.verdict === 'failed');
    const first = judged[0] ?? {};
    const bounds = new Set(judged.map((limit) => limit.at_most ?? limit.at_least));
    const most = first.at_most !== undefined;
    const entries = limits.map((limit) => ({value: limit?.value ?? NaN, verdict: limit?.verdict}));

    return {name, unit: first.unit, title: name, judged: judged.length,
            values: limits.map((limit) => limit?.value ?? (limit ? Infinity : NaN)),
            entries: entries.filter(({value}) => Number.isFinite(value)),
            never: judged.filter((limit) => !Number.isFinite(limit.value)).length,
            neverWords: 'without a value',
            limits: [...bounds].filter(Number.isFinite).map((bound) => ({
                name, most, bound, judged: judged.length,
                failed: judged.filter(({verdict}) => verdict === 'failed').length}))};
}

/* Whether a limit bounds exactly this figure: the same measure, and the same values in all runs. */
function isLimitOf(limit, spread, runs) {
    const bound = limit.name.split('.').at(-1);
    const [first] = runs.flatMap((run) =>
        run.summary?.limits?.filter(({name}) => name === limit.name) ?? []);

    return measureFigures[spread.figure].bound === bound &&
           first?.signal?.split('[')[0] === spread.measure &&
           spread.values.every((value, i) => Object.is(value, limit.values[i]));
}

/* The figures of the measures. A limit's line is in the figure that it bounds, or in one of its
 * own. */
function spreadsOf(group, runs) {
    const spreads = group.figures.filter(({figure}) => measureFigures[figure])
        .map((figure) => spreadOfFigure(runs, figure));
    const names = new Set(runs.flatMap((run) => run.summary?.limits?.map(({name}) => name) ?? []));
    const own = [...names].map((name) => spreadOfLimit(runs, name)).filter(({judged}) => judged > 0)
        .filter((limit) => {
            const shown = spreads.filter((spread) => isLimitOf(limit, spread, runs));
            shown.forEach((spread) => spread.limits.push(...limit.limits));
            return shown.length === 0;
        });

    return [...spreads, ...own];
}

/* "inductance_h is 47e-6 ± 9.4e-6, uniform" */
function drawnWords({drawn, keys}) {
    return Object.entries(drawn.keys).map(([key, {nominal, spread, distribution}]) => {
        const unit = keys.find((one) => one.key === key)?.unit;
        return `${key} ${digits(nominal)} ± ${withUnit(digits(spread), unit)}, ` +
               (distribution === 'normal' ? 'the standard deviation of a normal distribution'
                                          : 'uniform');
    }).join('; ');
}

function groupWords({drawn}, group, runs) {
    const seed = drawn ? ` of seed ${drawn.seed}` : '';
    const judged = runs.some((run) => run.summary?.limits?.length);
    const passed = judged ? `, ${digits(100 * group.passed / group.runs, 4)} % passed` : '';

    return `${count(group.runs, 'run')}${seed}${passed}; the worst is ${group.worst.dir}: ` +
           group.worst.words;
}

function distributionTable({figures}) {
    const names = ['min', 'mean', 'p5', 'p50', 'p95', 'p99', 'max'];

    return table(['figure', 'runs', ...names, 'of run'], figures.map((one) => ({cells: [
        withUnit(`${one.measure} ${measureFigures[one.figure]?.words ?? one.figure}`,
                 one.unit && `(${one.unit})`),
        one.runs, ...names.map((name) => one[name]), one.worst]})));
}

/* Runs that differ only by chance. If there are many groups, their figures are initially closed. */
function distributionGroup(sweep, group, open) {
    const runs = sweep.runs.slice(group.first, group.first + group.runs);
    const grid = element('div', {class: 'grid'});

    return {made: element('div', {}, group.of ? element('h3', {}, group.of) : null,
                          element('p', {}, groupWords(sweep, group, runs)),
                          element('details', {open}, element('summary', {}, 'distributions'), grid,
                                  distributionTable(group))),
            draw: () => spreadsOf(group, runs).forEach((spread) => drawSpread(grid, spread))};
}

function distributionParts(sweep) {
    const groups = sweep.distributions ?? [];

    return groups.map((group) => distributionGroup(sweep, group, groups.length < 4));
}

/* --- maps ------------------------------------------------------------------------------------- */

const stateOfVerdict = {passed: 'good', valid: 'good', failed: 'bad', error: 'bad',
                        inconclusive: 'faint'};

function mapCell(measure, figure, unit, {x, y, runs: [run]}) {
    const value = figureValue(run, measure, figure);
    const text = Number.isFinite(value) ? shownNumber(value, 3) : '';
    const said = value === Infinity ? 'does not settle' : withUnit(shownNumber(value), unit);

    return {x, y, text, state: value === Infinity ? 'doubt' : 'none',
            value: Number.isFinite(value) ? value : undefined, say: `${said}; ${verdictOf(run)}`};
}

/* For several runs in a cell, which differ by chance: how many passed. */
function verdictCell({x, y, runs}) {
    const passed = runs.filter((run) => stateOfVerdict[verdictOf(run)] === 'good').length;
    const [run] = runs, verdict = verdictOf(run);

    if (runs.length > 1)
        return {x, y, value: 100 * passed / runs.length, text: digits(100 * passed / runs.length, 3),
                say: `${passed} of ${runs.length} runs passed`};
    return {x, y, state: stateOfVerdict[verdict] ?? 'none',
            say: run.summary?.limits?.find((limit) => limit.verdict === 'failed')?.words ?? verdict};
}

/* The cells of two keys: [{x, y, runs}], if several keys vary that are not drawn. */
function gridOf(sweep) {
    const [first, second, ...more] = varyingKeys(sweep).filter(({drawn}) => !drawn);

    if (!second || more.length || sweep.bisection)
        return null;
    const values = (key) => [...new Set(sweep.runs.map((run) => run.values?.[key.i]))];
    const y = {label: keyTitle(first), values: values(first)};
    const x = {label: keyTitle(second), values: values(second)};
    const cells = new Map();
    for (const run of sweep.runs) {
        const key = `${run.values[first.i]}\n${run.values[second.i]}`;
        const cell = cells.get(key) ?? {x: x.values.indexOf(run.values[second.i]),
                                        y: y.values.indexOf(run.values[first.i]), runs: []};
        cell.runs.push(run);
        cells.set(key, cell);
    }
    return {x, y, cells: [...cells.values()]};
}

function mapFigure(title, grid, cells, unit, states) {
    const place = element('div', {class: 'map'});

    return {made: element('figure', {}, element('figcaption', {}, element('h3', {}, title)), place),
            draw: () => new HeatMap(place, {label: title, unit, x: grid.x, y: grid.y, cells, states})};
}

function mapParts(sweep) {
    const grid = gridOf(sweep), first = firstMeasure(sweep.runs.find((run) => run.summary)?.summary);
    const several = grid?.cells.some(({runs}) => runs.length > 1);
    const judged = sweep.runs.some((run) => run.summary?.limits?.length);
    const parts = [];

    if (!grid)
        return [];
    if (judged)
        parts.push(mapFigure(several ? 'Runs that passed (%)' : 'Which runs keep their limits', grid,
                             grid.cells.map(verdictCell), '%',
                             {...heatStates, doubt: 'inconclusive'}));
    for (const [figure, {words, unit = first?.unit}] of Object.entries(measureFigures)) {
        const cells = grid.cells.map((cell) => mapCell(first?.name, figure, unit, cell));
        if (!several && figure !== 'mean' && cells.some(({state, value}) => state === 'doubt' ||
                                                                           value !== undefined))
            parts.push(mapFigure(withUnit(`${first.name}: ${words}`, `(${unit})`), grid, cells, unit));
    }
    return parts;
}

/* --- bisection -------------------------------------------------------------------------------- */

/* The runs in the order of the trials. */
function triedRuns({bisection, runs}) {
    const path = bisection?.path ?? [];

    return path.map((dir) => runs.find((run) => run.label === dir)).filter(Boolean);
}

/* The values of the runs in the order of trials, marked as passed or failed. */
function pathPart(sweep) {
    const tried = triedRuns(sweep), i = sweep.keys.findIndex(({key}) => key === sweep.bisection.key);
    const key = sweep.keys[i], place = element('div', {class: 'plot'});
    const value = (run) => Number(run.values[i]);
    const curve = (name, more, wanted) => {
        const at = tried.map((_, k) => k).filter((k) => wanted(verdictOf(tried[k])));
        const values = at.map((k) => value(tried[k])), x = at.map((k) => k + 1);
        return {name, unit: key.unit, ...more,
                curve: new Curve({x, end: x, low: values, high: values, rows: x.map(() => 1),
                                  apart: x.map(() => 0)}),
                say: (k) => `run ${x[k]}: ${withUnit(tried[at[k]].values[i], key.unit)}, ` +
                            verdictOf(tried[at[k]])};
    };
    const passes = (verdict) => stateOfVerdict[verdict] === 'good';

    return {made: element('figure', {class: 'path'},
                          element('figcaption', {}, element('h3', {}, 'The values that were tried')),
                          place),
            draw: () => new Plot(place, {
                label: 'The values that were tried',
                x: {label: 'run', whole: [0.5, tried.length + 0.5], counts: true},
                y: {label: key.words, unit: key.unit},
                curves: [curve('tried', {dashed: true}, () => true),
                         curve('passes', {ink: 'good', dots: 4}, passes),
                         curve('fails', {ink: 'bad', dots: 4}, (verdict) => !passes(verdict))]})};
}

function bisectionParts(sweep) {
    if (!sweep.bisection)
        return [];
    const words = {made: element('p', {}, element('strong', {}, sweep.bisection.words)),
                   draw: () => {}};

    return triedRuns(sweep).length ? [words, pathPart(sweep)] : [words];
}

/* "The largest controller period that passes is 45.46 µs" */
function bisectionHeadline({bisection, keys}) {
    const key = keys.find(({key: name}) => name === bisection.key);

    return bisection.found && key ? `The ${bisection.which} ${key.words} that passes is ` +
                                    withUnit(bisection.passes, key.unit) : bisection.words;
}

/* --- the runs --------------------------------------------------------------------------------- */

function whyNot({summary, status}) {
    const limit = summary?.limits?.find(({verdict}) => verdict === 'failed' ||
                                                       verdict === 'inconclusive');

    return summary?.validity?.reasons?.[0] ?? (limit && `${limit.name}: ${limit.words}`) ??
           (status > 0 && status !== 4 ? `ended with status ${status}` : '');
}

/* Infinite: it does not settle. */
function neverOr(figures) {
    return figures?.settled === false ? Infinity : figures?.settling_ms;
}

/* The greatest number of events of a run. */
function eventsMost(runs) {
    return runs.reduce((most, run) => Math.max(most, firstMeasure(run.summary)?.after?.length ?? 0), 0);
}

/* The events that have columns of their own: "after load 10 to 8 Ohm at 0.2 s"; "after event 1" if
 * it differs from run to run. */
function eventHeads({runs}) {
    const most = eventsMost(runs);
    const words = (i) => {
        const [first, ...others] = new Set(runs.map((run) => firstMeasure(run.summary)?.after?.[i]?.event)
                                               .filter(Boolean));
        return `after ${others.length ? `event ${i}` : first}`;
    };

    return most > 1 ? Array.from({length: Math.min(most, 8)}, (_, i) => words(i)) : [];
}

function sweepTable(sweep) {
    const keys = varyingKeys(sweep), tried = triedRuns(sweep);
    const measure = firstMeasure(sweep.runs.find((run) => run.summary)?.summary);
    const inRealTime = sweep.runs.some((run) => run.summary?.mode === 'realtime');
    const named = sweep.drawn || sweep.runs.some((run) => /^point/.test(run.label));
    const events = eventHeads(sweep);
    const heads = ['verdict', named && 'run', tried.length > 0 && 'tried', ...keys.map(keyTitle),
                   'limits kept', `${measure?.name ?? 'measure'} settles at the longest in (ms)`,
                   'greatest overshoot %',
                   withUnit('p-p after the last event', measure?.unit && `(${measure.unit})`),
                   ...events.flatMap((words) => [`${words}: settles in (ms)`,
                                                 `${words}: beyond %`]),
                   inRealTime && 'missed at most (%)', 'why'];
    const rows = sweep.runs.map((run) => {
        const one = firstMeasure(run.summary);
        const cells = [verdictOf(run), named && run.label,
                       tried.length > 0 && tried.indexOf(run) + 1,
                       ...keys.map(({i}) => numberOr(run.values[i])),
                       keptWords(run.summary?.limits),
                       neverOr(one), one?.overshoot_pct, one?.pp,
                       ...events.flatMap((_, i) => {
                           const after = one?.after?.[i];
                           return [neverOr(after), after?.overshoot_pct ?? after?.deviation_pct];
                       }), inRealTime && worstMissed(run.summary ?? {}), whyNot(run)];
        return {state: verdictOf(run), cells: cells.filter((cell) => cell !== false)};
    });

    if (sweep.drawn) /* their order has no meaning */
        rows.sort((a, b) => verdictsOfRuns.indexOf(a.state) - verdictsOfRuns.indexOf(b.state));
    return longTable(heads.filter((head) => head !== false), rows);
}

/* A value of a key is a number or a text. */
function numberOr(text) {
    return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/* A row for each limit, over all runs. */
function sweepLimitRow(runs, name) {
    const spread = spreadOfLimit(runs, name);
    const verdicts = runs.map((run) => run.summary?.limits?.find((limit) => limit.name === name)?.verdict);
    const times = (wanted) => verdicts.filter((verdict) => verdict === wanted).length;
    const [first] = spread.limits, beyond = first?.most ?? true ? greatestOf : leastOf;
    const values = spread.entries.map(({value}) => value);
    const worst = beyond(values), at = spread.values.indexOf(worst);
    const state = ['failed', 'inconclusive', 'skipped'].find((verdict) => times(verdict)) ?? 'passed';

    return {state, cells: [
        badge(state), name, spread.limits.map((limit) => boundWords(limit, spread.unit)).join(', '),
        times('passed'), times('failed'), times('inconclusive'),
        spread.never ? `none in ${count(spread.never, 'run')}` : withUnit(digits(worst), spread.unit),
        spread.never ? '' : runs[at]?.label]};
}

function sweepLimits({runs}) {
    const names = [...new Set(runs.flatMap((run) => run.summary?.limits?.map(({name}) => name) ?? []))];

    return names.length ? table(['', 'limit', 'bound', 'passed', 'failed', 'inconclusive',
                                 'worst value', 'of run'],
                                names.map((name) => sweepLimitRow(runs, name))) : null;
}

/* --- all -------------------------------------------------------------------------------------- */

/* "Monte Carlo of 200 runs" */
function sweepKind({bisection, drawn, runs}) {
    const kind = bisection ? 'Bisection' : drawn ? 'Monte Carlo' : 'Sweep';

    return `${kind} of ${count(runs.length, 'run')}`;
}

function sweepSection(sweep) {
    const parts = [...bisectionParts(sweep), ...distributionParts(sweep)], maps = mapParts(sweep);
    const grid = element('div', {class: 'grid maps'}, maps.map(({made}) => made));
    const made = section(sweepKind(sweep), element('p', {class: 'faint'}, sweep.label),
                         sweep.drawn ? element('p', {}, `Drawn from seed ${sweep.drawn.seed}: ` +
                                                        `${drawnWords(sweep)}.`) : null,
                         ...parts.map((part) => part.made), maps.length ? grid : null,
                         element('h3', {}, 'Runs'), sweepTable(sweep),
                         sweepLimits(sweep) && element('h3', {}, 'Limits'), sweepLimits(sweep));

    return {made, draw: () => [...parts, ...maps].forEach((part) => part.draw())};
}

/* The same table as `hiloco sweep` writes, without the times of the nodes. */
function sweepCsv({keys, runs}) {
    const events = Array.from({length: eventsMost(runs)}, (_, i) => i);
    const lines = [[...keys.map(({key}) => key), 'status', 'verdict', 'settled', 'overshoot_pct',
                    'overshoot_event', 'settling_ms', 'settling_event', 'rise_time_ms',
                    'steady_error', 'mean', 'pp', 'dir',
                    ...events.flatMap((i) => ['', '_settled', '_overshoot_pct', '_deviation_pct',
                                              '_rise_time_ms', '_settling_ms', '_steady_error',
                                              '_pp'].map((end) => `event_${i}${end}`))]];

    for (const run of runs) {
        const one = firstMeasure(run.summary);
        const after = events.map((i) => one?.after?.[i]).flatMap((at) =>
            [at?.event, at?.settled, at?.overshoot_pct, at?.deviation_pct,
             at?.rise_time_ms, at?.settling_ms, at?.steady_error, at?.pp]);
        lines.push([...keys.map((_, i) => run.values[i]), run.status ?? -1, run.summary?.verdict,
                    one?.settled, one?.overshoot_pct, one?.overshoot_event, one?.settling_ms,
                    one?.settling_event, one?.rise_time_ms, one?.steady_error, one?.mean,
                    one?.pp, run.label, ...after]);
    }
    return lines.map((line) => `${line.map(csvCell).join(',')}\n`).join('');
}
