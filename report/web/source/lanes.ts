// The sectors, or the banks of shared memory, that the lanes of one request touch.
import type { LaneRequest } from "./result";

export const sectorBytes = 32;
const lineBytes = 128, wordBytes = 4, banks = 32;

/** A sector or bank that some lanes of a request touch. */
export interface Target {
  /** The number of the sector, from the begin of the lowest line; or of the bank. */
  number: number;
  lanes: number[];
  /** Of a sector: the bytes of it that lanes request, each once. Of a bank: the different words in it. */
  used: number;
}

/** Returns the offset of each of the 32 lanes; null: it is not active. */
export function offsetsByLane({ active, offsets }: LaneRequest): (number | null)[] {
  let next = 0;
  return Array.from({ length: 32 }, (_, lane) => ((active >>> lane) & 1 ? offsets[next++] : null));
}

function targetsOf(request: LaneRequest, numberOf: (byte: number) => number, partOf: (byte: number) => number): Target[] {
  const found = new Map<number, { lanes: Set<number>; parts: Set<number> }>();
  offsetsByLane(request).forEach((offset, lane) => {
    if (offset === null) return;
    for (let byte = offset; byte < offset + request.bytes; byte++) {
      const number = numberOf(byte);
      if (!found.has(number)) found.set(number, { lanes: new Set(), parts: new Set() });
      found.get(number)!.lanes.add(lane);
      found.get(number)!.parts.add(partOf(byte));
    }
  });
  return [...found].map(([number, { lanes, parts }]) => ({ number, lanes: [...lanes], used: parts.size })).sort((a, b) => a.number - b.number);
}

/** Returns the touched sectors by address. */
export const sectorsOf = (request: LaneRequest) => targetsOf(request, (byte) => Math.floor(byte / sectorBytes), (byte) => byte);

/** Returns all banks, touched or not. */
export function banksOf(request: LaneRequest): Target[] {
  const word = (byte: number) => Math.floor(byte / wordBytes);
  const touched = new Map(targetsOf(request, (byte) => word(byte) % banks, word).map((target) => [target.number, target]));
  return Array.from({ length: banks }, (_, number) => touched.get(number) ?? { number, lanes: [], used: 0 });
}

/** Returns the most words that a bank has where a request's words lie evenly over all banks. */
export const evenWords = (targets: Target[]) => Math.max(1, Math.ceil(targets.reduce((sum, { used }) => sum + used, 0) / banks));

/** Returns whether the two sectors are of one 128-byte line. */
export const inOneLine = (a: Target, b: Target) => Math.floor((a.number * sectorBytes) / lineBytes) === Math.floor((b.number * sectorBytes) / lineBytes);
