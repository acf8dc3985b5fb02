// A kernel's machine instructions: their figures and their order.
import { warpStates, type ByState, type Code, type Instruction, type WarpState } from "./result";

export const codeOrders = ["address", "time"] as const;
export type CodeOrder = (typeof codeOrders)[number];

/** Returns the share of the warps' time in which they wait to issue the instruction, or issue it; undefined: it is not known. */
export const timeShare = ({ states }: Instruction) => states && warpStates.reduce((sum, state) => sum + (states[state] ?? 0), 0);

/** Returns the state in which warps are longest at the instruction; undefined: they are not there, or it is not known. */
export function longestState({ states }: Instruction): WarpState | undefined {
  const [first] = warpStates.filter((state) => states?.[state]).sort((a, b) => states![b]! - states![a]!);
  return first;
}

/** Returns undefined where the instruction has no requests, or none that are made of sectors. */
export const sectorsPerRequest = ({ requests, sectors }: Instruction) => (requests && sectors !== undefined ? sectors / requests : undefined);

/** Returns the instructions by function and address, as the result has them, or those with the largest share of the time first. */
export function inOrder({ instructions }: Code, order: CodeOrder): Instruction[] {
  return order === "address" ? instructions : [...instructions].sort((a, b) => (timeShare(b) ?? 0) - (timeShare(a) ?? 0));
}

/** Returns the instruction's source file; undefined: it is of none of the user's files. */
export const fileOf = (code: Code, { file, line }: Instruction) => (line === undefined || file === undefined ? undefined : code.files[file]);

/** Returns the instruction's line in this file; undefined: it is of another one, or of none. */
export const lineIn = (file: string, code: Code, instruction: Instruction) => (fileOf(code, instruction) === file ? instruction.line : undefined);

/** A stretch of neighbouring instructions, by function and address. */
export interface Stretch {
  instructions: Instruction[];
  /** The share of the warps' time in which they are there. */
  time: number;
  /** The state in which they are longest there; undefined: they are not there. */
  state?: WarpState;
}

/** Returns the histogram of the warps' places over the code, in at most `most` stretches. */
export function placesOfWarps({ instructions }: Code, most: number): Stretch[] {
  const each = Math.max(1, Math.ceil(instructions.length / most));
  return Array.from({ length: Math.ceil(instructions.length / each) }, (_, place) => {
    const part = instructions.slice(place * each, (place + 1) * each);
    const states: ByState = {};
    for (const instruction of part)
      for (const state of warpStates) states[state] = (states[state] ?? 0) + (instruction.states?.[state] ?? 0);
    const whole = { ...part[0], states };
    return { instructions: part, time: timeShare(whole) ?? 0, state: longestState(whole) };
  });
}

/** Returns the shares of the executed instructions whose warps have 1 to 4 lanes active, 5 to 8, and so on; none: the lanes of no instruction are known. */
export function sharesByLanes({ instructions }: Code): number[] | undefined {
  const executions = new Array<number>(8).fill(0);
  for (const { active_lanes, executions: times } of instructions)
    if (active_lanes !== undefined) executions[Math.min(7, Math.max(0, Math.ceil(active_lanes / 4) - 1))] += times;
  const all = executions.reduce((sum, value) => sum + value, 0);
  return all === 0 ? undefined : executions.map((value) => value / all);
}

/** Returns whether the time at any of the instructions is known. */
export const isTimed = ({ instructions }: Code) => instructions.some(({ states }) => states);
