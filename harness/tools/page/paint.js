'use strict';

/*
 * Draws on a canvas, for the plots and maps of a report and for the screen of the scope: with the
 * display's resolution, in the style sheet's colours, axes and curves.
 */
const paintFont = '12px system-ui, sans-serif';
const paintInks = ['paper', 'ink', 'faint', 'grid', 'mark', 'good', 'bad', 'doubt'];

/* The style sheet's colours, which differ for dark, bright and paper. They are read once for each. */
let pageColours = null;

function coloursOfPage() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(`--${name}`).trim();

    return {ink: Object.fromEntries(paintInks.map((name) => [name, of(name)])),
            hues: Array.from({length: 8}, (_, i) => of(`series-${i + 1}`)),
            map: Array.from({length: 4}, (_, i) => of(`map-${i + 1}`))};
}

/* To be called when the page turns from one to another, before anything is drawn. */
function forgetColours() {
    pageColours = null;
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', forgetColours);

class Paint {
    /* `finest`: the least number of dots a pixel; a page that may be printed needs two. */
    constructor(canvas, finest = 1) {
        this.canvas = canvas;
        this.finest = finest;
        this.context = canvas.getContext('2d');
    }

    /* Clears the canvas, which fills `area`. */
    begin(area) {
        const {context, canvas} = this, width = area.clientWidth, height = area.clientHeight;
        const scale = Math.max(this.finest, window.devicePixelRatio || 1);

        Object.assign(this, {width, height});
        if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale))
            Object.assign(canvas, {width: Math.round(width * scale), height: Math.round(height * scale)});
        context.setTransform(scale, 0, 0, scale, 0, 0);
        context.clearRect(0, 0, width, height);
        context.font = paintFont;
        context.lineWidth = 1;
        return context;
    }

    get colours() {
        return pageColours ??= coloursOfPage();
    }

    get ink() {
        return this.colours.ink;
    }

    /* Eight hues, then the same in a softer shade. */
    colourOf(number) {
        return this.colours.hues[number % 8] + (number % 16 < 8 ? '' : '90');
    }

    /* The colour of a map at `share`, 0 to 1. */
    shade(share) {
        const {map} = this.colours;
        const at = share * (map.length - 1), i = Math.min(Math.floor(at), map.length - 2);
        const parts = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
        const low = parts(map[i]), high = parts(map[i + 1]);

        return `rgb(${low.map((part, k) => Math.round(part + (at - i) * (high[k] - part))).join(' ')})`;
    }

    line(x1, y1, x2, y2) {
        this.context.beginPath();
        this.context.moveTo(x1, y1);
        this.context.lineTo(x2, y2);
        this.context.stroke();
    }

    dashed(x1, y1, x2, y2, colour) {
        this.context.strokeStyle = colour;
        this.context.setLineDash([4, 4]);
        this.line(x1, y1, x2, y2);
        this.context.setLineDash([]);
    }

    text(text, x, y, align, baseline, width) {
        Object.assign(this.context, {textAlign: align, textBaseline: baseline});
        this.context.fillText(text, x, y, width);
    }

    /* Text from below to above. */
    upright(text, x, y, length) {
        this.context.save();
        this.context.translate(x, y);
        this.context.rotate(-Math.PI / 2);
        this.text(text, 0, 0, 'center', 'middle', length);
        this.context.restore();
    }

    /* Vertical lines of an x axis between two heights, with its tics below. */
    axisX(axis, top, bottom, title) {
        const {context, ink} = this;

        Object.assign(context, {lineWidth: 1, strokeStyle: ink.grid, fillStyle: ink.ink});
        for (const tic of axis.tics((axis.stop - axis.start) / 90)) {
            const at = Math.round(axis.pixel(tic.value)) + 0.5;
            this.line(at, top, at, bottom);
            this.text(tic.text, at, bottom + 5, 'center', 'top');
        }
        this.text(title, (axis.start + axis.stop) / 2, bottom + 21, 'center', 'top',
                  axis.stop - axis.start);
    }

    /* Horizontal lines of a y axis between two values of x, with its tics on the left, and its
     * name. */
    axisY(axis, left, right, title) {
        const {context, ink} = this;

        Object.assign(context, {lineWidth: 1, strokeStyle: ink.grid, fillStyle: ink.ink});
        for (const tic of axis.tics((axis.start - axis.stop) / 36)) {
            const at = Math.round(axis.pixel(tic.value)) + 0.5;
            this.line(left, at, right, at);
            this.text(tic.text, left - 6, at, 'right', 'middle', left - 20);
        }
        context.strokeRect(left + 0.5, axis.stop + 0.5, right - left - 1, axis.start - axis.stop);
        this.upright(title, 9, (axis.start + axis.stop) / 2, axis.start - axis.stop);
    }

    inside(x, y, draw) {
        this.context.save();
        this.context.beginPath();
        this.context.rect(x.start, y.stop, x.stop - x.start, y.start - y.stop);
        this.context.clip();
        draw();
        this.context.restore();
    }

    /* A curve's paths (curve_paths.js), or a path alone. */
    stroke({line, band}, colour, {width = 1.4, dashed = false} = {}) {
        const {context} = this;

        Object.assign(context, {strokeStyle: colour, fillStyle: colour, lineWidth: width,
                                lineJoin: 'bevel'});
        if (band) {
            context.globalAlpha = 0.35;
            context.fill(band);
            context.globalAlpha = 1;
        }
        context.setLineDash(dashed ? [6, 4] : []);
        context.stroke(line);
        context.setLineDash([]);
    }

    dot(x, y, radius, colour) {
        this.context.fillStyle = colour;
        this.context.beginPath();
        this.context.arc(x, y, radius, 0, 2 * Math.PI);
        this.context.fill();
    }
}

/* Beside a position, where there is room for it. */
function placeTip(tip, x, y, width) {
    tip.hidden = false;
    tip.style.top = `${Math.max(0, y - 12)}px`;
    tip.style.left = x < width / 2 ? `${x + 14}px` : 'auto';
    tip.style.right = x < width / 2 ? 'auto' : `${width - x + 14}px`;
}
