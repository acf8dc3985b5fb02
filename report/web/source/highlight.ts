// Splits a source file into lines of tokens: C++ by its grammar, with CUDA's own words on top.
import { parser } from "@lezer/cpp";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import type { Site } from "./result";

export interface Token {
  text: string;
  /** CSS classes; empty for plain text. */
  kind: string;
}

/** A token, or the part of one that belongs to a site's expression. */
export interface Span extends Token {
  site?: Site;
}

const cudaWords = /^(__\w+__|threadIdx|blockIdx|blockDim|gridDim|warpSize)$/;

export function tokenLines(text: string): Token[][] {
  const lines: Token[][] = [[]];
  highlightCode(
    text,
    parser.parse(text),
    classHighlighter,
    (code, kind) => lines[lines.length - 1].push({ text: code, kind: cudaWords.test(code) ? "tok-cuda" : kind }),
    () => lines.push([]),
  );
  return lines;
}

/** Returns lines without colours, at once, for files that are not parsed yet. */
export const plainLines = (text: string): Token[][] => text.split("\n").map((line) => [{ text: line, kind: "" }]);

const encoder = new TextEncoder();

/** Converts a column of Clang's (bytes, from 1) to an index into the line. */
export function indexOfColumn(line: string, column: number): number {
  let bytes = 1;
  let index = 0;
  for (const character of line) {
    if (bytes >= column) break;
    bytes += character.charCodeAt(0) < 128 ? 1 : encoder.encode(character).length;
    index += character.length;
  }
  return index;
}

/** Returns the place of a site's expression in its line. An expression that goes on in the next line ends with its own. */
export function rangeOf(line: string, site: Site): [number, number] {
  const from = Math.min(indexOfColumn(line, site.column), line.length);
  const firstLine = site.expression.split("\n")[0].trimEnd();
  if (firstLine && line.startsWith(firstLine, from)) return [from, from + firstLine.length];
  // The expression as written differs (out of a macro, with comments): the span is the word at its place.
  const word = /^(\w+|\S)/.exec(line.slice(from));
  return [from, from + (word ? word[0].length : 0)];
}

/** Returns the tokens of a line, cut where expressions of sites begin and end. For nested ones the text belongs to the innermost. */
export function spansOf(tokens: Token[], sites: Site[]): Span[] {
  if (sites.length === 0) return tokens;
  const line = tokens.map((token) => token.text).join("");
  const ranges = sites.map((site) => ({ site, range: rangeOf(line, site) })).sort((a, b) => length(b.range) - length(a.range));
  const owner = new Array<Site | undefined>(line.length);
  for (const { site, range } of ranges) owner.fill(site, range[0], range[1]);
  const spans: Span[] = [];
  let position = 0;
  for (const token of tokens) {
    let start = 0;
    for (let index = 1; index <= token.text.length; ++index) {
      if (index < token.text.length && owner[position + index] === owner[position + start]) continue;
      spans.push({ text: token.text.slice(start, index), kind: token.kind, site: owner[position + start] });
      start = index;
    }
    position += token.text.length;
  }
  return spans;
}

const length = ([from, to]: [number, number]) => to - from;

/** Combines neighbouring spans of the same site to one piece to point at. */
export function piecesOf(spans: Span[]): { site?: Site; tokens: Span[] }[] {
  const pieces: { site?: Site; tokens: Span[] }[] = [];
  for (const span of spans) {
    const last = pieces[pieces.length - 1];
    if (last && last.site === span.site) last.tokens.push(span);
    else pieces.push({ site: span.site, tokens: [span] });
  }
  return pieces;
}
