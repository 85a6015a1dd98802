'use strict';

/* Creates an element of the page. Texts are inserted as text, never as markup. */
function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);

    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith('on'))
            made.addEventListener(key.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            made.setAttribute(key, value === true ? '' : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
}

/* Offers a text to the reader as a file. */
function download(name, type, ...texts) {
    const address = URL.createObjectURL(new Blob(texts, {type}));
    const link = element('a', {href: address, download: name});

    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
}
