"use strict";

// The command line of `warplens lsp`, by the extension's settings; apart from the extension, so that it can be tested without an editor.

/**
 * Returns the arguments of the server. `get` returns a setting by its name, as package.json describes them.
 * A result has its program's figures already: settings about profiles do not go with it.
 */
function serverArguments(get) {
  const words = ["lsp"];
  const add = (option, value) => value && words.push(`${option}=${value}`);
  add("--advice", get("advice"));
  if (get("result")) {
    add("--result", get("result"));
    return words;
  }
  words.push(...get("sources"));
  add("--gpu", get("gpu"));
  add("--nvcc", get("nvcc"));
  add("--kernel", get("kernel"));
  add("--budget", get("budget"));
  if (!get("run")) words.push("--no-run");
  const programArguments = get("arguments");
  return programArguments.length ? [...words, "--run", ...programArguments] : words;
}

module.exports = { serverArguments };
