// The largest and the smallest of many numbers. `Math.max(...list)` throws on lists of some 100 000: each becomes an argument on the stack.

export function largestOf(values: Iterable<number | null>, atLeast = -Infinity): number {
  let largest = atLeast;
  for (const value of values) if (value !== null && value > largest) largest = value;
  return largest;
}

export function smallestOf(values: Iterable<number | null>, atMost = Infinity): number {
  let smallest = atMost;
  for (const value of values) if (value !== null && value < smallest) smallest = value;
  return smallest;
}
