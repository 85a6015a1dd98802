// Validates files with a JSON Schema, by ajv, and says which do not fit and why:
//
//      node validate.js SCHEMA FILE...
//
// And compares what the schema of scenarios sees with what `hiloco check` sees, for the mistakes of
// a list such as mistakes.yaml. Each is put into the list's base, alone:
//
//      node validate.js SCHEMA --mistakes LIST HILOCO FOLDER
//
// Debian has node-ajv and node-js-yaml. Numbers and bools are as in YAML 1.2, which is what the YAML
// language server reads.
'use strict';
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');
const Ajv = require('ajv');
const yaml = require('js-yaml');

const [schema, ...rest] = process.argv.slice(2);
const text_of = (file) => fs.readFileSync(file, 'utf8');
const read = (file) => file.endsWith('.json') ? JSON.parse(text_of(file))
    : yaml.load(text_of(file), { schema: yaml.CORE_SCHEMA });
const fits = new Ajv({ allErrors: true, jsonPointers: true }).compile(read(schema));
let failures = 0;

function fail(text) {
    failures++;
    console.log(text);
}

function validate(file) {
    const words = (e) => `${e.dataPath} ${e.message} ${JSON.stringify(e.params)}`;
    if (!fits(read(file)))
        fail(`${file}: ${fits.errors.slice(0, 5).map(words).join('; ')}`);
}

// A copy of the scenario with another value at the path, or without it if there is no value.
function changed(base, at, value) {
    const copy = JSON.parse(JSON.stringify(base));
    const words = at.split('.');
    const last = words.pop();
    let block = copy;
    for (const word of words)
        block = block[word] = block[word] ?? {};
    if (value === undefined)
        delete block[last];
    else
        block[last] = value;
    return copy;
}

function compare(list, hiloco, folder) {
    const { base, seen, unseen } = read(list);
    const try_one = (scenario, what, by_check, by_schema) => {
        const file = path.join(folder, 'tried.yaml');
        fs.writeFileSync(file, yaml.dump(scenario));
        const ended = spawnSync(hiloco, ['check', file], { encoding: 'utf8' });
        if (ended.status !== (by_check ? 2 : 0))
            fail(`${what}: hiloco check ends with ${ended.status}: ${ended.stderr}`);
        if (fits(scenario) === by_schema)
            fail(`${what}: the schema ${by_schema ? 'does not see it' : 'refuses it'}`);
    };
    try_one(base, 'the base', false, false);
    for (const [by_schema, mistakes] of [[true, seen], [false, unseen]])
        for (const m of mistakes)
            try_one(changed(base, m.at, m.is), `${m.at}: ${JSON.stringify(m.is)}`, true, by_schema);
    console.log(`${seen.length} mistakes are seen by the schema, ${unseen.length} only by check`);
}

if (rest[0] === '--mistakes')
    compare(...rest.slice(1));
else
    rest.forEach(validate);
process.exit(failures ? 1 : 0);
