'use strict';

/* What plots and maps share: a canvas as large as its place, and the colours of the style sheet. */

/* Twice as fine as the screen, at least: it is printed, too. */
function fitCanvas(canvas, area) {
    const scale = Math.max(2, window.devicePixelRatio || 1);
    const width = area.clientWidth, height = area.clientHeight;
    const context = canvas.getContext('2d');

    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return {context, width, height};
}

/* For dark and light, and for paper: {ink, faint ...}. */
function inkOf(area, ...names) {
    const style = getComputedStyle(area);

    return Object.fromEntries(names.map((name) =>
        [name.replaceAll('-', '_'), style.getPropertyValue(`--${name}`).trim()]));
}

/* Beside a place, where there is room for it. */
function placeTip(tip, x, y, width) {
    tip.hidden = false;
    tip.style.top = `${Math.max(0, y - 12)}px`;
    tip.style.left = x < width / 2 ? `${x + 14}px` : 'auto';
    tip.style.right = x < width / 2 ? 'auto' : `${width - x + 14}px`;
}
