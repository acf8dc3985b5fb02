"use strict";

// The extension starts `warplens lsp`, and again when its settings change; all else is the server's.

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");
const { serverArguments } = require("./server");

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("warplens");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = {
    command: settings.get("path"),
    args: serverArguments((name) => settings.get(name)),
    transport: TransportKind.stdio,
    options: folder ? { cwd: folder } : {},
  };
  client = new LanguageClient("warplens", "Warplens", server, {
    // A header of kernels may be of any of these languages; the server shows nothing in files that no result has.
    documentSelector: ["cuda-cpp", "cuda", "cpp", "c"].map((language) => ({ scheme: "file", language })),
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`Warplens: ${server.command} lsp did not start: ${error.message ?? error}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {}); // one that did not start has nothing to stop
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("warplens.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("warplens") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
