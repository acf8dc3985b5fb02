// Results made by a formula, valid by the contract, of any size, the same for the same seed.
let bins = 256;
const meanCycles = 173_400;

/** Numbers in [0, 1), the same each time (mulberry32). */
export function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function statistic(mean, std, trials, random) {
  const low = mean - 3 * std, high = mean + 3 * std || 1;
  const counts = new Array(16).fill(0);
  for (let trial = 0; trial < trials; ++trial) ++counts[Math.min(15, Math.floor((16 * (random() + random() + random())) / 3))];
  const half = (2 * std) / Math.sqrt(trials);
  return {
    mean, std, ci95: [mean - half, mean + half], spread95: [mean - 2 * std, mean + 2 * std],
    histogram: { edges: Array.from({ length: 17 }, (_, index) => low + ((high - low) * index) / 16), counts },
  };
}

const values = (length, of) => Array.from({ length }, (_, index) => of(index));

/** Hits out of lookups, with congestion that varies over time. */
function lookups(random, all, rate) {
  const alls = values(bins, () => Math.round(all * (0.7 + 0.6 * random())));
  return { all: alls, hits: alls.map((count, bin) => Math.round(count * Math.min(1, Math.max(0, rate(bin) + 0.1 * (random() - 0.5))))) };
}

function dramUses(random) {
  const reads = values(bins, () => Math.round(200 * random())), writes = values(bins, () => Math.round(100 * random()));
  return { requests: reads.map((count, bin) => count + writes[bin]), reads, writes, activations: reads.map((count) => Math.round(count / 4)) };
}

function timeline(random, sites, { sms = 16, slices = 8, channels = 8 } = {}) {
  const wave = (bin, shift) => 0.5 + 0.4 * Math.sin((bin + shift) / 21);
  const lanes = values(8, (row) => values(bins, (bin) => Math.round((row === 7 ? 3000 : 120 * row * wave(bin, 60)) * (0.8 + 0.4 * random()))));
  const lines = [...new Map(sites.map((site) => [`${site.file}:${site.line}`, site])).values()].slice(0, 60);
  return {
    trial: 0, requests: 1_000_000, cycles: meanCycles, ns_per_cycle: 123.4e3 / meanCycles,
    edges: values(bins + 1, (bin) => Math.round((meanCycles * bin) / bins)),
    l1: lookups(random, 40000, (bin) => wave(bin, 0)), l2: lookups(random, 20000, (bin) => wave(bin, 20)),
    outstanding: values(bins, (bin) => 900 * (1 - wave(bin, 0)) + 60 * random()),
    instructions: values(bins, (bin) => Math.round(90000 * wave(bin, 0))),
    active_lanes: lanes,
    lines: lines.map(({ file, line }, index) => ({ file, line, counts: values(bins, (bin) => Math.max(0, Math.round(900 * Math.sin((bin + 40 * index) / 30) * random()))) })),
    sms: values(sms, (sm) => {
      const { hits, all } = lookups(random, 2500, (bin) => wave(bin, 7 * sm));
      return { l1_hits: hits, l1_all: all, requests: values(bins, () => Math.round(230 + 40 * random())), instructions: values(bins, (bin) => Math.round((90000 / sms) * wave(bin, 0))) };
    }),
    slices: values(slices, (slice) => lookups(random, 2500, (bin) => wave(bin, 20 + 3 * slice))),
    channels: values(channels, (channel) => ({
      ...dramUses(random),
      outstanding: values(bins, (bin) => (channel === 3 && bin > 90 && bin < 130 ? 380 : 60) * (0.6 + 0.5 * random())),
    })),
  };
}

function site(random, file, line, text, column, expression, index, trials) {
  const l1 = random(), l2 = random(), executions = 1000 + Math.floor(60000 * random());
  const latency = 40 + 600 * (1 - l1) * (1 - 0.5 * l2);
  return {
    id: (0x1000000 + index).toString(16).padStart(16, "0"), file, line, column, expression, kind: index % 4 === 3 ? "store" : "load",
    space: "global", element_bytes: 4, object: ["a", "b", "c"][index % 3], ...(index % 11 === 5 ? { macro: "LOAD" } : {}), ...(index % 7 === 6 ? { template: true } : {}),
    executions, active_lanes: 8 + 24 * random(), sectors_per_request: 4 + 20 * random(), bytes_used: executions * 128, bytes_moved: executions * 32 * 12,
    l1_hit_rate: statistic(l1, 0.01, trials, random), l2_hit_rate: statistic(l2, 0.02, trials, random), latency_ns: statistic(latency, 4, trials, random),
    latency_parts: { l1_ns: 0.2 * latency, l2_ns: 0.3 * latency, dram_ns: 0.5 * latency }, latency_share: 0,
  };
}

