// One request as a picture: its 32 lanes above, the sectors or banks that they touch below, and lines between them.
import { percent } from "../format";
import { banksOf, evenWords, inOneLine, offsetsByLane, sectorBytes, sectorsOf, type Target } from "../lanes";
import type { LaneRequest, Site } from "../result";

const width = 320, laneTop = 14, cell = 8, targetTop = 92, targetHeight = 18, height = 128;
const laneWidth = width / 32;
/** Between two 128-byte lines. */
const gap = 2;

/** Returns the left edge and the width of each target. */
function placesOf(targets: Target[], inShared: boolean): { left: number; width: number }[] {
  const isNewLine = targets.map((target, index) => !inShared && index > 0 && !inOneLine(targets[index - 1], target));
  const gaps = isNewLine.filter(Boolean).length;
  const each = Math.min(4 * laneWidth, (width - gap * gaps) / targets.length);
  const used = each * targets.length + gap * gaps;
  let left = (width - used) / 2;
  return targets.map((_, index) => {
    if (isNewLine[index]) left += gap;
    const place = { left, width: each };
    left += each;
    return place;
  });
}

function caption(request: LaneRequest, targets: Target[], inShared: boolean): string {
  const active = request.offsets.length;
  const lanes = active === 32 ? "" : `, by ${active} of 32 lanes`;
  if (inShared) {
    const most = Math.max(...targets.map(({ used }) => used));
    return `${request.parts} ${request.parts === 1 ? "pass" : "passes"} over the banks${lanes}; at most ${most} ${most === 1 ? "word" : "words"} in a bank`;
  }
  const used = targets.reduce((sum, target) => sum + target.used, 0), moved = sectorBytes * targets.length;
  return `${targets.length} ${targets.length === 1 ? "sector" : "sectors"}${lanes}; ${used} of their ${moved} bytes used (${percent(used / moved)} %)`;
}

export function LanePicture({ site, request }: { site: Site; request: LaneRequest }) {
  const inShared = site.space === "shared";
  const targets = inShared ? banksOf(request) : sectorsOf(request);
  const places = placesOf(targets, inShared);
  const even = evenWords(targets);
  const conflicts = (target: Target) => inShared && target.used > even;
  const unit = inShared ? "banks of shared memory" : "sectors of 32 bytes, by address";
  const title = (target: Target) =>
    inShared ? `bank ${target.number}: ${target.used} words, lanes ${target.lanes.join(", ") || "none"}`
      : `sector ${target.number}: ${target.used} of ${sectorBytes} bytes, lanes ${target.lanes.join(", ")}`;
  return (
    <div class="parts">
      <h4>The lanes of one request <span class="note">{percent(request.share)} % of its requests need as many {inShared ? "passes" : "sectors"}</span></h4>
      <svg class="lane-picture" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Lanes and ${unit}: ${caption(request, targets, inShared)}`}>
        <text x="0" y="9">lanes 0 to 31</text>
        {targets.map((target, index) => target.lanes.map((lane) => (
          <line key={`${index} ${lane}`} class={conflicts(target) ? "conflict" : undefined} x1={(lane + 0.5) * laneWidth} y1={laneTop + cell} x2={places[index].left + places[index].width / 2} y2={targetTop} />
        )))}
        {offsetsByLane(request).map((offset, lane) => (
          <rect key={lane} class={offset === null ? "idle" : "lane"} x={lane * laneWidth + 1} y={laneTop} width={laneWidth - 2} height={cell}>
            <title>{offset === null ? `lane ${lane} is not active` : `lane ${lane}: byte ${offset}`}</title>
          </rect>
        ))}
        {targets.map((target, index) => {
          const share = inShared ? Math.min(1, target.used / even) : target.used / sectorBytes;
          const { left, width: whole } = places[index];
          const inset = whole > 3 ? 0.5 : 0;
          return (
            <g key={target.number} class={conflicts(target) ? "conflict" : undefined}>
              <title>{title(target)}</title>
              <rect class={inShared ? "bank" : "unused"} x={left + inset} y={targetTop} width={whole - 2 * inset} height={targetHeight} />
              <rect class="used" x={left + inset} y={targetTop + targetHeight * (1 - share)} width={whole - 2 * inset} height={targetHeight * share} />
              {conflicts(target) && <text x={left + whole / 2} y={targetTop + targetHeight - 5} class="words">{target.used}</text>}
            </g>
          );
        })}
        <text x="0" y={height - 5}>{inShared ? unit : `sectors of 32 bytes in ${linesOf(targets)} of 128 bytes`}</text>
      </svg>
      <p class="note">{caption(request, targets, inShared)}</p>
    </div>
  );
}

function linesOf(targets: Target[]): string {
  const lines = targets.filter((target, index) => index === 0 || !inOneLine(targets[index - 1], target)).length;
  return `${lines} ${lines === 1 ? "line" : "lines"}`;
}
