// The axes of a plot: the range of the vertical one, and ticks as text.
import { prefixOf } from "../format";

/** Returns the range from the smallest to the largest value with some room. Values without spread get a short axis around them, so that its ticks differ. */
export function axisRange(smallest: number, largest: number, limits: [number, number] = [-Infinity, Infinity]): [number, number] {
  if (!(smallest <= largest)) return [0, 1];
  const spread = largest - smallest;
  const size = Math.max(Math.abs(smallest), Math.abs(largest));
  const room = spread > 1e-6 * size ? 0.1 * spread : size === 0 ? 1 : Math.max(0.01 * size, 1e-3);
  const [low, high] = [Math.max(limits[0], smallest - room), Math.min(limits[1], largest + room)];
  // A value at its limit keeps the room on the other side.
  return low < high ? [low, high] : [low - room, high + room];
}

/** Returns ticks with one SI prefix, and with enough digits to differ. */
export function tickTexts(ticks: (number | null)[]): string[] {
  const seen = ticks.filter((tick): tick is number => tick !== null);
  const [factor, letter] = prefixOf(seen.reduce((largest, tick) => Math.max(largest, Math.abs(tick)), 0));
  const step = (seen.length > 1 ? Math.abs(seen[1] - seen[0]) : 1) / factor;
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step) - 1e-9)));
  const fine = digits + 1 <= 9 && seen.some((tick) => Math.abs(Number((tick / factor).toFixed(digits)) - tick / factor) > 1e-6 * step) ? digits + 1 : digits;
  return ticks.map((tick) => (tick === null ? "" : tick === 0 ? "0" : `${(tick / factor).toFixed(fine)}${letter}`));
}
