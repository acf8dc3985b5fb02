// Similarity against significance: what matters should be alike.
import type { Similarity } from "../significance";

const size = 300, margin = 40, top = 18;
/** Above it, a resource counts as covered, or as one that matters. */
const threshold = 0.8;

export function SimilarityPlot({ similarity }: { similarity: Similarity }) {
  const x = (value: number) => margin + value * (size - margin - top);
  const y = (value: number) => size - margin - value * (size - margin - top);
  return (
    <figure class="similarity">
      <figcaption>{similarity.b} like {similarity.a}</figcaption>
      <svg viewBox={`0 0 ${size} ${size}`} role="img"
        aria-label={`Similarity by significance: ${similarity.resources.map((one) => `${one.name} ${(one.similarity ?? 0).toFixed(2)} at ${(one.rsm ?? 0).toFixed(2)}`).join("; ")}`}>
        <rect x={x(0)} y={y(1)} width={x(1) - x(0)} height={y(0) - y(1)} class="frame" />
        <line x1={x(threshold)} x2={x(threshold)} y1={y(0)} y2={y(1)} class="grid" />
        <line x1={x(0)} x2={x(1)} y1={y(threshold)} y2={y(threshold)} class="grid" />
        <text x={x(1)} y={y(1) - 3} class="end">matters and is covered</text>
        <text x={x(0.5)} y={size - 8} class="mid">significance</text>
        <text x={-y(0.5)} y="12" class="mid" transform="rotate(-90)">similarity</text>
        {[0, 1].map((value) => <g key={value}><text x={x(value)} y={y(0) + 14} class="mid">{value}</text><text x={x(0) - 4} y={y(value) + 4} class="end">{value}</text></g>)}
        {similarity.resources.map((one) => (
          <g key={one.name}>
            <circle cx={x(one.rsm ?? 0)} cy={y(one.similarity ?? 0)} r="4" />
            <text x={x(one.rsm ?? 0) + ((one.rsm ?? 0) > 0.7 ? -7 : 7)} y={y(one.similarity ?? 0) + 12} class={(one.rsm ?? 0) > 0.7 ? "end" : ""}>{one.name.slice(0, 16)}</text>
          </g>
        ))}
      </svg>
    </figure>
  );
}