/** Returns a page's data with this many files, lines in all and sites in all. */
export function madeData({ files = 1, lines = 200, sites = 24, kernels = 1, gpus = ["a100"], seed = 1, trials = 64, units = {}, timelineBins = 256, clock = false, code = false } = {}) {
  bins = timelineBins;
  const random = numbers(seed);
  const perFile = Math.ceil(lines / files), sitesPerFile = Math.ceil(sites / files);
  const sources = [], places = [];
  for (let file = 0; file < files; ++file) {
    const name = `src/kernel_${file}.cu`;
    const text = ["// Made for a test.", "__global__ void kernel(const float* a, float* b, float* c, unsigned n) {"];
    const every = Math.max(2, Math.floor((perFile - 3) / sitesPerFile));
    for (let line = 3; line < perFile; ++line) {
      const withSite = line % every === 0 && places.length < (file + 1) * sitesPerFile;
      if (!withSite) text.push(line % 5 ? `  const unsigned index${line} = blockIdx.x * blockDim.x + threadIdx.x + ${line}u; // the element` : "");
      else {
        text.push(`  b[${line}] = 2.0f * a[index${line - 1} + ${line}];`);
        places.push([name, line, text.at(-1), text.at(-1).indexOf("a[") + 1, `a[index${line - 1} + ${line}]`]);
      }
    }
    sources.push({ file: name, text: `${text.join("\n")}\n}\n` });
  }
  const list = [];
  for (let kernel = 0; kernel < kernels; ++kernel)
    for (const gpu of gpus) {
      const all = places.map((place, index) => site(random, ...place, index, trials));
      const sum = all.reduce((total, one) => total + one.executions * one.latency_ns.mean, 0);
      for (const one of all) one.latency_share = (one.executions * one.latency_ns.mean) / sum;
      if (clock) addSiteTimes(random, all, trials);
      const made = madeKernel(random, `kernel_${kernel}`, gpu, all, trials);
      if (clock) addTimes(random, made, trials, units);
      if (code) made.code = madeCode(made.sites, clock);
      list.push(made);
    }
  const verdicts = list.flatMap((kernel, index) => kernel.sites.map(({ file, line }) => ({ file, line, kernel: index, text: "uncoalesced: 12.0 sectors per request where 4.00 would do" })));
  const result = { schema: "warplens-result/1", program: "./made", seed, coverage: { executed_accesses_probed: 1 }, kernels: list };
  return { version: "0.1.0", results: [{ label: "made.json", result, names: list.map((kernel) => kernel.name), verdicts }], sources };
}

/** Gives each site a share of the time that has another order than the shares of the latency. */
function addSiteTimes(random, sites, trials) {
  const all = (sites.length * (sites.length + 1)) / 2;
  sites.forEach((one, index) => {
    const share = (index + 1) / all;
    one.time = {
      waited_cycles: statistic(one.kind === "store" ? 0 : 20 * (index + 1), 1, trials, random), share: statistic(share, 0.01 * share, trials, random),
      occupied: { issue: 1 / sites.length, l2_slices: share, dram: share },
    };
  });
}

/**
 * Returns machine code of two instructions per site: the access, and its use, which waits for it. Before them is one of no line. The
 * kernel's last site has the largest share of the time.
 */
function madeCode(sites, clock) {
  const files = [...new Set(sites.map(({ file }) => file))];
  const all = (sites.length * (sites.length + 1)) / 2;
  const instructions = [{ offset: 0, sass: "MOV R1, c[0x0][0x28]", executions: 16, active_lanes: 32, ...(clock ? { states: {}, awaited: 0 } : {}) }];
  sites.forEach(({ id, file, line, executions, active_lanes, sectors_per_request }, index) => {
    const at = { file: files.indexOf(file), line, executions };
    const share = (index + 1) / all;
    const time = (long_scoreboard) => (clock ? { states: { selected: 0.1 * share, long_scoreboard }, awaited: 0 } : {});
    instructions.push({ offset: 16 + 32 * index, sass: `LDG.E R${index}, [R2.64+${index}]`, ...at, active_lanes, requests: executions,
      sectors: executions * sectors_per_request, passes: executions, site: id, ...time(0) });
    instructions.push({ offset: 32 + 32 * index, sass: `FADD R4, R4, R${index}`, ...at, ...time(0.8 * share) });
  });
  return { functions: ["kernel"], files, instructions };
}

