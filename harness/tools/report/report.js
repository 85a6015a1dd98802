'use strict';

/* The report: verdict, figures, timing, machine, scenario, data. */

function section(title, ...parts) {
    return element('section', {}, element('h2', {}, title), ...parts);
}

/* A part for each run, with its name above it if there are several. */
function eachRun(runs, part) {
    return runs.map((run) => {
        const made = part(run);
        return made && element('div', {}, runs.length > 1 ? element('h3', {}, run.label) : null,
                               made);
    }).filter(Boolean);
}

function sectionOfRuns(title, runs, part) {
    const parts = eachRun(runs, part);

    return parts.length ? section(title, ...parts) : null;
}

/* --- at the top ------------------------------------------------------------------------------- */

function headline(runs, sweeps) {
    const [sweep] = sweeps;

    if (sweep?.bisection && sweep.runs.length === runs.length)
        return element('p', {class: `headline ${sweep.bisection.found ? 'passed' : 'inconclusive'}`,
                             role: 'status'}, bisectionHeadline(sweep));
    const verdicts = runs.map(verdictOf);
    const worst = ['error', 'failed', 'inconclusive', 'not run', 'passed', 'valid']
        .find((verdict) => verdicts.includes(verdict));
    const passed = verdicts.filter((verdict) => verdict === 'passed' || verdict === 'valid').length;
    const words = runs.length > 1 ? `${passed} of ${runs.length} runs passed` : worst;
    const judged = runs.some((run) => run.summary?.limits?.length);

    return element('p', {class: `headline ${worst}`, role: 'status'}, words,
                   judged ? null : element('small', {}, ' (no limits were set)'));
}

/* A link to a limit's figure on this page. */
function figureLink(name) {
    const id = name.replace(/\.svg$/, '');
    const figure = [...document.querySelectorAll('figure')]
        .find((one) => one.id === `figure-${id}` || one.id.startsWith(`figure-${id}-`));

    return figure ? element('a', {href: `#${figure.id}`}, id) : id;
}

function limitsPart({summary}) {
    return summary?.limits?.length ? limitsTable(summary.limits, figureLink) : null;
}

function reasonsPart({summary, no_record: why}) {
    const reasons = [...(summary?.failures?.each ?? []).map(({what}) => what).filter(Boolean),
                     ...(summary?.validity?.reasons ?? []).map((reason) => `not valid: ${reason}`),
                     ...(summary?.realtime?.degraded ?? []).map((reason) => `degraded: ${reason}`),
                     ...(summary?.recorder?.cut_off ? [`record cut off: ` +
                                                       summary.recorder.cut_off] : []),
                     ...(why ? [why] : [])];

    return reasons.length ? element('ul', {}, reasons.map((text) => element('li', {}, text))) : null;
}

/* --- the rest --------------------------------------------------------------------------------- */

function eventsPart({summary}) {
    return summary?.events?.length ? eventsTable(summary.events) : null;
}

function faultsPart({summary}) {
    const faults = summary?.faults;

    return Array.isArray(faults) && faults.length ? faultsTable(faults) : null;
}

function notesPart({record}) {
    const events = record?.events ?? [], more = events.length - notesMost;

    if (!events.length)
        return null;
    return element('div', {}, notesTable(events),
                   more > 0 ? element('p', {class: 'faint'},
                                      `and ${more} more: hiloco export has all`) : null);
}

function timingPart({record}) {
    return record?.histograms?.length ? timingTable(record.histograms) : null;
}

function missesPart({summary, trace}) {
    const misses = summary?.worst_misses ?? [], parts = [];

    if (misses.length)
        parts.push(missesTable(misses));
    if (trace?.worst?.length)
        parts.push(element('p', {}, 'Their causes, as the trace shows them:'),
                   causesTable(trace.worst));
    return parts.length ? element('div', {}, ...parts) : null;
}

function machinePart({summary}) {
    const machine = summary?.machine;

    if (!machine)
        return null;
    return element('div', {},
                   element('p', {}, `${machine.host}: ${machine.processor}, ` +
                                    `${count(machine.cpus, 'cpu')}, ${machine.kernel}; ` +
                                    `at ${machine.time}`),
                   findingsTable(machine.findings ?? []));
}

function scenarioPart(run, open) {
    return run.scenario && element('details', {open}, element('summary', {}, 'scenario.yaml'),
                                   element('pre', {}, run.scenario));
}

