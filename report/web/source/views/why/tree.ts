// The tree of the sunburst: program, kernels, resources, counters.
import { counterName, isRanked, type Region, type Significance } from "../../significance";

export interface Node {
  /** Unique in the tree. */
  key: string;
  name: string;
  /** The text that the reader sees about it. */
  description: string;
  /** Its part of the angle. */
  value: number;
  /** The resource that colours it; absent: none. */
  resource?: string;
  region?: string;
  depth: number;
  parent?: Node;
  children: Node[];
}

const percent = (value: number | undefined) => `${(100 * (value ?? 0)).toFixed(1)} %`;

/** Returns the sum of the region's target; a target below 0 has no share. */
const sumOf = (region: Region) => Math.max(0, region.runs.reduce((sum, run) => sum + (run.target ?? 0), 0));

export function verdictOf(region: Region): string {
  if (region.error) return region.error;
  const figures = `R2 ${region.r2?.toFixed(2) ?? "–"}, Q2 ${region.q2?.toFixed(2) ?? "–"}`;
  return region.explained ? `explained: ${figures}` : `these counters do not explain the target (${figures})`;
}

export function treeOf(found: Significance): Node {
  const root: Node = { key: "program", name: "all kernels", description: `all kernels, by their share of the target ${found.target}`, value: 0, depth: 0, children: [] };
  found.regions.forEach((region, index) => {
    const kernel: Node = { key: `${index}`, name: region.name, region: region.name, description: verdictOf(region), value: sumOf(region), depth: 1, parent: root, children: [] };
    root.children.push(kernel);
    root.value += kernel.value;
    if (!isRanked(region, found)) return;
    for (const resource of region.resources ?? []) {
      if (!resource.share) continue;
      const node: Node = {
        key: `${kernel.key}/${resource.name}`, name: resource.name, region: region.name, resource: resource.name, depth: 2, parent: kernel, children: [],
        value: kernel.value * resource.share,
        description: `reduces the error by ${percent(resource.reduction)}${resource.significant ? "" : "; not significant"}${resource.description ? `: ${resource.description}` : ""}`,
      };
      kernel.children.push(node);
      const all = resource.counters.reduce((sum, counter) => sum + (counter.reduction ?? 0), 0);
      for (const counter of resource.counters) {
        if (!counter.reduction) continue;
        node.children.push({
          key: `${node.key}/${counter.name}`, name: counterName(counter), region: region.name, resource: resource.name, depth: 3, parent: node, children: [],
          value: node.value * counter.reduction / all,
          description: `reduces the error by ${percent(counter.reduction)}; drawn in ${percent(counter.freq)} of the draws; ${counter.name}`,
        });
      }
    }
  });
  // Without a positive target there is nothing to weigh the kernels by.
  if (root.value <= 0) for (const kernel of root.children) weigh(kernel, 1);
  root.value = root.children.reduce((sum, kernel) => sum + kernel.value, 0);
  return root;
}

function weigh(kernel: Node, value: number) {
  const shares = kernel.children.length;
  kernel.value = value;
  for (const resource of kernel.children) {
    resource.value = value / shares;
    for (const counter of resource.children) counter.value = resource.value / resource.children.length;
  }
}

/** Returns the node and all below it, in the order of the tree. */
export const nodesOf = (node: Node): Node[] => [node, ...node.children.flatMap(nodesOf)];

export const pathOf = (node: Node): string => (node.parent ? `${pathOf(node.parent)} › ${node.name}` : node.name);
