'use strict';

/*
 * The page: passes the run's messages to the screen and the panels, and the reader's actions to the
 * run.
 */
class Scope {
    static kept = 8; /* number of captures */
    static keptBytes = 64e6;
    static windows = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60];
    static modes = [['roll', 'Roll'], ['capture', 'Capture'], ['xy', 'XY'], ['spectrum', 'Spectrum']];

    constructor() {
        this.captures = [];
        this.held = false;
        this.config = Scope.remembered();
        this.buildScreen();
        this.buildSide();
        this.showMode();
        this.link = new Link({
            connection: (text, up) => this.tellConnection(text, up),
            hello: (message) => this.begin(message),
            state: (message) => this.takeState(message),
            roll: (message, values) => this.takeRoll(message, values),
            capture: (message, values) => this.takeCapture(message, values),
            set: (message) => this.takeSet(message),
            refused: ({text}) => this.tell(text),
            ended: ({status}) => this.end(status),
        });
    }

    /* --- the reader's choices are kept in the address ------------------------------------------ */

    static remembered() {
        try {
            return JSON.parse(decodeURIComponent(location.hash.slice(1)));
        } catch {
            return {};
        }
    }

    remember() {
        const {mode, window_s, across} = this.screen;
        const config = {signals: this.chooser.chosen.map(({name}) => name), mode, window_s, across,
                        apart: this.screen.lanes.apart, trigger: this.trigger.set};

        history.replaceState(null, '', `#${encodeURIComponent(JSON.stringify(config))}`);
    }

    /* --- elements of the page ----------------------------------------------------------------- */

    buildScreen() {
        const place = document.getElementById('screen'), {config} = this;

        this.tools = element('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Screen'});
        place.append(this.tools);
        this.screen = new Screen(place);
        this.screen.mode = config.mode ?? 'roll';
        this.screen.window_s = config.window_s ?? 1;
        this.screen.across = config.across ?? null;
        this.screen.lanes.apart = config.apart ?? false;
        this.screen.onResize = seldom(300, () => this.screen.mode === 'roll' && this.watch());
        this.table = new Table(place, this.screen, ({name}) => this.chooser.choose({name}, false));
        this.chooser = new Chooser(document.querySelector('#chooser .panel'), () => this.choose());
        this.chooser.colourOf = (number) => this.screen.paint.colourOf(number);
        this.buildTools();
        setInterval(() => this.table.show(), 200);
    }

    buildTools() {
        this.tabs = element('div', {class: 'tabs', role: 'group', 'aria-label': 'View'},
                            Scope.modes.map(([mode, words]) =>
                                element('button', {type: 'button', 'data-mode': mode,
                                                   onclick: () => this.setMode(mode)}, words)));
        this.windows = choice('Window', Scope.windows.map((s) => [String(s), duration(s)]),
                              String(this.screen.window_s), () => {
            this.screen.window_s = Number(this.windows.value);
            this.watch();
        });
        this.across = choice('X axis', [], '', () => {
            this.screen.across = this.across.value;
            this.screen.touch();
            this.remember();
        });
        this.past = choice('Captures', [], '', () => this.showPast());
        this.holder = toggle('Hold', false, (on) => this.hold(on), {title: 'Stand still (space)'});
        this.armer = element('button', {type: 'button', onclick: () => this.arm()}, 'Arm');
        this.unseen = element('span', {class: 'field', title: 'They came too fast for the scope'});
        this.tools.append(this.tabs, field('Window', this.windows), field('X', this.across),
                          field('Capture', this.past), this.holder, this.armer,
                          toggle('Cursors', false, (on) => this.showCursors(on)),
                          toggle('Apart', this.screen.lanes.apart, (on) => this.setApart(on),
                                 {title: 'A lane for each signal'}),
                          toggle('Lock scales', false, (on) => this.screen.lanes.locked = on),
                          element('button', {type: 'button', onclick: () => this.saveCsv()}, 'CSV'),
                          element('button', {type: 'button', onclick: () => this.savePng()}, 'PNG'),
                          this.unseen);
        document.addEventListener('keydown', (event) => this.key(event));
    }

    buildSide() {
        const side = document.getElementById('side');
        const [trigger, times, nodes, tuning] = [panel('Trigger', 'trigger'), panel('Times', 'times'),
                                                 panel('Nodes', 'nodes'), panel('Tuning', 'tuning')];

        side.append(trigger, times, nodes, tuning);
        this.trigger = new Trigger(trigger, () => this.setMode(this.screen.mode === 'roll'
                                                               ? 'capture' : this.screen.mode));
        Object.assign(this.trigger.set, this.config.trigger);
        this.trigger.show();
        this.late = new Bars(times, 'How late steps begin');
        this.roundTrip = new Bars(times, 'Round trips');
        this.nodes = new Nodes(nodes);
        this.tuning = new Tuning(tuning, (change) => this.link.say({set: [change]}));
    }

    /* --- messages from the run ---------------------------------------------------------------- */

    begin(hello) {
        this.hello = hello;
        document.title = `${hello.run} - hiloco scope`;
        put(document.getElementById('run'), hello.run);
        const known = this.chooser.chosen.map(({name}) => name);
        const wanted = known.length > 0 ? known : this.config.signals ??
                                                  hello.signals.slice(0, 2).map(({name}) => name);
        this.chooser.offer(hello.signals, wanted);
        this.tuning.offer(hello.parameters, hello.allow_set);
        this.buildControl();
        this.choose();
    }

    buildControl() {
        const {virtual, allow_set} = this.hello, place = document.getElementById('control');
        const button = (words, control) =>
            element('button', {type: 'button', onclick: () => this.link.say({control})}, words);

        place.hidden = !allow_set;
        this.pauser = button('Pause', 'pause');
        this.pauser.addEventListener('click', () => this.tell(''));
        place.replaceChildren(...(virtual ? [this.pauser, button('Resume', 'resume'),
                                             button('Step', 'step')] : []), button('Stop', 'stop'));
    }

    takeState(state) {
        const missed = state.nodes.reduce((sum, node) => sum + node.missed, 0);
        const health = document.getElementById('health');

        put(document.getElementById('clock'), `${state.elapsed_s.toFixed(3)} of ` +
            `${digits(this.hello.duration_s)} s${this.hello.virtual ? ', virtual' : ''}` +
            `${state.paused ? ', paused' : ''}`);
        put(health, missed > 0 ? count(missed, 'missed step') : 'no step missed');
        health.classList.toggle('bad', missed > 0);
        this.nodes.take(state.nodes);
        this.late.take(state.late);
        this.roundTrip.take(state.round_trip);
    }

    takeRoll(message, values) {
        if (this.held || this.screen.mode !== 'roll')
            return;
        this.screen.takeRoll(message, values);
        this.unseen.textContent = message.lost > 0 ? `${message.lost} steps not seen` : '';
    }

    takeCapture({number, trigger, lost, traces}, values) {
        const capture = {number, trigger, lost, traces: new Map(), bytes: values.byteLength};
        let at = 0, from = Infinity, to = -Infinity;

        for (const {name, count: size} of traces) {
            const times = values.subarray(at, at + size);
            capture.traces.set(name, {times, values: values.subarray(at + size, at + 2 * size)});
            at += 2 * size;
            if (size > 0)
                [from, to] = [Math.min(from, times[0]), Math.max(to, times[size - 1])];
        }
        capture.origin = trigger ? trigger.time_s : from;
        capture.extent = [from - capture.origin, Math.max(to, from + 1e-9) - capture.origin];
        this.captures.push(capture);
        while (this.captures.length > Scope.kept ||
               (this.captures.length > 1 && this.keptBytes() > Scope.keptBytes))
            this.captures.shift();
        if (this.held || this.screen.mode === 'roll')
            return;
        this.screen.showCapture(capture);
        this.listPast(capture);
    }

    keptBytes() {
        return this.captures.reduce((sum, {bytes}) => sum + bytes, 0);
    }

    takeSet(message) {
        this.tuning.take(message);
        this.screen.marks.push({time_s: message.time_s,
                                text: `${message.name} = ${digits(message.value)}`});
        if (this.screen.marks.length > 50)
            this.screen.marks.shift();
        this.screen.touch();
    }

    end(status) {
        this.tellConnection(status === null ? 'the run was killed' :
                            status === 0 ? 'the run has ended' :
                            `the run has ended, with status ${status}`, false);
    }

    tellConnection(text, up) {
        const place = document.getElementById('link');

        put(place, text);
        place.classList.toggle('bad', !up);
    }

    /* What the run refused, and why. */
    tell(text) {
        const place = document.getElementById('told');

        put(place, text);
        place.hidden = text === '';
        clearTimeout(this.untell);
        this.untell = setTimeout(() => place.hidden = true, 10000);
    }

    /* --- the reader's actions ----------------------------------------------------------------- */

    choose() {
        const {chosen} = this.chooser;

        this.screen.show(chosen);
        this.table.arrange();
        this.trigger.offer(chosen, (name) => this.rangeOf(name));
        if (!chosen.some(({name}) => name === this.screen.across))
            this.screen.across = chosen[0]?.name ?? null;
        this.across.replaceChildren(...chosen.map(({name}) => element('option', {value: name}, name)));
        this.across.value = this.screen.across;
        this.watch();
    }

    rangeOf(name) {
        const trace = this.screen.traces.find((one) => one.name === name);
        const found = trace && this.screen.samplesOf(trace);

        return found ? {low: readings(found.times, found.lows).min,
                        high: readings(found.times, found.highs).max} : {};
    }

    /* Requests the visible data. */
    watch() {
        const {screen} = this, signals = screen.traces.map(({name}) => name);

        if (!this.hello)
            return;
        this.unseen.textContent = '';
        if (screen.mode === 'roll') {
            screen.clear();
            this.link.say({watch: {signals, mode: 'roll', window_s: screen.window_s,
                                   columns: screen.columns}});
        } else {
            const {set} = this.trigger;
            screen.level = set.on === 'level' ? {name: set.signal, value: set.level} : null;
            screen.look(null);
            this.link.say({watch: {signals, mode: 'trigger', ...this.trigger.message()}});
        }
        this.remember();
    }

    setMode(mode) {
        const before = this.screen.mode;

        if (this.trigger.set.level === null && mode !== 'roll')
            this.trigger.findMiddle();
        this.trigger.show();
        this.screen.mode = mode;
        if (before === 'roll' || mode === 'roll')
            this.screen.showCapture(null);
        this.captures = before === 'roll' || mode === 'roll' ? [] : this.captures;
        this.setHold(false);
        this.showMode();
        this.watch();
    }

    showMode() {
        const {mode} = this.screen;

        for (const tab of this.tabs.children)
            tab.setAttribute('aria-pressed', String(tab.dataset.mode === mode));
        this.windows.parentNode.hidden = mode !== 'roll';
        this.across.parentNode.hidden = mode !== 'xy';
        this.past.parentNode.hidden = this.armer.hidden = mode === 'roll';
        this.screen.touch();
    }

    hold(on) {
        this.setHold(on);
        if (!on && this.screen.mode === 'roll')
            this.watch();
    }

    setHold(on) {
        if (this.held !== on)
            this.link?.say({hold: on});
        this.held = on;
        this.holder.setAttribute('aria-pressed', String(on));
    }

    arm() {
        this.setHold(false);
        this.link.say({arm: true});
    }

    /* The kept captures, newest first. */
    listPast(shown) {
        const words = ({number, trigger, lost}) =>
            `${number}: ${trigger ? `${trigger.time_s.toFixed(6)} s, step ${trigger.step}` : 'untriggered'}` +
            `${lost > 0 ? `, ${lost} lost` : ''}`;

        this.past.replaceChildren(...this.captures.toReversed().map((capture) =>
            element('option', {value: String(capture.number)}, words(capture))));
        this.past.value = String(shown.number);
    }

    showPast() {
        const capture = this.captures.find(({number}) => String(number) === this.past.value);

        this.setHold(true);
        this.screen.showCapture(capture);
    }

    showCursors(on) {
        this.screen.cursors.shown = on;
        this.screen.touch();
        this.screen.placeCursors();
        this.table.show();
    }

    setApart(on) {
        this.screen.lanes.apart = on;
        this.screen.lanes.arrange(this.screen.traces);
        this.screen.touch();
        this.remember();
    }

    /* The space bar holds the display, unless an element with the focus uses it. */
    key(event) {
        if (event.key !== ' ' || event.target.closest('input, select, button, summary, textarea'))
            return;
        event.preventDefault();
        this.hold(!this.held);
    }

    saveCsv() {
        download(`${this.hello.run}.csv`, 'text/csv', csvOfScreen(this.screen));
    }

    savePng() {
        const title = `${this.hello.run}, ${document.getElementById('clock').textContent}`;

        pngOfScreen(this.screen, title, (blob) => download(`${this.hello.run}.png`, 'image/png', blob));
    }
}

const scope = new Scope();
