// Regions by resources: how much of each region's target each resource explains.
import { rgb, viridis } from "../../color";
import { isRanked, type Significance } from "../../significance";
import { verdictOf } from "./tree";

/** Returns black or white, whichever has the higher contrast on the colour (WCAG 2.1, "relative luminance"). */
function inkOn(color: [number, number, number]): string {
  const [red, green, blue] = color.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

export function HeatMap({ found, names, show }: { found: Significance; names: string[]; show(region: string): void }) {
  return (
    <div class="scroll">
      <table class="significance-map">
        <thead><tr><th scope="col">kernel</th>{names.map((name) => <th key={name} scope="col" title={name}>{name.length > 14 ? `…${name.slice(-13)}` : name}</th>)}</tr></thead>
        <tbody>
          {found.regions.map((region, index) => (
            <tr key={index}>
              <th scope="row"><button class="link" title={verdictOf(region)} onClick={() => show(region.name)}>{region.name}</button></th>
              {isRanked(region, found)
                ? names.map((name) => {
                    const resource = region.resources?.find((one) => one.name === name);
                    if (!resource) return <td key={name} class="none" title={`${name}: no counter varies`}>–</td>;
                    const color = viridis(resource.rsm ?? 0);
                    const text = `${(100 * (resource.rsm ?? 0)).toFixed(0)}`;
                    return <td key={name} style={{ background: rgb(color), color: inkOn(color) }} title={`${name}: ${text} %${resource.significant ? "" : ", not significant"}`}>{resource.significant ? <b>{text}</b> : text}</td>;
                  })
                : <td class="none" colSpan={names.length}>{region.error ? "no explanation" : "not explained"}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">Percent of the error that the resource's counters take away; <b>bold</b>: significant; –: no counter of it varies.</p>
    </div>
  );
}
