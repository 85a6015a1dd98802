/* hiloco export --mcap, and what the format's own reader makes of it. */
#include <criterion/criterion.h>

#include "../sets.h"
#include "process.h"
#include "results.h"
#include "workspace.h"

TestSuite(export_mcap, .init = workspace_open, .fini = workspace_close);

/* Reads a file by its index, and says how many messages of which topic it has; then from its
 * beginning, with all sums. Each is JSON, in the order of time, which is that of its time_s. */
static const char reader[] =
    "const { McapIndexedReader, McapStreamReader } = require('@mcap/core');\n"
    "const { loadDecompressHandlers } = require('@mcap/support');\n"
    "const fs = require('fs');\n"
    "const bytes = fs.readFileSync(process.argv[2]);\n"
    "const readable = { size: async () => BigInt(bytes.length),\n"
    "    read: async (at, size) => new Uint8Array(bytes.subarray(Number(at), Number(at + size))) "
    "};\n"
    "(async () => {\n"
    "    const decompressHandlers = await loadDecompressHandlers();\n"
    "    const file = await McapIndexedReader.Initialize({ readable, decompressHandlers });\n"
    "    const counts = {};\n"
    "    let last = 0n, all = 0;\n"
    "    for await (const message of file.readMessages()) {\n"
    "        const { topic } = file.channelsById.get(message.channelId);\n"
    "        const { time_s } = JSON.parse(new TextDecoder().decode(message.data));\n"
    "        if (message.logTime < last || Number(message.logTime) !== Math.round(time_s * 1e9))\n"
    "            throw `${topic} at ${message.logTime}`;\n"
    "        last = message.logTime;\n"
    "        counts[topic] = (counts[topic] ?? 0) + 1;\n"
    "    }\n"
    "    for (const topic of Object.keys(counts).sort())\n"
    "        console.log(topic, counts[topic]);\n"
    "    const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true });\n"
    "    stream.append(bytes);\n"
    "    for (let record; (record = stream.nextRecord()); )\n"
    "        all += record.type === 'Message';\n"
    "    if (!stream.done()) throw 'it does not end';\n"
    "    console.log(all);\n"
    "})().catch((wrong) => { console.error(wrong); process.exit(1); });\n";

static void run_and_export(const char *out)
{
    struct ended e = run_command("hiloco run configs/quickstart.yaml --quiet --set duration_s=0.02 "
                                 "--set " RECORD_CONVERTERS("10") " --out %s",
                                 out);

    expect_status(&e, 0);
    e = run_command("hiloco export %s --mcap --csv", out);
    expect_status(&e, 0);
    expect_said(&e,
                "trace.mcap: 1208 messages on 3 topics"); /* rows, and four states of two nodes */
}

/* "trace.mcap opens in other tools". */
Test(export_mcap, the_formats_own_reader_reads_it)
{
    struct ended e = run_command("node -e require('@mcap/core');require('@mcap/support')");

    if (e.status != 0)
        cr_skip_test("node with @mcap/core and @mcap/support (NODE_PATH) is not installed");
    run_and_export(in_workspace("out"));
    write_text(in_workspace("reader.cjs"), reader);
    e = run_command("node %s %s", in_workspace("reader.cjs"), in_workspace("out/trace.mcap"));
    expect_status(&e, 0);
    cr_expect_str_eq(e.out, "/controller 1000\n/converter/000 200\n1200\n");
}

/* A run's files, which the next run there replaces. */
Test(export_mcap, both_forms_at_once_and_gone_with_the_run)
{
    const char *out = in_workspace("out");

    run_and_export(out);
    cr_expect(exists(in_workspace("out/trace.mcap")));
    cr_expect(exists(in_workspace("out/controller.csv")));
    struct ended e = run_command(
        "hiloco run configs/quickstart.yaml --quiet --set duration_s=0.002 --out %s", out);
    expect_status(&e, 0);
    cr_expect_not(exists(in_workspace("out/trace.mcap")));
}

Test(export_mcap, which_form)
{
    struct ended e = run_command("hiloco export %s", workspace);

    expect_status(&e, 2);
    expect_said(&e, "hiloco export: in which form? --csv, --mcap or both are allowed");
    e = run_command("hiloco export %s --mcap", workspace);
    expect_status(&e, 2);
    expect_said(&e, "is not the folder of a run");
}
