// Bundles source/ into one self-contained page: `node build.mjs OUTPUT.html`.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? `${here}/report.html`;
const placeOfData = "<!-- warplens-data -->";

const bundle = await build({
  absWorkingDir: here,
  entryPoints: ["source/main.tsx"],
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: ["chrome100", "firefox100", "safari15.4"],
  legalComments: "none",
  // uPlot and the rest are MIT: their notices are comments of the page, not of the code.
});
const textOf = (ending) => bundle.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
const script = textOf(".js");
const style = textOf(".css");
for (const [part, forbidden] of [[script, "</script"], [script, placeOfData], [style, "</style"]])
  if (part.includes(forbidden)) throw new Error(`the bundle contains ${forbidden}, which would end or double a part of the page`);

// The page may run its own script and nothing else, and may fetch nothing at all.
const hash = createHash("sha256").update(script).digest("base64");
const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;

const licences = ["preact", "uplot", "@lezer/common", "@lezer/lr", "@lezer/cpp", "@lezer/highlight"]
  .map((name) => {
    const manifest = JSON.parse(readFileSync(`${here}/node_modules/${name}/package.json`, "utf8"));
    const licence = readFileSync(`${here}/node_modules/${name}/LICENSE`, "utf8").replaceAll("--", "- -").trim();
    return `${name} ${manifest.version}\n${licence}`;
  })
  .join("\n\n");

const parts = { policy, style, script, licences };
const page = readFileSync(`${here}/page.html`, "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
if (page.split(placeOfData).length !== 2) throw new Error(`page.html must contain ${placeOfData} once`);

mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, page);
console.log(`${output}: ${(page.length / 1024).toFixed(0)} kB`);
