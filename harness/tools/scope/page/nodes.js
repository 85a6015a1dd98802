'use strict';

/*
 * The nodes as lines: state, missed steps, lateness, and age of inputs.
 */
class Nodes {
    static shown = 200;

    static columns = [
        ['name', 'Node', (node) => node.name],
        ['state', 'State', (node) => node.state],
        ['missed', 'Missed', (node) => String(node.missed)],
        ['late_p99_us', 'Late p99', (node) => Nodes.time(node.late_p99_us)],
        ['late_max_us', 'Late max', (node) => Nodes.time(node.late_max_us)],
        ['input_age_us', 'Input age', (node) => Nodes.time(node.input_age_us)],
    ];

    constructor(parent) {
        this.key = null; /* the order of arrival */
        this.nodes = [];
        this.lines = [];
        this.body = element('tbody');
        this.told = element('p', {class: 'faint'});
        this.heads = Nodes.columns.map(([key, title]) =>
            element('th', {scope: 'col'}, element('button', {type: 'button',
                                                             onclick: () => this.sort(key)}, title)));
        parent.append(element('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Nodes'},
                              element('table', {}, element('thead', {}, element('tr', {}, this.heads)),
                                      this.body)), this.told);
    }

    static time(us) {
        return us === null ? '-' : shortTime(us * 1e-6);
    }

    sort(key) {
        this.key = this.key === key ? null : key;
        this.heads.forEach((head, i) => head.setAttribute('aria-sort',
            Nodes.columns[i][0] === this.key ? 'descending' : 'none'));
        this.show();
    }

    take(nodes) {
        this.nodes = nodes;
        this.show();
    }

    /* Greatest first; texts alphabetically. */
    sorted() {
        const {key} = this;
        const of = (node) => node[key] ?? -1;

        if (!key)
            return this.nodes;
        return this.nodes.toSorted((a, b) => typeof of(a) === 'string' ? of(a).localeCompare(of(b))
                                                                       : of(b) - of(a));
    }

    show() {
        const nodes = this.sorted().slice(0, Nodes.shown);

        while (this.lines.length < nodes.length)
            this.lines.push(this.body.insertRow());
        while (this.lines.length > nodes.length)
            this.lines.pop().remove();
        nodes.forEach((node, i) => this.fill(this.lines[i], node));
        put(this.told, this.nodes.length > nodes.length
            ? `${nodes.length} of ${this.nodes.length} nodes` : '');
    }

    fill(line, node) {
        Nodes.columns.forEach(([, , text], i) => put(line.cells[i] ?? line.insertCell(), text(node)));
        line.className = node.missed > 0 || ['silent', 'failed', 'safe'].includes(node.state) ? 'bad' : '';
    }
}
