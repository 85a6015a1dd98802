'use strict';

/* What a trace shows of a run: times in each moment, and the parts of the round trips. */

const roundTripParts = {round_trip_us: 'round trip', answerer_wait_us: 'until the answerer steps',
                        answerer_push_us: 'until it has pushed', asker_wait_us: 'until the asker steps',
                        asker_step_us: 'its step', push_back_us: 'until it has pushed'};

/* A logarithmic axis has no 0: it is drawn as 1 ns. */
function pointsOf(name, points, more) {
    const x = points.map(([time]) => time), y = points.map(([, value]) => Math.max(value, 1e-3));

    return {name, unit: 'µs', dots: 1.5, ...more,
            curve: new Curve({x, end: x, low: y, high: y, rows: x.map(() => 1), apart: x.map(() => 1)})};
}

const tracedCurves = [['late_us', 'late', {colour: 0}], ['step_us', 'step', {colour: 2}],
                      ['round_trip_us', 'round trip', {colour: 3}],
                      ['missed_by_us', 'missed by', {ink: 'bad', dots: 2.5}]];

function drawTraced(section, run) {
    const plots = [];

    for (const over of run.trace.over_time) {
        const place = element('div', {class: 'plot'});
        const title = `${over.nodes}: the greatest in each moment of the trace`;
        const curves = tracedCurves.filter(([key]) => over[key].length)
            .map(([key, words, more]) => pointsOf(words, over[key], more));
        section.append(element('figure', {}, element('figcaption', {}, element('h3', {}, title)), place));
        plots.push(new Plot(place, {label: title, x: {label: 'time in the trace', unit: 's'},
                                    y: {label: over.nodes, unit: 'µs', log: true}, curves}));
    }
    linkPlots(plots);
}

function roundTripTable(trips) {
    return table(['from, to and back', 'part (µs)', 'p50', 'p99', 'p99.9', 'max'], trips.flatMap((trip) =>
        Object.entries(roundTripParts).map(([part, words]) => ({cells: [
            `${trip.asker}, ${trip.answerer}`, words, trip[part]?.p50, trip[part]?.p99, trip[part]?.p999,
            trip[part]?.max]}))));
}

/* Figures draw themselves when they are on the page. */
function tracedPart(run) {
    if (!run.trace?.over_time?.length)
        return null;
    const {events, lost, round_trips: trips} = run.trace, figures = element('div');

    drawTraced(figures, run);
    return element('div', {}, element('p', {}, `${count(events, 'event')}, ${lost} lost`), figures,
                   trips?.length ? roundTripTable(trips) : null);
}
