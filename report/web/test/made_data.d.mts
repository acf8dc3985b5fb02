import type { FigureChange, PageData } from "../source/result";

export interface Sizes {
  files?: number;
  lines?: number;
  sites?: number;
  kernels?: number;
  gpus?: string[];
  seed?: number;
  trials?: number;
  units?: { sms?: number; slices?: number; channels?: number };
  timelineBins?: number;
  /** The trials have a clock: there are times and a time-lapse. */
  clock?: boolean;
  /** The kernels' machine code is known. */
  code?: boolean;
}

export function numbers(seed: number): () => number;
export function madeData(sizes?: Sizes): PageData;
export function madeChange(figure: string, before: number, after: number, interval95?: number): FigureChange;
export function madeComparison(before: PageData, after: PageData, paired?: number): PageData;
