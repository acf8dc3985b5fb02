// A figure over trials, as `warplens-result/1` has it.
export interface HistogramData {
  edges: number[];
  counts: number[];
}

/** A figure over trials. `spread95` is mean ± 2 std; `ci95` is the interval of the mean. */
export interface Statistic {
  mean: number;
  std: number;
  ci95: [number, number];
  spread95: [number, number];
  /** The part of `std` that stems from what is not known of the machine; the rest stems from the unknown order. */
  std_of_machine?: number;
  histogram: HistogramData;
}