/** Gives the kernel what only trials on a clock have. */
function addTimes(random, kernel, trials, units) {
  kernel.time = {
    cycles: statistic(meanCycles, 2500, trials, random), microseconds: { ...statistic(123.4, 2, trials, random), std_of_machine: 1.6 }, extrapolated: true,
    busy: { issue: 0.12, memory_pipeline: 0.29, l2_port: 0.44, l2_slices: 0.61, dram: 0.84 }, bound: "dram",
  };
  kernel.trial_values.cycles = around(random, trials, meanCycles, 2500);
  kernel.timeline = timeline(random, kernel.sites, units);
}

const around = (random, trials, mean, std) => values(trials, () => mean + std * (random() + random() + random() - 1.5) * 2);

const madeAccuracy = {
  gpu: "v100", launches: 20, kernels: 18, time: { mean_error: 0.14, worst_error: 0.41 }, l1_read_hit_rate: { mean_error: 0.021, worst_error: 0.06 },
  without: ["textures", "tensor cores"], date: "2026-11-24",
};

function madeKernel(random, name, gpu, sites, trials) {
  const of = (mean, std) => around(random, trials, mean, std);
  return {
    name, gpu, accuracy: madeAccuracy, grid: [512, 1, 1], block: [256, 1, 1], launches: 1,
    occupancy: { blocks_per_sm: 8, warps_per_sm: 64, limited_by: "warps" },
    snapshot: { blocks: 512, warp_accesses: 1000000, transactions: 9000000, complete: true, limit: "all of the grid" },
    l2_start: { warm: true, bytes: 4200000, why: "left by 3 copies and fills" },
    trials: { run: trials, converged: true, stopped_by: "confidence" },
    totals: {
      l1_read_hit_rate: statistic(0.43, 0.01, trials, random), l2_read_hit_rate: statistic(0.61, 0.02, trials, random),
      l2_write_hit_rate: statistic(0.2, 0.004, trials, random), dram_latency_ns: statistic(480, 6, trials, random),
      dram_read_bytes: 1e9, dram_write_bytes: 2e8, cold_miss_share: 0.12,
    },
    trial_values: { l1_read_hit_rate: of(0.43, 0.01), l2_read_hit_rate: of(0.61, 0.02), l2_write_hit_rate: of(0.2, 0.004), dram_latency_ns: of(480, 6) },
    sites,
    objects: ["a", "b", "c"].map((object, index) => ({
      name: object, requests: 400000, footprint_bytes: 4e6 * (index + 1), bytes_used: 5e7, bytes_moved: 5e7 * (1 + 3 * index),
      reuse_distance: { edges: [0, ...values(20, (power) => 2 ** power)], counts: values(20, (power) => Math.round(20000 * Math.exp(-((power - 5 - 4 * index) ** 2) / 9))), cold: 31250 * (index + 1) },
    })),
  };
}

const resultNames = { microseconds: "high", time_share: "high", waited_cycles: "high", latency_share: "high", latency_ns: "high", l1_hit_rate: "low", l2_hit_rate: "low", sectors_per_request: "high", executions: "neither" };

/** A figure's change in the format of `warplens report`. */
export function madeChange(figure, before, after, interval95 = 0) {
  const difference = after - before, beyond = Math.abs(difference) > interval95;
  const worse = resultNames[figure] ?? "neither";
  const effect = !beyond || worse === "neither" ? {} : { effect: (difference > 0) === (worse === "high") ? "worse" : "better" };
  return { figure, before, after, difference, interval95, beyond_interval: beyond, per_launch: false, ...effect };
}

/** Two results of the same kernels, whose sites correspond by their place in the list; those after the first `paired` do not. */
export function madeComparison(before, after, paired = Infinity) {
  const mean = (value) => (typeof value === "object" ? value.mean : value);
  const half = (value) => (typeof value === "object" ? (value.ci95[1] - value.ci95[0]) / 2 : 0);
  const [old, now] = [before.results[0].result.kernels, after.results[0].result.kernels];
  const kernels = old.map((kernel, index) => {
    const count = Math.min(kernel.sites.length, now[index].sites.length, paired);
    const sites = values(count, (site) => ({
      before: site, after: site,
      figures: Object.keys(resultNames).filter((name) => kernel.sites[site][name] !== undefined && now[index].sites[site][name] !== undefined).map((name) => {
        const [was, is] = [kernel.sites[site][name], now[index].sites[site][name]];
        return madeChange(name, mean(was), mean(is), Math.hypot(half(was), half(is)));
      }),
    }));
    return {
      before: index, after: index, launch_scale: { before: 1, after: 1 }, totals: [], sites, lines: [],
      objects: (kernel.objects ?? []).map((_, object) => ({ before: object, after: object })),
      gone: values(kernel.sites.length - count, (site) => count + site),
    };
  });
  return { ...after, results: [{ ...before.results[0], label: "before.json" }, { ...after.results[0], label: "after.json" }], comparison: { kernels } };
}
