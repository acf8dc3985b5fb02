// What a profiler measured, beside what the model says: columns of the totals, marks in the gutter, a table of the rest.
import { absent, bytes, count, percent, signed, significant } from "../format";
import type { Profile } from "../profile";
import type { MeasuredPair, MeasuredUnit } from "../result";
import type { Figure } from "../figures";

const texts: { [unit in MeasuredUnit]: (value: number) => string } = {
  fraction: (value) => `${percent(value)} %`,
  us: (value) => `${significant(value, 4)} µs`,
  ns: (value) => `${significant(value, 4)} ns`,
  cycles: count, bytes, count,
  ratio: (value) => significant(value),
};

/** "+2.9 %" of times and bytes, "+3.1 points" of rates; "–" where nothing was measured. */
export function differenceText(pair: MeasuredPair): string {
  if (pair.difference_points !== undefined) return `${signed(Math.abs(pair.difference_points).toFixed(1), pair.difference_points)} points`;
  if (pair.difference === undefined) return absent;
  return `${signed(percent(Math.abs(pair.difference)), pair.difference)} %`;
}

export function MeasuredHeadings({ profile }: { profile: Profile }) {
  return profile.measured ? <><th scope="col">measured</th><th scope="col">difference</th></> : null;
}

/** The two cells of a figure of the whole kernel. */
export function MeasuredCells({ profile, figure }: { profile: Profile; figure: string }) {
  if (!profile.measured) return null;
  const pair = profile.measured.figures.find((one) => one.figure === figure);
  return <><td>{pair ? texts[pair.unit](pair.measured).replace(/ [%µ].*$/, "") : absent}</td><td>{pair ? differenceText(pair) : absent}</td></>;
}

/** All that was measured of the kernel and is modelled, apart from `shown`, which stand elsewhere; and the notes on both. */
export function MeasuredTable({ profile, shown }: { profile: Profile; shown: string[] }) {
  const { measured } = profile;
  if (!measured) return null;
  const rest = measured.figures.filter((pair) => !shown.includes(pair.figure));
  return (
    <div class="measured">
      {measured.notes.map((note) => <p key={note} class="note"><b>{note}.</b></p>)}
      {rest.length > 0 && (
        <table class="totals">
          <thead><tr><th scope="col">whole kernel</th><th scope="col">mean</th><th scope="col">measured</th><th scope="col">difference</th></tr></thead>
          <tbody>
            {rest.map((pair) => (
              <tr key={pair.figure} title={pair.counters?.join(", ")}>
                <th scope="row">{pair.figure.replaceAll("_", " ")}</th>
                <td>{texts[pair.unit](pair.modelled)}</td><td>{texts[pair.unit](pair.measured)}</td><td>{differenceText(pair)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="note">
        {measured.unpaired_counters.length} counters and {measured.unpaired_lines.length} lines have no counterpart: `warplens compare --format json` names each with its reason.
        {measured.lines_missing && ` Nothing was measured by line: ${measured.lines_missing}.`}
      </p>
    </div>
  );
}

/** Returns the measured counterpart of a figure of a line; none where several kinds of accesses at the line have one. */
export function measuredAt(profile: Profile, figure: Figure, file: string, line: number): MeasuredPair | undefined {
  const pairs = (profile.measured?.lines ?? [])
    .filter((one) => one.file === file && one.line === line)
    .flatMap((one) => one.figures.filter((pair) => pair.figure === figure.resultName));
  return pairs.length === 1 ? pairs[0] : undefined;
}

export function MeasuredMark({ pair }: { pair: MeasuredPair | undefined }) {
  if (!pair) return <small class="change" />;
  return <small class="change" title={`measured: ${texts[pair.unit](pair.measured)}`}>{differenceText(pair)}</small>;
}
