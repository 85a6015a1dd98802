'use strict';

/* A cell of a CSV file: in quotes where it needs them. A text that a spreadsheet would compute begins with
 * an apostrophe; a number stays one. */
function csvCell(value) {
    const text = String(value ?? '');
    const tame = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;

    return /[",\r\n]/.test(tame) ? `"${tame.replaceAll('"', '""')}"` : tame;
}
