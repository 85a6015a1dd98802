'use strict';

/* Shared by plots and maps: a canvas as large as its place, and the colours of the style sheet. */

/* At least twice the resolution of the screen, because the page may be printed. */
function fitCanvas(canvas, area) {
    const scale = Math.max(2, window.devicePixelRatio || 1);
    const width = area.clientWidth, height = area.clientHeight;
    const context = canvas.getContext('2d');

    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return {context, width, height};
}

/* The style sheet's colours, which differ for dark, light and paper: {ink, faint ...}. */
function inkOf(area, ...names) {
    const style = getComputedStyle(area);

    return Object.fromEntries(names.map((name) =>
        [name.replaceAll('-', '_'), style.getPropertyValue(`--${name}`).trim()]));
}

/* Beside a position, where there is room for it. */
function placeTip(tip, x, y, width) {
    tip.hidden = false;
    tip.style.top = `${Math.max(0, y - 12)}px`;
    tip.style.left = x < width / 2 ? `${x + 14}px` : 'auto';
    tip.style.right = x < width / 2 ? 'auto' : `${width - x + 14}px`;
}
