// Rings of a tree: each node's part of the angle is its value's. A click or Enter makes a node the middle.
import { useRef, useState } from "preact/hooks";
import { nodesOf, pathOf, type Node } from "../views/why/tree";

interface Props {
  root: Node;
  middle: Node;
  colorOf(node: Node): string;
  zoom(node: Node): void;
}

const radius = 200, hole = 46;
const fullCircle = 2 * Math.PI;

interface Arc {
  node: Node;
  from: number;
  to: number;
  ring: number;
}

/** Returns the arcs of the nodes below `middle`; ring 0 lies next to the middle. */
function arcsOf(middle: Node): Arc[] {
  const arcs: Arc[] = [];
  const place = (node: Node, from: number, to: number) => {
    let at = from;
    for (const child of node.children) {
      const next = node.value > 0 ? at + ((to - from) * child.value) / node.value : at;
      if (next > at) {
        arcs.push({ node: child, from: at, to: next, ring: child.depth - middle.depth - 1 });
        place(child, at, next);
      }
      at = next;
    }
  };
  place(middle, 0, fullCircle);
  return arcs;
}

const point = (angle: number, distance: number) => `${(distance * Math.sin(angle)).toFixed(2)} ${(-distance * Math.cos(angle)).toFixed(2)}`;

function outline({ from, to }: Arc, inner: number, outer: number): string {
  const end = Math.min(to, from + fullCircle - 1e-4); // an arc of a whole circle would begin where it ends
  const large = end - from > Math.PI ? 1 : 0;
  return `M${point(from, inner)}L${point(from, outer)}A${outer} ${outer} 0 ${large} 1 ${point(end, outer)}L${point(end, inner)}A${inner} ${inner} 0 ${large} 0 ${point(from, inner)}Z`;
}

export function Sunburst({ root, middle, colorOf, zoom }: Props) {
  const host = useRef<SVGSVGElement>(null);
  const [at, setAt] = useState<string>(middle.key);
  const [hovered, setHovered] = useState<Node | null>(null);
  const arcs = arcsOf(middle);
  const rings = Math.max(1, ...arcs.map((arc) => arc.ring + 1));
  const step = (radius - hole) / rings;
  const focused = nodesOf(middle).find((node) => node.key === at) ?? middle;
  const described = hovered ?? focused;

  const focus = (node: Node | undefined) => {
    if (!node) return;
    setAt(node.key);
    requestAnimationFrame(() => host.current?.querySelector<SVGElement>("[tabindex='0']")?.focus());
  };
  const turn = (event: KeyboardEvent) => {
    const siblings = focused === middle ? [middle] : focused.parent!.children.filter((child) => child.value > 0);
    const place = siblings.indexOf(focused);
    const next: Record<string, () => void> = {
      ArrowRight: () => focus(siblings[(place + 1) % siblings.length]),
      ArrowLeft: () => focus(siblings[(place - 1 + siblings.length) % siblings.length]),
      ArrowDown: () => focus(focused.children.find((child) => child.value > 0)),
      ArrowUp: () => focused !== middle && focus(focused.parent),
      Enter: () => (focused.children.length && focused !== middle ? (zoom(focused), focus(focused)) : undefined),
      " ": () => next.Enter(),
      Escape: () => middle.parent && (zoom(middle.parent), focus(middle)),
    };
    if (!next[event.key]) return;
    event.preventDefault();
    next[event.key]();
  };
  const shapeProps = (node: Node) => ({
    role: "button" as const, tabIndex: node === focused ? 0 : -1, "aria-label": `${pathOf(node)}: ${node.description}`,
    onMouseEnter: () => setHovered(node), onMouseLeave: () => setHovered(null), onFocus: () => setAt(node.key),
  });
  return (
    <figure class="sunburst">
      <svg ref={host} viewBox={`${-radius - 2} ${-radius - 2} ${2 * radius + 4} ${2 * radius + 4}`} role="group"
        aria-label={`Rings from ${middle.name} to counters; arrow keys move, Enter zooms in, Escape out`} onKeyDown={turn}>
        {arcs.map((arc) => (
          <path key={arc.node.key} {...shapeProps(arc.node)} class={arc.node.children.length ? "arc deep" : "arc"} d={outline(arc, hole + arc.ring * step + 1, hole + (arc.ring + 1) * step)}
            fill={colorOf(arc.node)} fill-opacity={arc.node.depth === 3 ? 0.55 : 1}
            onClick={() => arc.node.children.length && (zoom(arc.node), setAt(arc.node.key))} />
        ))}
        {arcs.filter((arc) => (arc.to - arc.from) * (hole + (arc.ring + 0.5) * step) > 46).map((arc) => {
          const [x, y] = point((arc.from + arc.to) / 2, hole + (arc.ring + 0.5) * step).split(" ");
          const letters = Math.floor(step / 6.2);
          const name = arc.node.depth === 3 ? arc.node.name.replace(/^.*?:(?=\d+ )/, "") : arc.node.name; // the line goes before the file
          return <text key={arc.node.key} x={x} y={y} aria-hidden="true">{name.length > letters ? `${name.slice(0, letters - 1)}…` : name}</text>;
        })}
        <circle r={hole - 2} class="middle" {...shapeProps(middle)} onClick={() => middle.parent && (zoom(middle.parent), setAt(middle.parent.key))} />
        <text aria-hidden="true">{middle === root ? "all" : "back"}</text>
      </svg>
      <figcaption aria-live="polite"><b>{pathOf(described)}</b> <span>{described.description}</span></figcaption>
    </figure>
  );
}
