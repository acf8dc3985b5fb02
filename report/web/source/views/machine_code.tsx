// The machine code of a kernel beside its source: what is shown and in which order, and the instructions.
import { useState } from "preact/hooks";
import type { ViewProps } from "../view_props";
import { codeOrders, isTimed, lineIn, timeShare, type CodeOrder } from "../code";
import { counted, percent } from "../format";
import type { Code } from "../result";
import { useSignal, type Signal } from "../signal";
import { Instructions } from "./instructions";

/** The lines of the shown file that the reader points at in the source, and by an instruction of theirs. */
export interface Pointed {
  inSource: Signal<number | undefined>;
  inCode: Signal<number | undefined>;
}

/** The reader points at this line of the source, no longer at an instruction. */
export function pointAtLine(pointed: Pointed, line: number | undefined) {
  pointed.inCode.set(undefined);
  pointed.inSource.set(line);
}

export interface CodeProps extends ViewProps {
  order: CodeOrder;
  pointed: Pointed;
}

export function MachineCode(props: CodeProps) {
  const { shown, order, change } = props;
  const [key, setKey] = useState<string>();
  const profile = shown.find((one) => one.key === key) ?? shown.find(({ kernel }) => kernel.code) ?? shown[0];
  const { code } = profile.kernel;
  return (
    <aside class="machine-code" aria-label="Machine code">
      <div class="code-head">
        {shown.length > 1 && (
          <label>
            Machine code of{" "}
            <select value={profile.key} onChange={(event) => setKey(event.currentTarget.value)}>
              {shown.map((one) => <option key={one.key} value={one.key}>{one.label} · {one.kernel.gpu}</option>)}
            </select>
          </label>
        )}
        {code && (
          <label>
            Sorted by{" "}
            <select value={order} onChange={(event) => change({ code: event.currentTarget.value as CodeOrder })}>
              {codeOrders.map((one) => <option key={one} value={one} disabled={one === "time" && !isTimed(code)}>{one}</option>)}
            </select>
          </label>
        )}
        {code && <LitLine {...props} code={code} />}
        {code?.left_out && (
          <p class="note">{counted(code.left_out.instructions, "instruction")} that are executed least, {counted(code.left_out.executions, "time")} in all, are left out.</p>
        )}
      </div>
      {code ? <Instructions key={profile.key} {...props} code={code} />
        : <p class="note">The machine code of {profile.label} on {profile.kernel.gpu} is not known{profile.opening?.no_code ? `, because ${profile.opening.no_code}` : ""}.</p>}
    </aside>
  );
}

/** Returns the line whose instructions are lit: the one that is pointed at, or else the one in focus. */
export function useLitLine({ pointed, state }: CodeProps): number {
  const inCode = useSignal(pointed.inCode);
  const inSource = useSignal(pointed.inSource);
  return inCode ?? inSource ?? state.line;
}

/** The instructions of the lit line together, in words, also for those who do not see it. */
function LitLine(props: CodeProps & { code: Code }) {
  const line = useLitLine(props);
  const lit = props.code.instructions.filter((instruction) => lineIn(props.state.file, props.code, instruction) === line);
  const shares = lit.map(timeShare).filter((share) => share !== undefined);
  const time = lit.length === 0 ? "" : `, ${shares.length ? `${percent(shares.reduce((sum, share) => sum + share, 0))} % of the warps' time` : "time not known"}`;
  return <span class="place" role="status">line {line}: {lit.length ? counted(lit.length, "instruction") : "no instructions"}{time}</span>;
}
