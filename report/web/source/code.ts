// A kernel's machine instructions: their figures and their order.
import { warpStates, type Code, type Instruction, type WarpState } from "./result";

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

/** Returns whether the time at any of the instructions is known. */
export const isTimed = ({ instructions }: Code) => instructions.some(({ states }) => states);
