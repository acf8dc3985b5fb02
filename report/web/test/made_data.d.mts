import type { PageData } from "../source/result";

export interface Sizes {
  files?: number;
  lines?: number;
  sites?: number;
  kernels?: number;
  gpus?: string[];
  seed?: number;
  trials?: number;
  units?: { sms?: number; slices?: number; channels?: number };
}

export function numbers(seed: number): () => number;
export function madeData(sizes?: Sizes): PageData;
