// The mean of the first n trials and Student's 95 % interval of it, for each n.

export interface RunningMean {
  mean: number;
  /** Absent for the first value, which has no spread. */
  low?: number;
  high?: number;
}

/** Two-sided 95 % quantiles of Student's t for 1 … 30 degrees of freedom (any table); beyond, see below. */
const quantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093,
  2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** Beyond 30 the first terms of the expansion in 1/n (Abramowitz and Stegun 26.7.5) are exact to 0.001. */
export function studentQuantile(freedom: number): number {
  const z = 1.959964;
  return quantiles[freedom - 1] ?? z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}

/** Trials without an observation (null) do not count. */
export function runningMeans(values: (number | null)[]): RunningMean[] {
  let [count, mean, squares] = [0, 0, 0];
  const result: RunningMean[] = [];
  for (const value of values) {
    if (value === null) continue;
    ++count;
    const step = value - mean;
    mean += step / count;
    squares += step * (value - mean);
    if (count === 1) {
      result.push({ mean });
      continue;
    }
    const half = studentQuantile(count - 1) * Math.sqrt(squares / (count - 1) / count);
    result.push({ mean, low: mean - half, high: mean + half });
  }
  return result;
}
