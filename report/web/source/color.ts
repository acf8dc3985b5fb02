// Colour scales that colour-blind readers can read: viridis for intensities, Okabe and Ito's palette for kinds.

/** matplotlib's viridis at every eighth. */
const viridisSteps = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37],
];

/** Returns the colour at `position` in [0, 1] as red, green, blue of 255. */
export function viridis(position: number): [number, number, number] {
  const scaled = Math.min(1, Math.max(0, position)) * (viridisSteps.length - 1);
  const index = Math.min(viridisSteps.length - 2, Math.floor(scaled));
  const [from, to] = [viridisSteps[index], viridisSteps[index + 1]];
  const mixed = from.map((value, channel) => Math.round(value + (to[channel] - value) * (scaled - index)));
  return mixed as [number, number, number];
}

export const rgb = (color: [number, number, number]) => `rgb(${color.join(",")})`;

/** Okabe and Ito 2008, darkened or lightened to stand out from the ground. */
const categories = {
  light: ["#0072b2", "#d55e00", "#007a59", "#b0508a", "#7a5c00", "#3a8fc4"],
  dark: ["#56b4e9", "#f0883e", "#2fcf9a", "#e39ac4", "#e6c229", "#9fb4ff"],
};

export const category = (theme: keyof typeof categories, index: number) => categories[theme][index % categories[theme].length];

export const levelColors = { l1: "#56b4e9", l2: "#0072b2", dram: "#d55e00", shared: "#009e73", constant: "#cc79a7" } as const;
