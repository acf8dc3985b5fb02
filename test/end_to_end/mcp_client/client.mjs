// Calls the tools of `warplens mcp` with the reference client: node client.mjs PATH-OF-WARPLENS SOURCE-BEFORE SOURCE-AFTER.
import assert from "node:assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [warplens, before, after] = process.argv.slice(2);
const client = new Client({ name: "warplens-test", version: "1" });
await client.connect(new StdioClientTransport({ command: warplens, args: ["mcp"] }));
assert.equal(client.getServerVersion().name, "warplens");

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["profile", "explain_line", "compare"]);

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 300000 });
  console.log(`== ${name}\n${result.content[0].text}`);
  return result;
};
const profile = await call("profile", { sources: [before] });
assert.ok(!profile.isError);
const line = profile.structuredContent.brief.kernels[0].lines[0].at.split(":").at(-1);
assert.ok(!(await call("explain_line", { result: profile.structuredContent.result, line: Number(line) })).isError);
const comparison = await call("compare", { before: profile.structuredContent.result, after });
assert.ok(["same", "faster", "slower", "cannot say"].includes(comparison.structuredContent.verdict));
assert.ok((await call("explain_line", { result: "none", line: 1 })).isError);
await client.close();
console.log("1 passed, 0 failed");
