// Stretches of a trial, and the bins in them.

/** Limits a requested range to the whole, and to at least a thousandth of it. */
export function limited(full: [number, number], [from, to]: [number, number]): [number, number] {
  const whole = full[1] - full[0];
  const width = Math.min(whole, Math.max(to - from, whole / 1000, Math.min(1, whole)));
  const start = Math.min(Math.max(full[0], from), full[1] - width);
  return [start, start + width];
}

/** Returns the bin that holds this cycle; beyond the ends, the nearest. */
export function binAt(edges: number[], cycle: number): number {
  let [low, high] = [0, edges.length - 2];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edges[middle] <= cycle) low = middle;
    else high = middle - 1;
  }
  return low;
}
