'use strict';

/*
 * Histograms of times: since the page was opened, and during the last five seconds.
 */
class Bars {
    constructor(parent, label) {
        this.label = label;
        this.canvas = element('canvas', {class: 'bars', role: 'img', 'aria-label': label});
        this.all = this.recent = this.edges = null;
        this.last = [];
        parent.append(element('h3', {}, label), this.canvas);
        this.paint = new Paint(this.canvas);
        new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    static recently = 20; /* messages; four come per second */

    take({edges_us, counts}) {
        if (!this.edges || this.edges.length !== edges_us.length) {
            this.edges = edges_us;
            this.all = new Float64Array(counts.length);
            this.last = [];
        }
        counts.forEach((count, i) => this.all[i] += count);
        this.last.push(counts);
        if (this.last.length > Bars.recently)
            this.last.shift();
        this.recent = counts.map((_, i) => this.last.reduce((sum, one) => sum + one[i], 0));
        this.draw();
    }

    static quantile(counts, edges, share) {
        const total = counts.reduce((sum, count) => sum + count, 0);
        let seen = 0;

        for (let i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (total > 0 && seen >= share * total)
                return edges[i + 1];
        }
        return NaN;
    }

    draw() {
        const width = this.canvas.clientWidth, height = this.canvas.clientHeight;

        if (!this.all || !width)
            return;
        const used = [...this.all.keys()].filter((i) => this.all[i] > 0);
        const context = this.paint.begin(this.canvas);
        if (used.length === 0) {
            context.fillStyle = this.paint.ink.faint;
            this.paint.text('none yet', 4, height / 2, 'left', 'middle');
            return;
        }
        const from = Math.max(0, used[0] - 1), to = Math.min(this.all.length, used.at(-1) + 2);
        const wide = (width - 8) / (to - from), bottom = height - 16;
        const decades = Math.log10(Math.max(...this.all)) + 0.3;
        const bar = (counts, colour) => {
            context.fillStyle = colour;
            for (let i = from; i < to; i++) {
                const tall = counts[i] > 0 ? (Math.log10(counts[i]) + 0.3) / decades * (bottom - 4) : 0;
                context.fillRect(4 + (i - from) * wide, bottom - tall, Math.max(1, wide - 1), tall);
            }
        };
        bar(this.all, this.paint.ink.grid);
        bar(this.recent, this.paint.colourOf(0));
        this.tics(context, from, to, wide, bottom);
        this.words();
    }

    tics(context, from, to, wide, bottom) {
        let free = 0;

        context.fillStyle = this.paint.ink.faint;
        for (let i = from; i < to; i++) {
            const at = 4 + (i - from) * wide, text = shortTime(this.edges[i] * 1e-6);
            const end = at + context.measureText(text).width;
            if (at < free || end > this.paint.width)
                continue;
            context.fillRect(at, bottom, 1, 3);
            this.paint.text(text, at + 2, bottom + 3, 'left', 'top');
            free = end + 14;
        }
    }

    words() {
        const at = (counts, share) => shortTime(Bars.quantile(counts, this.edges, share) * 1e-6);

        this.canvas.setAttribute('aria-label',
            `${this.label}: in the last five seconds half below ${at(this.recent, 0.5)}, ` +
            `99 of 100 below ${at(this.recent, 0.99)}; at most ${at(this.all, 1)}`);
        this.canvas.title = this.canvas.getAttribute('aria-label');
    }
}
