// One horizontal bar: a mean latency, divided by the level that served the deciding transaction.
import { levelColors } from "../color";
import { nanoseconds } from "../format";
import { latencyLevels, type Site } from "../result";

export const levelNames = { l1: "L1", l2: "L2", dram: "DRAM", shared: "shared memory", constant: "constant memory" };

export function partsOf(site: Site) {
  const parts = latencyLevels.map((level) => ({ level, ns: site.latency_parts?.[`${level}_ns`] ?? 0 }));
  return parts.filter((part) => part.ns > 0);
}

export function StackedBar({ site, largest }: { site: Site; largest: number }) {
  const parts = partsOf(site);
  const text = parts.map((part) => `${levelNames[part.level]} ${nanoseconds(part.ns)} ns`).join(", ");
  return (
    <span class="stacked" role="img" aria-label={text} title={text}>
      {parts.map((part) => (
        <i key={part.level} style={{ width: `${(100 * part.ns) / largest}%`, background: levelColors[part.level] }} />
      ))}
    </span>
  );
}

export function LevelLegend({ levels = [...latencyLevels] }: { levels?: (keyof typeof levelNames)[] }) {
  return (
    <p class="legend">
      {levels.map((level) => <span key={level}><i style={{ background: levelColors[level] }} /> {levelNames[level]}</span>)}
    </p>
  );
}
