// Where the warps are, over the addresses of a kernel's code: stuck warps stand out.
import { fileOf, placesOfWarps, type Stretch } from "../code";
import { percent } from "../format";
import type { Code } from "../result";

const mostBars = 400;
const height = 100;

/** Where at least so much of the time is spent, a bar stands out. */
const hot = 0.1;

function textOf({ instructions, time, state }: Stretch): string {
  const [first] = instructions;
  const at = instructions.length === 1 ? first.sass : `${instructions.length} instructions from ${first.sass}`;
  return `0x${first.offset.toString(16)} ${at}: ${percent(time)} % of the warps' time${state ? `, mostly ${state}` : ""}`;
}

interface Props {
  code: Code;
  label: string;
  /** Goes to the line of the source. */
  show(file: string, line: number): void;
}

export function PcHistogram({ code, label, show }: Props) {
  const stretches = placesOfWarps(code, mostBars);
  const most = Math.max(...stretches.map(({ time }) => time), 1e-9);
  const top = stretches.reduce((best, one) => (one.time > best.time ? one : best));
  const go = ({ instructions }: Stretch) => {
    const of = instructions.find((instruction) => fileOf(code, instruction) !== undefined);
    if (of) show(fileOf(code, of)!, of.line!);
  };
  return (
    <figure class="pc-histogram">
      <svg role="img" aria-label={`${label}. Most: ${textOf(top)}`} viewBox={`0 0 ${stretches.length} ${height}`} preserveAspectRatio="none">
        {stretches.map((stretch, place) => (
          <rect key={place} class={stretch.time >= hot ? "hot" : ""} x={place} width={1} y={height * (1 - stretch.time / most)} height={height * (stretch.time / most)} onClick={() => go(stretch)}>
            <title>{textOf(stretch)}</title>
          </rect>
        ))}
      </svg>
      <figcaption class="note">By address, from the first instruction at the left to the last; the highest bar: {textOf(top)}.</figcaption>
    </figure>
  );
}
