// Numbers as text for people. An unobserved figure is "–".

export const absent = "–";

export function significant(value: number, digits = 3): string {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, Math.min(6, digits - 1 - size)));
}

export function count(value: number): string {
  if (Math.abs(value) < 10000) return Number.isInteger(value) ? String(value) : significant(value);
  const units = ["", "k", "M", "G", "T", "P"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.abs(value)) / 3));
  return `${significant(value / 1000 ** step)}${units[step]}`;
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const step = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return `${step === 0 ? Math.round(value) : significant(value / 1000 ** step)} ${units[step]}`;
}

export const percent = (fraction: number) => (100 * fraction).toFixed(1);

export const nanoseconds = (value: number) => value.toFixed(value < 100 ? 1 : 0);

export const grouped = (value: number) => value.toLocaleString("en-US");

export const signed = (text: string, value: number) => (value > 0 ? `+${text}` : value < 0 ? `−${text.replace(/^[-−]/, "")}` : text);
