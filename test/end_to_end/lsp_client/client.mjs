// A client of `warplens lsp` as editors have it: opens a source, saves it, waits for the figures, and asks for them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from "vscode-languageserver-protocol/node.js";
import * as lsp from "vscode-languageserver-protocol/node.js";
import { serverArguments } from "./server.cjs";

const properties = JSON.parse(readFileSync("extension.json", "utf8")).contributes.configuration.properties;
const settings = { arguments: ["256"], gpu: "a100,v100", nvcc: "-O3 -lineinfo" };
const words = serverArguments((name) => settings[name] ?? properties[`warplens.${name}`].default);
assert.deepEqual(words, ["lsp", "--gpu=a100,v100", "--nvcc=-O3 -lineinfo", "--budget=2s", "--run", "256"]);

const server = spawn(process.argv[2], words, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => server.on("exit", resolve));
const connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
connection.onError((error) => assert.fail(String(error)));
const progress = [];
connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, ({ token }) => {
  connection.onProgress(lsp.WorkDoneProgress.type, token, (value) => progress.push(value.kind));
});
const refreshed = new Promise((resolve) => connection.onRequest(lsp.InlayHintRefreshRequest.type, resolve));
let diagnostics = [];
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (published) => (diagnostics = published.diagnostics));
connection.onNotification(lsp.LogMessageNotification.type, ({ message }) => assert.fail(message));
connection.listen();

const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
  processId: process.pid,
  rootUri: null,
  capabilities: { window: { workDoneProgress: true }, workspace: { inlayHint: { refreshSupport: true } } },
});
assert.equal(capabilities.inlayHintProvider, true);
await connection.sendNotification(lsp.InitializedNotification.type, {});
const uri = pathToFileURL("transpose.cu").href;
const text = readFileSync("transpose.cu", "utf8");
await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
  textDocument: { uri, languageId: "cuda-cpp", version: 1, text },
});
await connection.sendNotification(lsp.DidSaveTextDocumentNotification.type, { textDocument: { uri } });
await refreshed;

const lines = text.split("\n");
const hints = await connection.sendRequest(lsp.InlayHintRequest.type, {
  textDocument: { uri },
  range: lsp.Range.create(0, 0, lines.length, 0),
});
assert.ok(hints.length >= 5);
for (const hint of hints) {
  assert.ok(lsp.InlayHint.is(hint));
  assert.equal(hint.position.character, lines[hint.position.line].length);
}
const costly = lines.findIndex((line) => line.includes("out[x * size"));
assert.match(hints.find((hint) => hint.position.line === costly).label, /^\d+ % · 32\.0 sectors\/request · /);
const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri }, position: { line: costly, character: 0 } });
assert.ok(lsp.Hover.is(hover));
assert.match(hover.contents.value, /on a100\*\*[^]*on v100\*\*/);
assert.ok(diagnostics.every((one) => lsp.Diagnostic.is(one)));
assert.ok(diagnostics.some((one) => one.code === "strided" && one.range.start.line === costly));
assert.deepEqual(progress, ["begin", "end"]);
await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);
assert.equal(await exited, 0);
console.log(`${hints.length} hints, ${diagnostics.length} findings`);
