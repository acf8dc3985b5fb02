// A bar for each of several shares.
import { percent } from "../format";

export interface ShareBar {
  name: string;
  share: number;
  /** It follows the number. */
  note?: string;
  /** The bar stands out, and why. */
  marked?: string;
}

export function ShareBars({ of, bars, label }: { of: "resources" | "states" | "work"; bars: ShareBar[]; label: string }) {
  const numberOf = ({ share, note }: ShareBar) => `${(100 * share).toFixed(0)} %${note ?? ""}`;
  const text = bars.map(({ name, share, note }) => `${name} ${percent(share)} %${note ?? ""}`).join(", ");
  return (
    <span class={`shares ${of}`} role="img" aria-label={`${label}: ${text}`}>
      {bars.map((bar) => (
        <span key={bar.name} class={bar.marked ? "marked" : ""} title={bar.marked}>
          <span class="name">{bar.name}</span>
          <span class="track"><i style={{ width: `${Math.min(100, 100 * bar.share)}%` }} /></span>
          <b>{numberOf(bar)}</b>
        </span>
      ))}
    </span>
  );
}