function dataPart(run, i) {
    const name = run.label.split('/').filter(Boolean).at(-1)?.replace(/[^\w.=,-]/g, '-') ?? 'run';
    const file = (text, type, content) => element('button', {
        type: 'button', onclick: () => download(`${name}-${text}`, type, content)}, text);

    return element('div', {class: 'tools'},
                   run.summary && file('summary.json', 'application/json',
                                       JSON.stringify(run.summary, null, 2)),
                   run.scenario && file('scenario.yaml', 'text/yaml', run.scenario),
                   run.trace && file('trace.json', 'application/json',
                                     JSON.stringify(run.trace, null, 2)),
                   element('span', {id: `run-${i}`}, run.dir));
}

/* --- all -------------------------------------------------------------------------------------- */

function titleOf(runs, sweeps) {
    const name = runs.find((run) => run.summary)?.summary.scenario ?? runs[0].label;

    if (sweeps[0]?.runs.length === runs.length)
        return `${name}: ${sweepKind(sweeps[0])}`;
    return runs.length > 1 ? count(runs.length, 'run') : name;
}

/* The scenario of one run serves for all runs of a sweep, except for the varying keys. */
function sweepScenario({scenario, runs}) {
    return scenario && element('details', {}, element('summary', {}, `scenario.yaml of ${runs[0].label}`),
                               element('pre', {}, scenario));
}

function sweepData(sweep) {
    const name = sweep.label.split('/').filter(Boolean).at(-1)?.replace(/[^\w.=,-]/g, '-') ?? 'sweep';

    return element('div', {class: 'tools'},
                   element('button', {type: 'button', onclick: () =>
                       download(`${name}-sweep.csv`, 'text/csv', sweepCsv(sweep))}, 'sweep.csv'),
                   element('span', {}, sweep.label));
}

async function drawReport({hiloco, made, runs, sweeps: told}) {
    const sweeps = told.map((sweep, i) => ({...sweep, runs: runs.filter((run) => run.sweep === i)}));
    const single = runs.filter((run) => run.sweep === undefined);
    const alone = single.filter((run) => !run.tested);
    const drawn = runs.filter((run) => run.sweep === undefined || run.record);
    const sections = sweeps.map(sweepSection);
    const figures = section('Figures');
    const timing = section('How late, how long, how old');
    const place = document.getElementById('report');
    const limits = element('div');

    document.documentElement.classList.add('drawn');
    place.replaceChildren(
        element('header', {}, element('h1', {}, titleOf(runs, sweeps)), headline(runs, sweeps),
                element('p', {class: 'faint'}, `hiloco ${hiloco}; report of ${made}`)),
        ...(single.length ? [runsTable(single)] : []), ...eachRun(single, reasonsPart), limits,
        ...sections.map((one) => one.made), figures);
    limits.replaceWith(...(sectionOfRuns('Limits', single, limitsPart) ? [limits] : []));
    sections.forEach((one) => one.draw());
    await drawFigures(figures, drawn, sweeps);
    if (limits.isConnected)
        limits.append(sectionOfRuns('Limits', single, limitsPart));
    if (!figures.querySelector('figure'))
        figures.append('Nothing was recorded that could be drawn.');
    place.append(...[
        sectionOfRuns('Events', alone, eventsPart),
        sectionOfRuns('Faults', alone, faultsPart),
        sectionOfRuns('What happened at the nodes', alone, notesPart),
        alone.some((run) => run.record?.histograms?.length) ? timing : null,
        sectionOfRuns('In the trace', alone, tracedPart),
        sectionOfRuns('Worst misses', alone, missesPart),
        sectionOfRuns('Whether the run can be believed', alone,
                      ({summary}) => summary?.validity && validityTable(summary.validity)),
        sectionOfRuns('Machine', alone, machinePart),
        sectionOfRuns('Scenario', alone, (run) => scenarioPart(run, runs.length === 1)),
        sweeps.length && !alone.length ? section('Scenario', ...sweeps.map(sweepScenario)) : null,
        section('Data', ...sweeps.map(sweepData), ...single.map(dataPart),
                element('p', {class: 'faint'},
                        'The record, trace.h5, has every row; hiloco export writes it as text.')),
    ].filter(Boolean));
    if (timing.isConnected) {
        drawHistograms(timing, alone);
        timing.append(...eachRun(alone, timingPart));
    }
    document.documentElement.classList.add('complete');
    performance.mark('complete');
}

/* Plots have other colours on paper, and when the screen turns dark or light. */
function redraw() {
    forgetColours();
    document.querySelectorAll('.plot, .map').forEach(({plot}) => plot?.paint());
}

window.addEventListener('beforeprint', () => {
    document.documentElement.classList.add('paper');
    redraw();
});
window.addEventListener('afterprint', () => {
    document.documentElement.classList.remove('paper');
    redraw();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
drawReport(JSON.parse(document.getElementById('data').textContent));
