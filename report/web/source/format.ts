// Numbers as text for people. An unobserved figure is "–".

export const absent = "–";

export function significant(value: number, digits = 3): string {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, Math.min(6, digits - 1 - size)));
}

/** Returns the factor and the letter of the SI prefix for a number of this size; below 10000 there is none. */
export function prefixOf(value: number): [number, string] {
  if (Math.abs(value) < 10000) return [1, ""];
  const letters = ["", "k", "M", "G", "T", "P"];
  const step = Math.min(letters.length - 1, Math.floor(Math.log10(Math.abs(value)) / 3));
  return [1000 ** step, letters[step]];
}

export function count(value: number): string {
  const [factor, letter] = prefixOf(value);
  return letter === "" && Number.isInteger(value) ? String(value) : `${significant(value / factor)}${letter}`;
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const step = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return `${step === 0 ? Math.round(value) : significant(value / 1000 ** step)} ${units[step]}`;
}

export const percent = (fraction: number) => (100 * fraction).toFixed(1);

export const nanoseconds = (value: number) => value.toFixed(value < 100 ? 1 : 0);

/** "123 ± 4 µs": a time with 2 standard deviations over trials, if they show in three digits of the mean. */
export function duration(mean: number, spread: number): string {
  const units = ["µs", "ms", "s"];
  let [unit, value, width] = [0, mean, spread];
  for (; value >= 999.5 && unit + 1 < units.length; ++unit) [value, width] = [value / 1000, width / 1000];
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const shown = width.toFixed(digits);
  return `${value.toFixed(digits)}${Number(shown) > 0 ? ` ± ${shown}` : ""} ${units[unit]}`;
}

export const grouped = (value: number) => value.toLocaleString("en-US");

export const counted = (value: number, what: string) => `${grouped(value)} ${what}${value === 1 ? "" : "s"}`;

export const signed = (text: string, value: number) => (value > 0 ? `+${text}` : value < 0 ? `−${text.replace(/^[-−]/, "")}` : text);
