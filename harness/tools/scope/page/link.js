'use strict';

/*
 * The connection to the run. It reconnects by itself as long as the server answers. `on` has a
 * function for each kind of message, and `connection`, which is told the state of the connection in
 * words.
 */
class Link {
    constructor(on) {
        this.on = on;
        this.over = false;
        this.open();
    }

    open() {
        this.socket = new WebSocket(`ws://${location.host}/live${location.search}`);
        this.socket.binaryType = 'arraybuffer';
        this.socket.onopen = () => this.on.connection('connected', true);
        this.socket.onmessage = ({data}) => this.take(data);
        this.socket.onclose = () => this.again();
    }

    again() {
        if (this.over)
            return;
        this.on.connection('no connection; trying again', false);
        setTimeout(() => this.open(), 1000);
    }

    say(message) {
        if (this.socket.readyState === WebSocket.OPEN)
            this.socket.send(JSON.stringify(message));
    }

    take(data) {
        const {head, values} = typeof data === 'string' ? {head: JSON.parse(data)}
                                                        : Link.unpack(data);

        if (head.kind === 'ended')
            this.over = true;
        this.on[head.kind]?.(head, values);
    }

    /* A message: the size of a JSON text, that text, and numbers. */
    static unpack(data) {
        const size = new DataView(data).getUint32(0, true);
        const text = new TextDecoder().decode(new Uint8Array(data, 4, size));

        return {head: JSON.parse(text), values: new Float64Array(data, 4 + size)};
    }
}
