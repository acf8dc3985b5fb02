// Does the work of `warplens report --format html` for tests that make their results themselves.
import { readFileSync } from "node:fs";

/** Returns the page with this data in it. */
export function embed(template, data) {
  const json = JSON.stringify(data).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  const parts = readFileSync(template, "utf8").split("<!-- warplens-data -->");
  if (parts.length !== 2) throw new Error(`${template} does not have one place for data`);
  return parts.join(`<script type="application/json" id="warplens-data">${json}</script>`);
}
