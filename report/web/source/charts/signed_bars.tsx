// Bars from −1 to 1 by name, one colour per version.
import { category } from "../color";
import { useSignal } from "../signal";
import { theme } from "../theme";

interface Props {
  label: string;
  names: string[];
  versions: { name: string; values: (number | undefined)[] }[];
}

export function SignedBars({ label, names, versions }: Props) {
  const look = useSignal(theme);
  const width = Math.max(16, 12 * versions.length + 8), step = Math.max(76, width + 14), height = 180;
  const total = names.length * step + 40;
  const y = (value: number) => height / 2 - (value * (height - 20)) / 2;
  return (
    <figure class="signed-bars">
      <figcaption class="legend">{versions.map((version, index) => <span key={version.name}><i style={{ background: category(look, index) }} /> {version.name}</span>)}</figcaption>
      <div class="scroll">
        <svg width={total} height={height + 22} role="img" aria-label={label}>
          {[-1, -0.5, 0, 0.5, 1].map((value) => (
            <g key={value}>
              <line x1="34" x2={total} y1={y(value)} y2={y(value)} class={value === 0 ? "zero" : "grid"} />
              <text x="30" y={y(value) + 4} class="end">{value}</text>
            </g>
          ))}
          {names.map((name, place) => (
            <g key={name}>
              {versions.map((version, index) => {
                const value = version.values[place];
                if (value === undefined) return null;
                return (
                  <rect key={version.name} x={40 + place * step + index * 12} width="10" y={Math.min(y(value), y(0))} height={Math.max(1, Math.abs(y(value) - y(0)))} fill={category(look, index)}>
                    <title>{`${name}, ${version.name}: ${value.toFixed(2)}`}</title>
                  </rect>
                );
              })}
              <text x={40 + place * step} y={height + 14}>{name.length > 11 ? `${name.slice(0, 10)}…` : name}</text>
            </g>
          ))}
        </svg>
      </div>
    </figure>
  );
}
